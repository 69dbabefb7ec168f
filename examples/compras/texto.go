package main

import (
	"bytes"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// windows1252 are the characters of the bytes 0x80 to 0x9F; those of the others have their byte's number. Five
// bytes have no character.
var windows1252 = []rune("€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ")

// decodificar returns the text of a file. One that is not UTF-8 from its beginning to its end is Windows-1252,
// in which spreadsheets in Peru write.
func decodificar(datos []byte) (string, error) {
	if bytes.HasPrefix(datos, []byte("\xff\xfe")) || bytes.HasPrefix(datos, []byte("\xfe\xff")) {
		return "", errors.New("el archivo está en UTF-16: guárdelo como «CSV UTF-8»")
	}
	datos = bytes.TrimPrefix(datos, []byte("\xef\xbb\xbf"))
	datos = bytes.TrimRight(datos, "\x1a") // the end of a file, for a program of DOS
	if utf8.Valid(datos) {
		return string(datos), nil
	}
	var texto strings.Builder
	for _, b := range datos {
		if r := rune(b); r >= 0x80 && r < 0xa0 {
			texto.WriteRune(windows1252[r-0x80])
		} else {
			texto.WriteRune(r)
		}
	}
	return texto.String(), nil
}

// extraño reports whether a character does not show: a control, a mark of no width, one that the encoding does
// not have. It may stand where a digit was.
func extraño(r rune) bool {
	return r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r)
}

// limpiar returns a text for people, without what a terminal would obey.
func limpiar(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// plano is a text in small letters and digits, without accents or anything else: "Serie-Número" and
// "SERIE NUMERO" are the same title.
func plano(s string) string {
	return strings.Map(func(r rune) rune {
		r = unicode.ToLower(r)
		if i := strings.IndexRune("áéíóúüñ", r); i >= 0 {
			return []rune("aeiouun")[utf8.RuneCountInString("áéíóúüñ"[:i])]
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// recortar returns at most ancho runes of a text.
func recortar(s string, ancho int) string {
	if runas := []rune(s); len(runas) > ancho {
		return string(runas[:ancho-1]) + "…"
	}
	return s
}
