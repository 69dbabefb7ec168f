package terminal

import (
	"io"
	"os"
	"runtime"
	"strings"
	"unicode"
)

// UsualColumns is the width of a usual terminal.
const UsualColumns = 80

// Colours of a terminal.
const (
	Red    = "31"
	Green  = "32"
	Yellow = "33"
)

// Colour returns text in a colour of a terminal.
func Colour(code, text string) string { return "\x1b[" + code + "m" + text + "\x1b[0m" }

// Colours reports whether w is a terminal that shows colours, and whether the user wants them.
func Colours(w io.Writer) bool {
	old := runtime.GOOS == "windows" && os.Getenv("WT_SESSION") == ""
	return Is(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && !old
}

// Is reports whether w is a terminal, at which somebody sits.
func Is(w any) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	null, _ := os.Stat(os.DevNull)
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && !os.SameFile(info, null)
}

// Printable keeps a path or a name from writing control characters on a terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
