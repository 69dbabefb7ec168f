package padron

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/charset"
)

// ascii reports whether a text is all ASCII.
func ascii(text []byte) bool {
	for len(text) >= 8 {
		if binary.LittleEndian.Uint64(text)&0x8080808080808080 != 0 {
			return false
		}
		text = text[8:]
	}
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendWindows1252 appends a text in Windows-1252 as UTF-8: at most three bytes for each of its own.
func appendWindows1252(dst, text []byte) []byte {
	for _, c := range text {
		if c < utf8.RuneSelf {
			dst = append(dst, c)
		} else {
			dst = utf8.AppendRune(dst, charset.Windows1252(c))
		}
	}
	return dst
}

// onlyUTF8 reports whether all of in is UTF-8. It stops at the first invalid byte. read gets the number of bytes read.
func onlyUTF8(ctx context.Context, in io.Reader, read func(bytes int)) (bool, error) {
	var cut []byte // the beginning of a character that goes on in the next chunk
	err := readAhead(in, func(chunk []byte) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		defer read(len(chunk))
		for len(cut) > 0 && !utf8.FullRune(cut) && len(chunk) > 0 {
			cut, chunk = append(cut, chunk[0]), chunk[1:]
		}
		if utf8.FullRune(cut) {
			if !utf8.Valid(cut) {
				return errNotUTF8
			}
			cut = cut[:0]
		}
		whole := len(chunk) - cutRune(chunk)
		if !utf8.Valid(chunk[:whole]) {
			return errNotUTF8
		}
		cut = append(cut, chunk[whole:]...)
		return nil
	})
	if errors.Is(err, errNotUTF8) {
		return false, nil
	}
	return err == nil && len(cut) == 0, err
}

var errNotUTF8 = errors.New("not UTF-8")

// cutRune returns the length of the incomplete character at the end of text; 0 if there is none.
func cutRune(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return n
		}
	}
	return 0
}
