package charset_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/charset"
)

func TestUTF8(t *testing.T) {
	for in, out := range map[string]string{
		"\uFEFFaño":                     "año",
		"PEÑA y COMPA\xd1IA":            "PEÑA y COMPAÑIA", // only the invalid byte is of Windows-1252
		"\uFFFD\x80 \x96 \x81 \xf3\xa0": "\uFFFD€ – \uFFFD ó\u00a0",
		"cut inside an \xc3":            "cut inside an Ã",
		"":                              "",
	} {
		assert.Equal(t, out, string(charset.UTF8([]byte(in))))
	}
}
