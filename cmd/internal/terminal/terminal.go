package terminal

import (
	"io"
	"os"
	"runtime"
	"strings"
	"unicode"
)

// UsualColumns is the usual width of a terminal.
const UsualColumns = 80

// Terminal colours.
const (
	Red    = "31"
	Green  = "32"
	Yellow = "33"
)

// Colour returns text in a terminal colour.
func Colour(code, text string) string { return "\x1b[" + code + "m" + text + "\x1b[0m" }

// Colours reports whether w is a terminal with colours, and the user wants them.
func Colours(w io.Writer) bool {
	old := runtime.GOOS == "windows" && os.Getenv("WT_SESSION") == ""
	return Is(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && !old
}

// Is reports whether w is a terminal.
func Is(w any) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	null, _ := os.Stat(os.DevNull)
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && !os.SameFile(info, null)
}

// Printable removes control characters from a path or a name.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
