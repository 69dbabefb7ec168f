package padron

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
)

func TestHeader(t *testing.T) {
	plain := withoutAccents.Replace(header)
	utf16le := "\xff\xfe"
	for _, c := range utf16.Encode([]rune(header)) {
		utf16le += string([]byte{byte(c), byte(c >> 8)})
	}
	for name, test := range map[string]struct {
		text, want string
	}{
		"Windows-1252":       {windows1252(header) + "\r\n20000000001|A|", ""},
		"UTF-8":              {header + "\n", ""},
		"with a mark":        {"\uFEFF" + header + "\n", ""},
		"without accents":    {plain + "\n", ""},
		"no end of the last": {strings.TrimSuffix(plain, "|") + "\n", ""},
		"no line after it":   {plain, ""},
		"blanks":             {strings.ReplaceAll(header, "|", " | ") + "\n", ""},

		"HTML":            {"\n\n <!DOCTYPE html><html>", "web page"},
		"HTML and a mark": {"\uFEFF<html>", "web page"},
		"XML":             {"<?xml", "web page"},
		"gzip":            {"\x1f\x8b\x08\x00", "unpack"},
		"zip":             {"PK\x03\x04\x14", "unpack the outer one"},
		"zstd":            {"\x28\xb5\x2f\xfd", "unpack"},
		"UTF-16":          {utf16le, "UTF-16"},
		"blank":           {" \r\n\n", "blank"},
		"a row":           {"20131312955|SUPERINTENDENCIA|ACTIVO|", "its first line is a row"},
		"another":         {"RUC;NOMBRE;ESTADO\n", `column 1 is "RUC;NOMBRE;ESTADO", and not "RUC": give SUNAT's padron_reducido_ruc.zip, or its text`},
		"another column":  {strings.Replace(header, "UBIGEO", "TELEFONO", 1), `column 5 is "TELEFONO", and not "UBIGEO"`},
		"lost accents":    {strings.ReplaceAll(header, "Ó", "\uFFFD"), "column 2"},
		"cut":             {strings.TrimSuffix(header, "KILÓMETRO|"), "column 15, KILÓMETRO, is missing"},
		"one more":        {header + "CORREO|", "it has 16 columns, and not 15"},
		"lines end by CR": {header + "\r20000000001|A|-|", "its lines end by CR alone: give it as it is downloaded"},
		"a long first":    {strings.Repeat("Z", 9000), "column 1 is \"" + strings.Repeat("Z", 40) + "…\""},
		"JSON":            {`{"error":"20131312955 no"}`, `{\"error\":\"20…955 no\"}`},
		"binary":          {"\x00\x01\x02\n", `column 1 is "\x00\x01\x02"`},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkHeader([]byte(test.text))
			if test.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, test.want)
				assert.NotContains(t, err.Error(), "20131312955")
			}
		})
	}
}
