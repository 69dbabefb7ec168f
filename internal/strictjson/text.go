package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sort"
	"unicode/utf8"
)

// Check returns why a text is not one JSON value.
func Check(text []byte) error {
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return failed(0, "empieza con el BOM de UTF-16, y JSON debe ser UTF-8: guárdelo en UTF-8")
	}
	if at := invalidUTF8(text); at >= 0 {
		return failed(at, "no es UTF-8, como debe ser JSON: guárdelo en UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	switch err := d.Decode(new(json.RawMessage)); {
	case unfinished(err):
		return failed(len(bytes.TrimRight(text, " \t\r\n")), "el texto termina antes de tiempo: falta cerrar una llave, un corchete o una comilla")
	case err != nil:
		n := sort.Search(len(text), func(n int) bool { // the shortest beginning that nothing can continue
			err := json.NewDecoder(bytes.NewReader(text[:n])).Decode(new(json.RawMessage))
			return err != nil && !unfinished(err)
		})
		return failed(n-1, "no es JSON: hay una coma, una comilla o una llave que no corresponde (byte %d)", n)
	}
	if end := int(d.InputOffset()); len(bytes.TrimSpace(text[end:])) > 0 {
		return failed(end+len(text[end:])-len(bytes.TrimLeft(text[end:], " \t\r\n")), "hay más texto después del valor")
	}
	return nil
}

func unfinished(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// Line returns the line of an offset in a text, from 1 on.
func Line(text []byte, at int) int {
	text = bytes.TrimPrefix(text, bom)
	return 1 + bytes.Count(text[:min(at, len(text))], []byte("\n"))
}

var bom = []byte("\ufeff") // some editors begin a text with it: it is ignored

// Item returns where an item begins in a list that is a member of an object. If item is below 0, it returns where the
// member's value begins.
func Item(text []byte, member string, item int) int {
	text = bytes.TrimPrefix(text, bom)
	w, skip := &walker{json.NewDecoder(bytes.NewReader(text)), text}, json.RawMessage(nil)
	for _, _ = w.Token(); w.More(); _ = w.Decode(&skip) {
		if name, _ := w.Token(); name != member {
			continue
		}
		if item >= 0 {
			_, _ = w.Token()
		}
		for ; item > 0; item-- {
			_ = w.Decode(&skip)
		}
		return w.at()
	}
	return 0
}

// invalidUTF8 returns the offset of the first invalid byte, or -1.
func invalidUTF8(text []byte) int {
	for i, r := range string(text) {
		if r == utf8.RuneError && !bytes.HasPrefix(text[i:], []byte("\ufffd")) {
			return i
		}
	}
	return -1
}
