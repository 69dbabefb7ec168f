// Package baseurl checks the address of the service.
package baseurl

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Check returns a base URL with its scheme and host in lower case, and without a trailing slash.
func Check(s string, insecure bool) (string, error) {
	switch {
	case s == "":
		return "", errors.New("fiscope: the base URL is empty: want the form https://host[:port][/path]")
	case s != strings.TrimSpace(s):
		return "", errors.New("fiscope: the base URL has a blank before or after it: want the form https://host[:port][/path]")
	case !strings.Contains(s, "://"):
		return "", errors.New("fiscope: the base URL has no https:// at its beginning: want the form https://host[:port][/path]")
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", errors.New("fiscope: the base URL cannot be parsed: want the form https://host[:port][/path]")
	}
	switch {
	case u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		return "", errors.New("fiscope: the base URL has no host: want the form https://host[:port][/path]")
	case u.User != nil:
		return "", errors.New("fiscope: the base URL carries a user: credentials do not belong into a URL")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#"):
		return "", errors.New("fiscope: the base URL carries a query or a fragment: want the form https://host[:port][/path]")
	case u.Scheme == "http" && !insecure && !loopback(strings.ToLower(u.Hostname())):
		return "", fmt.Errorf("fiscope: the base URL http://%s would send the API key and the clave in clear: use https, or http://localhost for this machine, or WithInsecureHTTP in a private network", u.Host)
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("fiscope: the base URL has the scheme %q: want https", u.Scheme)
	}
	if err := checkHostAndPath(u); err != nil {
		return "", err
	}
	s = u.Scheme + strings.Replace(s[len(u.Scheme):], u.Host, strings.ToLower(u.Host), 1)
	return strings.TrimRight(s, "/"), nil
}

// loopback reports whether host is this machine, in a spelling for which net/http ignores the proxies of the
// environment. Names under localhost, localhost with a final dot, and 127.1 do not count
// (golang.org/x/net/http/httpproxy).
func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// checkHostAndPath refuses typical mistakes of copying or assembling a URL. net/url accepts them, but each call would
// fail later, or go to another path.
func checkHostAndPath(u *url.URL) error {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	switch {
	case strings.ContainsFunc(u.Host+u.Path, misplaced):
		return errors.New("fiscope: the base URL holds a blank, a backslash or a character that does not show or has no place there: want the form https://host[:port][/path]")
	case strings.HasSuffix(u.Host, ":"), u.Port() != "" && (err != nil || port == 0):
		return errors.New("fiscope: the base URL has an invalid port: want 1 to 65535")
	case !isHost(u.Hostname()):
		return errors.New("fiscope: the base URL has a host that is neither a name nor an address")
	case strings.Contains(strings.TrimRight(u.Path, "/"), "//"):
		return errors.New("fiscope: the base URL has an empty part in its path: write one slash between two parts")
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(part string) bool { return part == "." || part == ".." }):
		return errors.New("fiscope: the base URL has . or .. in its path: write the path that is meant")
	}
	return nil
}

// misplaced reports whether a character, even an escaped one, has no place in a base URL.
func misplaced(r rune) bool {
	return strings.ContainsRune(` \<>"{}|^`+"`", r) || r == utf8.RuneError || !unicode.IsPrint(r)
}

// isHost reports whether s is an IP address, or names separated by dots, of at most 63 bytes each (RFC 1035, 2.3.4), the
// last of them not a number. They need not be ASCII: net/http converts them.
func isHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	names := strings.Split(strings.TrimSuffix(s, "."), ".")
	return strings.Trim(names[len(names)-1], "0123456789") != "" && !slices.ContainsFunc(names, func(name string) bool {
		return name == "" || len(name) > 63 || strings.ContainsFunc(name, func(r rune) bool {
			return !unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) && r != '-' && r != '_'
		})
	})
}
