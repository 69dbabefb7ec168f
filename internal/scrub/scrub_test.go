package scrub_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/scrub"
)

const secret = "Clave-Falsa_12"

var secrets = scrub.Secrets{}.With("").With("llave 7f3a").With("-?-?").With(secret)

func TestSentence(t *testing.T) {
	for name, test := range map[string]struct{ text, shown string }{ // "" for not shown
		"every character":         {`¿Qué? ¡Ya! El "a", 'b', «c», “d”; e/f: (g) - h_i. Ñandú, дом 3`, `¿Qué? ¡Ya! El "a", 'b', «c», “d”; e/f: (g) - h_i. Ñandú, дом 3`},
		"an accent of its own":    {"pin\u0303a", ""},
		"several lines":           {" uno\r\n\tdos \u00a0 tres ", "uno dos tres"},
		"nothing":                 {" \n", ""},
		"the longest":             {strings.Repeat("ñ", 200), strings.Repeat("ñ", 200)},
		"a longer one":            {strings.Repeat("ñ", 201), ""},
		"a token":                 {"sesión abcdefghijk1 terminada", ""},
		"a token with a _":        {"sesión ____________1", ""},
		"a shorter one":           {"sesión abcdefghij1 terminada", "sesión abcdefghij1 terminada"},
		"a long word":             {"otorrinolaringología", "otorrinolaringología"},
		"words with a dash":       {"sesión-abc-2026-1 terminada", "sesión-abc-2026-1 terminada"},
		"a number":                {"faltan 1234567", "faltan 1234567"},
		"a DNI":                   {"el DNI 12345678.", "el DNI 12…."},
		"a RUC":                   {"el RUC 20131312955", "el RUC 20…955"},
		"a long number":           {"la cuenta 123456789012", "la cuenta 12…"},
		"the secret":              {"la clave Clave-Falsa_12 no vale", ""},
		"in capitals":             {"CLAVE-FALSA_12", ""},
		"spelt with blanks":       {"C l a v e F a l s a 1 2", ""},
		"spelt with other signs":  {"cla.ve: (falsa), 12", ""},
		"the other secret":        {"LLAVE-7F3A", ""},
		"a secret of signs":       {"dice -?-? aquí", ""},
		"a part of it":            {"la clave falsa 13", "la clave falsa 13"},
		"bytes that are no text":  {"\xff", ""},
		"a character of nowhere":  {"uno\u200bdos", ""},
		"the other way round":     {"uno\u202edos", ""},
		"a control":               {"uno\x1b[31m", ""},
		"an ellipsis of a cut":    {"uno…", ""},
		"quotes of another kind":  {"‘uno’", ""},
		"digits of other scripts": {"٣٣٣٣٣٣٣٣", "٣…"},
	} {
		t.Run(name, func(t *testing.T) {
			shown, ok := secrets.Sentence(test.text)
			assert.Equal(t, test.shown, shown)
			assert.Equal(t, test.shown != "", ok)
		})
	}
	for _, sign := range "%&<>{}[]=+*#@\\|`~^$" { // of encodings and of code
		_, ok := secrets.Sentence("dice " + string(sign))
		assert.False(t, ok, "%q", sign)
	}
}

func TestLine(t *testing.T) {
	for text, line := range map[string]string{
		"dial tcp:\n\tconnection refused":  "dial tcp: connection refused",
		"uno\x00\u200b\u202edos":           "unodos",
		"el RUC 20131312955 y 1234567890":  "el RUC 20…955 y 1234567890",
		"dice clave falsa 12.":             "(not shown: it repeats a credential)",
		strings.Repeat("ñ", 301):           strings.Repeat("ñ", 300) + "…",
		strings.Repeat("x ", 290) + secret: "(not shown: it repeats a credential)",
	} {
		assert.Equal(t, line, secrets.Line(text))
	}
}

func TestVerbatim(t *testing.T) {
	assert.True(t, secrets.Verbatim([]byte(`{"x":"`+secret+`"}`)))
	assert.False(t, secrets.Verbatim([]byte(strings.ToUpper(secret))))
	assert.False(t, scrub.Secrets{}.With("").Verbatim([]byte("x")), "an empty secret is ignored")
}

func TestWithKeepsTheOriginal(t *testing.T) {
	one, two := secrets.With("uno uno"), secrets.With("dos dos")
	assert.True(t, one.Verbatim([]byte("uno uno")) && one.Verbatim([]byte(secret)))
	assert.False(t, one.Verbatim([]byte("dos dos")) || two.Verbatim([]byte("uno uno")))
}

func TestAbridgeRUC(t *testing.T) {
	assert.Equal(t, "20…955", scrub.AbridgeRUC("20131312955"))
	assert.Equal(t, "…", scrub.AbridgeRUC("2013131295"), "what is no RUC may be anything")
	assert.Equal(t, "20…955 y 12345678, 12…", scrub.AbridgeRUCs("20131312955 y 12345678, 123456789012"))
}
