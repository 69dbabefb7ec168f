package scrub_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/scrub"
)

const secret = `Año/2024+"ñ&\é`

func TestIn(t *testing.T) {
	s := scrub.Secrets{}.With("llave-de-prueba")
	for name, test := range map[string]struct {
		secrets scrub.Secrets
		body    string
		in      bool
	}{
		"as it is":           {s, `{"eco":"llave-de-prueba"}`, true},
		"escaped":            {s, `{"eco":"LLAVE\u002dde%2Dprueba"}`, true},
		"not at all":         {s, `{"eco":"llave"}`, false},
		"nothing":            {s, "", false},
		"no secret":          {scrub.Secrets{}, "llave-de-prueba", false},
		"longer than search": {s, strings.Repeat(" ", 64<<10+1), true},
	} {
		assert.Equal(t, test.in, test.secrets.In([]byte(test.body)), name)
	}
}

func TestASecretIsFoundInEveryWriting(t *testing.T) {
	for name, test := range map[string]struct{ secret, text string }{
		"plain":                             {secret, `Año/2024+"ñ&\é`},
		"in capitals":                       {secret, `AÑO/2024+"Ñ&\É`},
		"without accents":                   {secret, `Ano/2024+"n&\e`},
		"decomposed":                        {secret, "An\u0303o/2024+\"n\u0303&\\e\u0301"},
		"a decomposed secret, composed":     {"an\u0303o-2024", "año-2024"},
		"Latin-1":                           {secret, "A\xf1o/2024+\"\xf1&\\\xe9"},
		"UTF-8 read as Latin-1":             {secret, `AÃ±o/2024+"Ã±&\Ã©`},
		"UTF-8 read as Windows-1252":        {"CAÑÓN-24", "CAÃ‘Ã“N-24"},
		"... twice":                         {"cañón-24", "caÃƒÂ±Ã³n-24"},
		"an encoder that does not know ñ":   {secret, `A?o/2024+"?&\?`},
		"bytes that were replaced":          {secret, "A\uFFFDo/2024+\"\uFFFD\uFFFD&\\\uFFFD"},
		"Go's JSON":                         {secret, `Año/2024+\"ñ\u0026\\é`},
		"JSON in ASCII":                     {secret, `A\u00f1o/2024+\"\u00f1&\\\u00e9`},
		"PHP's json_encode":                 {secret, `A\u00f1o\/2024+\"\u00f1&\\\u00e9`},
		".NET's JSON":                       {secret, `A\u00F1o/2024\u002B\u0022\u00F1\u0026\\\u00E9`},
		"JSON inside JSON":                  {secret, `A\\u00f1o\\\/2024+\\\"\\u00f1&\\\\\\u00e9`},
		"JSON inside JSON inside JSON":      {secret, `A\\\\u00f1o/2024+\\\\\\\"\\\\u00f1&\\\\\\\\\\\\u00e9`},
		"JSON in capitals":                  {secret, `A\U00F1O/2024+\"\U00F1&\\\U00E9`},
		"surrogates":                        {"clave😀x", `clave\ud83d\ude00x`},
		"surrogates inside JSON":            {"clave😀x", `clave\\uD83D\\uDE00x`},
		"Go's %q":                           {"año\u0001\n2024😀", `a\u00f1o\x01\n2024\U0001f600`},
		"bytes in hexadecimal":              {secret, `A\xc3\xb1o/2024+"\xc3\xb1&\\\xc3\xa9`},
		"one byte in hexadecimal":           {secret, `A\xF1o/2024+"\xF1&\\\xE9`},
		"octal":                             {secret, `A\303\261o/2024+"\361&\\\351`},
		"braces":                            {secret, `A\u{f1}o/2024+"\u{0000f1}&\\\x{e9}`},
		"HTML, named":                       {secret, `A&ntilde;o/2024+&quot;&ntilde;&amp;\&eacute;`},
		"HTML, named, punctuation":          {secret, `A&ntilde;o&sol;2024&plus;&QUOT;&Ntilde;&AMP;&bsol;&eacute;`},
		"HTML, decimal":                     {secret, `A&#241;o&#47;2024&#43;&#34;&#241;&#38;&#92;&#233;`},
		"HTML, decimal with zeros":          {secret, `A&#0000241;o/2024+&#000000000000000034;&#241;&\&#233;`},
		"HTML, hexadecimal":                 {secret, `A&#xF1;o/2024&#x2b;&#X22;&#x0f1;&#x26;\&#xE9;`},
		"HTML without semicolons":           {secret, `A&ntildeo/2024+&quot&ntilde&amp\&#233`},
		"HTML in capitals":                  {"año<2024", `A&NTILDE;O&LT;2024`},
		"HTML of HTML":                      {secret, `A&amp;ntilde;o/2024+&amp;quot;&amp;#241;&amp;amp;\&amp;eacute;`},
		"JSON of HTML":                      {secret, `A\u0026ntilde;o/2024+\u0026quot;\u0026#241;\u0026amp;\\\u0026eacute;`},
		"encodeURIComponent":                {secret, `A%C3%B1o%2F2024%2B%22%C3%B1%26%5C%C3%A9`},
		"encodeURIComponent, small letters": {secret, `a%c3%b1o%2f2024%2b%22%c3%b1%26%5c%c3%a9`},
		"percent, of Latin-1":               {secret, `A%F1o%2F2024%2B%22%F1%26%5C%E9`},
		"JavaScript's escape":               {"año€2024", `a%F1o%u20AC2024`},
		"percent, twice":                    {secret, `A%25C3%25B1o%252F2024%252B%2522%25C3%25B1%2526%255C%25C3%25A9`},
		"percent, thrice":                   {secret, `A%2525C3%2525B1o/2024+"%2525F1&\%2525E9`},
		"percent of HTML":                   {secret, `A%26ntilde%3Bo/2024%2B%26quot%3B%26%23241%3B%26amp%3B\%26%23xE9%3B`},
		"percent of JSON":                   {secret, `A%5Cu00f1o%5C%2F2024%2B%5C%22%5Cu00f1%26%5C%5C%5Cu00e9`},
		"HTML of percent":                   {secret, `A&#37;C3&#37;B1o/2024+"&percnt;F1&\&percnt;E9`},
		"a blank as +":                      {"mi clave 24", "mi+clave+24"},
		"two blanks as two +":               {"00  0", "00++0"},
		"a blank as %20":                    {"mi clave 24", "mi%20clave%2024"},
		"a blank as a reference":            {"mi clave 24", "mi&nbsp;clave&#32;24"},
		"several blanks as one":             {"mi  clave\t24", "mi clave 24"},
		"one blank as several":              {"mi clave 24", "mi  clave \u00a0 24"},
		"a line break as written":           {"mi\nclave", `mi\nclave`},
		"wrapped":                           {"miclave24", "micl\r\nave24"},
		"zero width":                        {"clave-24", strings.Join(strings.Split("clave-24", ""), "\u200b")},
		"bidirectional":                     {"clave-24", "\u202eclave\u202c-\u206624"},
		"controls":                          {"clave-24", "cl\x00a\x7fve\u0085-24"},
		"controls, escaped":                 {"clave-24", `cl\u0000a&#8203;v%E2%80%8Be\u0303-24`},
		"UTF-16":                            {"clave-24", "\x00c\x00l\x00a\x00v\x00e\x00-\x002\x004"},
		"quotes doubled":                    {`cl"av'e`, `cl""av''e`},
		"each rune differently":             {secret, "A\\u00f1\u200bo\\/2%3024%252B&quot;n\u0303\\u0026\\\\&eacute"},
		"a key in base64":                   {"q83v/+8B/w==", `q83v\/+8B\/w==`},
		"a secret like an escape":           {`a\u0041%42&amp;z`, `a\\u0041%2542&amp;amp;z`},
		"... and as it stands":              {`a\u0041%42&amp;z`, `a\u0041%42&amp;z`},
		"... among escapes":                 {`ñ\u0041%42&amp;z`, `\u00f1\u0041%42&amp;z`},
		"a backslash before an escape":      {`\ñandú`, `\\u00f1andú`},
		"a percent sign before an escape":   {`%ñandú`, `%%C3%B1andú`},
		"not UTF-8":                         {"clave\xf1\xe1", "claveñá"},
		"very long":                         {strings.Repeat("0123456789", 20), strings.Repeat("0123456789", 20)},
		"only backslashes":                  {`\\\\\`, `\\\\\\\\\\`},
	} {
		t.Run(name, func(t *testing.T) {
			s := scrub.Secrets{}.With("otra-llave").With(test.secret)
			const before, after = "la clave ", " no es"
			got := s.Redact(before + test.text + after)
			if len(test.secret) > 64 {
				assert.Equal(t, before+scrub.Marker, got)
				return
			}
			got = strings.NewReplacer(`\`, "", "\u202e", "", "\x00", "", "\u0301", "").Replace(got) // what is silent may stay at the edges
			assert.Equal(t, before+scrub.Marker+after, got)
		})
	}
}

func TestOtherTextsStayAsTheyAre(t *testing.T) {
	s := scrub.Secrets{}.With("llave-de-prueba-7f3a").With("claveFalsa12").With("Año2024")
	for _, text := range []string{
		"",
		"El año de inscripción de la COMPAÑÍA no es válido: clave falsa",
		"¿La claveFalsa1 o la llave-de-prueba-7f3?",
		`{"error":"El RUC \"20131312955\" no existe\nen el padr\u00f3n","code":"NOT_FOUND"}`,
		`<p class="x">A&ntilde;o 2024 &mdash; caf&eacute; &amp; t&eacute;</p>`,
		"https://api.example/?q=a%C3%B1o%202024&p=%25",
		`C:\clave\otra\12`, "100 % de 5 & 6 \\", "&&&;;;%%%\\\\\\", "%zz%4&#;&#x;\\u12\\x",
		"\xf1\xe1\xff", "😀 \u202e\u0301", "Ã±Ã", "..." + strings.Repeat("clave", 100),
	} {
		assert.Equal(t, text, s.Redact(text))
		assert.Equal(t, text, scrub.Secrets{}.Redact(text))
	}
}

func TestWhatIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		secrets    []string
		text, want string
	}{
		"more than once":                {[]string{"clave-24"}, "clave-24, clave%2D24clave-24.", "[secreto], [secreto][secreto]."},
		"begun before":                  {[]string{"clave-24"}, "claveclave-24", "clave[secreto]"},
		"two secrets":                   {[]string{"llave-1", "clave-2"}, "llave-1 clave-2", "[secreto] [secreto]"},
		"two that share runes":          {[]string{"abcdef", "defghi"}, "x abcdefghi x", "x [secreto] x"},
		"one inside the other":          {[]string{"abcdefgh", "cdef"}, "x abcdefgh x", "x [secreto] x"},
		"an overlap with itself":        {[]string{"abab"}, "x ababab x", "x [secreto] x"},
		"a short one withholds all":     {[]string{"abc"}, "la clave es ABC", "[text withheld: it repeats a credential]"},
		"a short one that is not there": {[]string{"abc"}, "la clave es ab", "la clave es ab"},
		"none":                          {[]string{""}, "la clave es ", "la clave es "},
		"nothing to see":                {[]string{" \u200b\x00"}, "la clave es  \u200b\x00", "la clave es  \u200b\x00"},
		"too many escapes of escapes":   {[]string{"clave-24"}, "x &" + strings.Repeat("amp;", 30) + " x", "[text withheld: it repeats a credential]"},
	} {
		t.Run(name, func(t *testing.T) {
			var s scrub.Secrets
			for _, secret := range test.secrets {
				s = s.With(secret)
			}
			assert.Equal(t, test.want, s.Redact(test.text))
		})
	}
}

// No text that was cut ends with a part of a secret, in any writing of it.
func TestASecretThatWasCut(t *testing.T) {
	const secret = "clave-ñandú-24"
	s := scrub.Secrets{}.With(secret)
	for name, written := range map[string]string{
		"plain":                 secret,
		"JSON":                  `clave-\u00f1and\u00fa-24`,
		"HTML":                  "clave-&ntilde;and&#xfa;-24",
		"percent":               "clave-%C3%B1and%25C3%25BA-24",
		"Latin-1":               "clave-\xf1and\xfa-24",
		"UTF-8 read as Latin-1": "clave-Ã±andÃº-24",
	} {
		t.Run(name, func(t *testing.T) {
			for cut := range len(written) {
				for what, shown := range map[string]string{
					"the tail":   string(s.WithoutTail([]byte("dice: " + written[:cut]))),
					"the body":   strings.TrimLeft(string(s.Body([]byte(strings.Repeat("x", 4096-cut-6)+"dice: "+written))), "x"),
					"the search": strings.TrimLeft(s.Redact(strings.Repeat("x", 64<<10-cut-6)+"dice: "+written), "x"),
				} {
					assert.Equal(t, "dice: ", shown, "%s after %d bytes", what, cut)
				}
			}
		})
	}
	assert.Equal(t, "dice: otra cosa", string(s.WithoutTail([]byte("dice: otra cosa"))))
}

func TestALine(t *testing.T) {
	s := scrub.Secrets{}.With("claveFalsa12")
	assert.Equal(t, "uno [secreto] dos 10…789", s.Line(" uno\r\nclave\u200bFalsa12\u202e  dos\x00 10123456789\n"))
	assert.Equal(t, strings.Repeat("ñ", 300)+"…", s.Line(strings.Repeat("ñ", 301)))
	assert.Equal(t, "a\uFFFDo", s.Line("a\xf1o"))
}

func TestABodyIsBounded(t *testing.T) {
	s := scrub.Secrets{}.With("1234")
	for _, unit := range []string{"ñ", "x", "1234", "\xf1", "%31234 "} {
		body := s.Body([]byte(strings.Repeat(unit, 10_000)))
		assert.LessOrEqual(t, len(body), 4096)
		assert.True(t, utf8.Valid(body))
	}
	assert.Equal(t, `{"error":"[secreto]"}`, string(s.Body([]byte(`{"error":"1234"}`))))
}

func TestAHeaderIsACopy(t *testing.T) {
	s := scrub.Secrets{}.With("claveñ-12")
	h := http.Header{"X-Eco": {"uno", "CLAVE%C3%B1-12", "clave\xf1-12"}, "Clave%f1-12": {"x"}, "X-Vacio": nil}
	assert.Equal(t, http.Header{"X-Eco": {"uno", "[secreto]", "[secreto]"}, "[secreto]": {"x"}, "X-Vacio": nil}, s.Header(h))
	assert.Len(t, h["X-Eco"], 3)
	assert.Equal(t, "CLAVE%C3%B1-12", h["X-Eco"][1], "the answer's own header is not changed")
	assert.Nil(t, s.Header(nil))
}

func TestSecretsAreNotShown(t *testing.T) {
	s := scrub.Secrets{}.With("claveFalsa12")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		shown := fmt.Sprintf(verb, []any{s, &s, struct{ s scrub.Secrets }{s}})
		assert.Less(t, len(shown), 300, "what the search knows is printed")
	}
}

// Texts that are made to keep the search busy cost little more for each byte than others.
func TestTheSearchIsBounded(t *testing.T) {
	s := scrub.Secrets{}.With(strings.Repeat("a", 63) + "b").With(`\\\\\\\\x%%%%%%%%`)
	for name, unit := range map[string]string{"backslashes": `\`, "ampersands": "&", "percents": "%25", "nested": "&amp;#38;", "nearly": "aaaaa", "names": "&a", "digits": "&#0", "braces": `\u{0`} {
		t.Run(name, func(t *testing.T) {
			assert.LessOrEqual(t, len(s.Redact(strings.Repeat(unit, 1<<20/len(unit)))), 64<<10)
		})
	}
}

func TestASearchThatFindsNothingMakesNoAllocation(t *testing.T) {
	s := scrub.Secrets{}.With("llave-de-prueba-7f3a").With("claveFalsa12")
	for name, text := range map[string]string{
		"short": "no existe", "Spanish": "El año de inscripción no es válido, ¿o sí?", "long": strings.Repeat("un texto más; ", 4000),
	} {
		assert.Zero(t, testing.AllocsPerRun(100, func() { _ = s.Redact(text) }), name)
	}
	line := "El contribuyente 2013131295 no existe"
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = s.Line(line) }), "a line in which nothing changes")
}
