package scrub_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/scrub"
)

// writers are ways to write a rune that servers have. Each is written by hand here, so that it can
// disagree with the search.
var writers = []func(r rune) string{
	func(r rune) string { return string(r) },
	func(r rune) string { return string(unicode.ToUpper(r)) },
	func(r rune) string { return string(unicode.ToLower(r)) },
	func(r rune) string { return "\u200b" + string(r) + "\u2060" },
	func(r rune) string { return utf16Escape(`\u%04x`, r) },
	func(r rune) string { return utf16Escape(`\u%04X`, r) },
	func(r rune) string { return utf16Escape(`%%u%04X`, r) },
	func(r rune) string { return fmt.Sprintf(`\U%08x`, r) },
	func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) },
	func(r rune) string { return bytesEscape(`\x%02x`, string(r)) },
	func(r rune) string { return bytesEscape(`\%03o`, string(r)) },
	func(r rune) string { return bytesEscape(`%%%02X`, string(r)) },
	func(r rune) string { return bytesEscape(`%%%02x`, string(r)) },
	func(r rune) string { return bytesEscape(`%%25%02X`, string(r)) },
	func(r rune) string { return bytesEscape(`%%2525%02x`, string(r)) },
	func(r rune) string { return bytesEscape(`%%%02X`, latin1(r)) },
	func(r rune) string { return bytesEscape(`\x%02X`, latin1(r)) },
	latin1,
	func(r rune) string { return fmt.Sprintf(`&#%d;`, r) },
	func(r rune) string { return fmt.Sprintf(`&#000%d;`, r) },
	func(r rune) string { return fmt.Sprintf(`&#x%x;`, r) },
	func(r rune) string { return fmt.Sprintf(`&#X%X;`, r) },
	func(r rune) string { return fmt.Sprintf(`&amp;#%d;`, r) },
	func(r rune) string { return fmt.Sprintf(`%%26%%23%d%%3B`, r) },
	func(r rune) string { return fmt.Sprintf(`\u0026#%d;`, r) },
	named,
	func(r rune) string { return strings.ReplaceAll(named(r), "&", "&amp;") },
	func(r rune) string { return strings.ReplaceAll(named(r), "&", "%26") },
	jsonEscape,
	func(r rune) string { return strings.ReplaceAll(jsonEscape(r), "/", `\/`) },
	func(r rune) string {
		var inner strings.Builder
		for _, r := range utf16Escape(`\u%04x`, r) {
			inner.WriteString(jsonEscape(r))
		}
		return inner.String()
	},
	func(r rune) string {
		var inner strings.Builder
		for _, r := range jsonEscape(r) {
			inner.WriteString(jsonEscape(r))
		}
		return inner.String()
	},
	func(r rune) string { return url.QueryEscape(string(r)) },
	func(r rune) string { return url.PathEscape(jsonEscape(r)) },
	func(r rune) string { return html.EscapeString(string(r)) },
	func(r rune) string { quoted := strconv.QuoteToASCII(string(r)); return quoted[1 : len(quoted)-1] },
	mojibake,
	func(r rune) string { return url.QueryEscape(mojibake(r)) },
	decomposed,
	func(r rune) string {
		var marks strings.Builder
		for _, r := range decomposed(r) {
			marks.WriteString(utf16Escape(`\u%04x`, r))
		}
		return marks.String()
	},
}

func utf16Escape(format string, r rune) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune{r}) {
		fmt.Fprintf(&b, format, unit)
	}
	return b.String()
}

func bytesEscape(format, s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func latin1(r rune) string {
	if r >= 0xA0 && r < 0x100 || r < utf8.RuneSelf {
		return string([]byte{byte(r)})
	}
	return string(r)
}

func mojibake(r rune) string {
	var b strings.Builder
	for _, c := range []byte(string(r)) {
		b.WriteRune(rune(c))
	}
	return b.String()
}

func jsonEscape(r rune) string {
	quoted, _ := json.Marshal(string(r))
	return string(quoted[1 : len(quoted)-1])
}

func decomposed(r rune) string {
	for mark, letters := range map[rune]string{'\u0303': "ñnÑNãaõo", '\u0301': "áaéeíiÁAÉEńnśs", '\u0308': "üuöo", '\u0327': "çcşs"} {
		for pair := []rune(letters); len(pair) > 0; pair = pair[2:] {
			if pair[0] == r {
				return string([]rune{pair[1], mark})
			}
		}
	}
	return string(r)
}

var names = map[rune]string{
	'ñ': "ntilde", 'Ñ': "Ntilde", 'á': "aacute", 'é': "eacute", 'ü': "uuml", 'ç': "ccedil", '<': "lt", '>': "gt", '&': "amp", '"': "quot",
	'\'': "apos", '/': "sol", '\\': "bsol", '%': "percnt", '+': "plus", '#': "num", ';': "semi", '=': "equals", '?': "quest", '€': "euro",
	'{': "lcub", '}': "rcub", '$': "dollar", '!': "excl", '.': "period", ':': "colon", '_': "lowbar", ' ': "nbsp", '@': "commat",
}

func named(r rune) string {
	if name := names[r]; name != "" {
		return "&" + name + ";"
	}
	return html.EscapeString(string(r))
}

// readers undo what writers do, each on a whole text.
var readers = []func(text string) string{
	html.UnescapeString,
	replacer(`\\+u([0-9a-fA-F]{4})\\+u([0-9a-fA-F]{4})`, func(of []string) string {
		if r := utf16.DecodeRune(hex(of[1]), hex(of[2])); r != utf8.RuneError {
			return string(r)
		}
		return of[0]
	}),
	replacer(`\\+[uU]([0-9a-fA-F]{4})`, func(of []string) string { return string(hex(of[1])) }),
	replacer(`\\+U([0-9a-fA-F]{8})`, func(of []string) string { return string(hex(of[1])) }),
	replacer(`\\+u\{([0-9a-fA-F]{1,8})\}`, func(of []string) string { return string(hex(of[1])) }),
	replacer(`%u([0-9a-fA-F]{4})`, func(of []string) string { return string(hex(of[1])) }),
	replacer(`((\\+x|%)[0-9a-fA-F]{2})+|(\\[0-7]{3})+`, func(of []string) string {
		var b []byte
		for _, digits := range byteDigits.FindAllString(of[0], -1) {
			base := 16
			if len(digits) == 3 {
				base = 8
			}
			c, _ := strconv.ParseUint(digits, base, 8)
			b = append(b, byte(c))
		}
		return string(scrub.UTF8(b))
	}),
	func(text string) string {
		if read, err := url.QueryUnescape(text); err == nil {
			return read
		}
		return text
	},
	func(text string) string {
		var read string
		if json.Unmarshal([]byte(`"`+text+`"`), &read) == nil {
			return read
		}
		return text
	},
	replacer(`\\+(["/\\'])`, func(of []string) string { return of[1] }),
	replacer(`[\x{80}-\x{ff}]+`, func(of []string) string {
		var b []byte
		for _, r := range of[0] {
			b = append(b, byte(r))
		}
		if utf8.Valid(b) {
			return string(b)
		}
		return of[0]
	}),
}

var byteDigits = regexp.MustCompile(`[0-9a-fA-F]{2,3}`)

func replacer(pattern string, replace func(of []string) string) func(string) string {
	found := regexp.MustCompile(pattern)
	return func(text string) string {
		return found.ReplaceAllStringFunc(text, func(match string) string { return replace(found.FindStringSubmatch(match)) })
	}
}

func hex(digits string) rune {
	n, _ := strconv.ParseUint(digits, 16, 32)
	return rune(n)
}

// plain returns a text in small letters, without marks, accents and what does not show.
func plain(text string) string {
	var b strings.Builder
	for _, r := range string(scrub.UTF8([]byte(text))) {
		for _, r := range decomposed(r) {
			switch {
			case unicode.IsSpace(r):
				b.WriteByte(' ')
			case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.M):
			default:
				b.WriteRune(unicode.ToLower(r))
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// FuzzRedact writes a secret with a random writer for each of its runes, redacts it, and lets the readers
// look for it in what is left.
func FuzzRedact(f *testing.F) {
	for _, secret := range []string{"claveFalsa12", "Año/2024+\"ñ&\\é", "llave de prueba", `a\u0041%42&amp;z`, "clave😀x€", `\\%%&&""''`, "q83v/+8B/w==", "0123456789abcdef", "çaáéüñÑ"} {
		for n := range len(writers) {
			f.Add(secret, []byte{byte(n)}, "la clave es ", " y no otra")
			f.Add(secret, []byte{byte(n), byte(3 * n), byte(7*n + 1), byte(n + 5), byte(11 * n)}, `{"error":"`, `"}`)
		}
	}
	f.Fuzz(func(t *testing.T, secret string, choices []byte, before, after string) {
		wanted := plain(secret)
		switch n := utf8.RuneCountInString(wanted); {
		case n < 4, n > 64, len(secret) > 400, len(choices) == 0, len(before)+len(after) > 4000, !utf8.ValidString(secret):
			t.Skip("not a secret that is replaced")
		case strings.ContainsFunc(secret, func(r rune) bool {
			return r >= 0x100 && decomposed(r) == string(r) && !strings.ContainsRune("€😀", r) || r >= 0x80 && r < 0xA0 || strings.ContainsRune("\t\n\v\f\r\uFFFD", r)
		}):
			t.Skip("written by these writers in more ways than one")
		case contains(before+" "+after, wanted), contains(scrub.Marker+"[text withheld: it repeats a credential]", wanted), strings.ContainsAny(wanted, "[]"):
			t.Skip("the secret is around itself")
		}
		var written strings.Builder
		for i, r := range []rune(secret) {
			written.WriteString(writers[int(choices[i%len(choices)])%len(writers)](r))
		}
		s := scrub.Secrets{}.With(secret)
		text := before + " " + written.String() + " " + after
		got := s.Redact(text)
		if !strings.Contains(got, scrub.Marker) && !strings.Contains(got, "withheld") {
			t.Fatalf("the secret %q was not found in %q", secret, text)
		}
		if contains(got, wanted) {
			t.Fatalf("the secret %q can be read in %q, of %q", secret, got, text)
		}
	})
}

// contains reports whether one can read what is wanted in a text, as it stands or after some of the readers.
func contains(text, wanted string) bool {
	for range 6 {
		if strings.Contains(plain(text), wanted) {
			return true
		}
		before := text
		for _, read := range readers {
			text = read(text)
			if strings.Contains(plain(text), wanted) {
				return true
			}
		}
		if text == before {
			return false
		}
	}
	return false
}

// FuzzRedactLeavesOtherTexts redacts texts in which nobody can read the secret.
func FuzzRedactLeavesOtherTexts(f *testing.F) {
	for _, text := range []string{"El año de inscripción de la COMPAÑÍA no es válido", `{"error":"no \"existe\"\nen el padr\u00f3n"}`, "<p>A&ntilde;o &amp; caf%C3%A9", "Ã±\xf1 \\\\\\ %%25 &&amp;;"} {
		f.Add(text)
	}
	const secret = "Z9#Qx7!kW"
	s := scrub.Secrets{}.With(secret)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4000 || strings.Count(strings.ToLower(text), "z")+strings.Count(text, "5")+strings.Count(text, "7") > 0 {
			t.Skip("it may hold the secret")
		}
		if got := s.Redact(text); got != text && !strings.HasPrefix(got, "[text withheld") {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
