package fiscope

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkHostAndPath refuses what a base URL can hold after it was copied or put together wrongly. net/url
// parses it, and each call would fail later, or go to another path. s is the text of u.
func checkHostAndPath(s string, u *url.URL) error {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	switch {
	case strings.Contains(s, "#"):
		return errors.New("fiscope: the base URL carries a query or a fragment: want the form https://host[:port][/path]")
	case strings.ContainsFunc(u.Host+u.Path, misplaced):
		return errors.New("fiscope: the base URL holds a blank, a backslash or a character that does not show or has no place there: want the form https://host[:port][/path]")
	case strings.HasSuffix(u.Host, ":"), u.Port() != "" && (err != nil || port == 0):
		return errors.New("fiscope: the base URL has a port that is none: want 1 to 65535")
	case !isHost(u.Hostname()):
		return errors.New("fiscope: the base URL has a host that is neither a name nor an address")
	case strings.Contains(strings.TrimRight(u.Path, "/"), "//"):
		return errors.New("fiscope: the base URL has an empty part in its path: write one slash between two parts")
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(part string) bool { return part == "." || part == ".." }):
		return errors.New("fiscope: the base URL has . or .. in its path: write the path that is meant")
	}
	return nil
}

// misplaced reports whether a character, also an escaped one, has no place in a base URL.
func misplaced(r rune) bool {
	return strings.ContainsRune(` \<>"{}|^`+"`", r) || r == utf8.RuneError || !unicode.IsPrint(r)
}

// isHost reports whether s is an IP address, or names parted by dots, of which the last is no number. They need
// not be ASCII: net/http writes them so.
func isHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	names := strings.Split(strings.TrimSuffix(s, "."), ".")
	return !digits(names[len(names)-1]) && !slices.ContainsFunc(names, func(name string) bool {
		return name == "" || len(name) > longestLabel || strings.ContainsFunc(name, func(r rune) bool {
			return !unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) && r != '-' && r != '_'
		})
	})
}

// The longest name between two dots (RFC 1035, 2.3.4).
const longestLabel = 63
