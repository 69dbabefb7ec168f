package conformance

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
)

// formsOf are a secret as it is, and as URLs, JSON, HTML and Go escape it.
func formsOf(secret string) map[string]string {
	asJSON, _ := json.Marshal(secret)
	plain := new(strings.Builder)
	e := json.NewEncoder(plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(secret)
	forms := map[string]string{
		"as it is": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "twice": url.QueryEscape(url.QueryEscape(secret)),
		"JSON": string(asJSON[1 : len(asJSON)-1]), "JSON without HTML": strings.Trim(plain.String(), "\"\n"), "HTML": html.EscapeString(secret),
		"Go": fmt.Sprintf("%+q", secret), "capitals": strings.ToUpper(secret), "HTML of a query": html.EscapeString(url.QueryEscape(secret)),
		"JSON of JSON": strings.Trim(string(must(json.Marshal(string(asJSON)))), `"`),
		"hexadecimal":  hex.EncodeToString([]byte(secret)), "in octets": fmt.Sprintf("% X", secret), "as bytes of Go": fmt.Sprintf("%#v", []byte(secret)),
		"base64": base64.StdEncoding.EncodeToString([]byte(secret)), "base64 of URLs": base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"base64, one byte on": base64.StdEncoding.EncodeToString([]byte("a" + secret + ":")), "base64, two on": base64.StdEncoding.EncodeToString([]byte("ab" + secret + "cd")),
		"spelt with blanks": strings.Join(strings.Split(secret, ""), " "), "spelt in lines": strings.Join(strings.Split(secret, ""), "\n"),
		"a list of letters": strings.Join(strings.Split(secret, ""), `","`),
	}
	for name, form := range map[string]string{"URL, all": "%%%02x", "Go, all": `\x%02x`} {
		for _, b := range []byte(secret) {
			forms[name] += fmt.Sprintf(form, b)
		}
	}
	for _, unit := range utf16.Encode([]rune(secret)) {
		forms["JSON, all"] += fmt.Sprintf(`\u%04x`, unit)
	}
	for name, form := range map[string]string{"HTML, all": "&#%d;", "HTML, hex": "&#x%X;"} {
		for _, r := range secret {
			forms[name] += fmt.Sprintf(form, r)
		}
	}
	forms["JSON of HTML"] = strings.Trim(string(must(json.Marshal(html.EscapeString(secret)))), `"`)
	forms["URL of HTML, all"] = url.QueryEscape(forms["HTML, all"])
	forms["HTML of JSON, all"] = html.EscapeString(strings.ReplaceAll(forms["JSON, all"], `\`, "&#92;"))
	return forms
}

func must[T any](value T, _ error) T { return value }

func TestSecretsAreHiddenInEveryForm(t *testing.T) {
	for _, secret := range []string{theKey, theClave, "sencilla", "a b+c%d", "ñandú€uro", "~~?>>>abc"} {
		for name, form := range formsOf(secret) {
			t.Run(secret+" "+name, func(t *testing.T) {
				shown := newSecrets(secret).hide("antes " + form + " después")
				assert.Regexp(t, `^(antes .{0,9}\*\*\*.{0,6} después|\*\*\*)$`, shown)
			})
		}
	}
	assert.Equal(t, hidden, newSecrets("ab").hide("la cl\u00e1usula a\nbAByc"), "a short one withholds all")
	assert.Equal(t, "la cláusula", newSecrets("ab").hide("la cláusula"))
	assert.Equal(t, "nada", newSecrets(theKey, "").hide("nada"), "the empty text is no secret")
}

func TestAbridged(t *testing.T) {
	s := newSecrets("secreto")
	assert.Equal(t, "uno dos\ufffd ***", s.abridged("uno\ndos\x1b\tsecreto"))
	assert.Equal(t, strings.Repeat("ñ", mostShown), s.abridged(strings.Repeat("ñ", mostShown)))
	assert.Equal(t, strings.Repeat("ñ", mostShown)+"…", s.abridged(strings.Repeat("ñ", mostShown+1)))
	assert.Equal(t, "nada", secrets{}.abridged("nada"))
}

// Wherever a text is cut, no part of a secret is shown, in any form and of any length.
func TestAbridgedShowsNoPartOfASecret(t *testing.T) {
	long := ""
	for i := range 150 {
		long += fmt.Sprint(i * i % 7919)
	}
	for _, secret := range []string{"secreto", "una.llave-de.veinte+", long} {
		s := newSecrets(secret)
		for name, form := range formsOf(secret) {
			if strings.HasPrefix(name, "base64, ") || strings.Contains(name, "Go") || name == "JSON of JSON" { // with more around them
				continue
			}
			for _, n := range []int{0, 101, mostShown - 1} {
				for _, times := range []int{1, 100} {
					shown := s.abridged(strings.Repeat(".", n) + strings.Repeat(form, times))
					assert.Regexp(t, `^\.*(%?\*\*\*\w?=*)*%?…?$`, shown, "%s of %d characters, after %d", name, len(secret), n)
				}
			}
		}
	}
}

// A server that repeats all that it gets, in every place and form, gets no secret into what is said.
func TestAServerThatRepeatsSecrets(t *testing.T) {
	for name := range formsOf(theKey) {
		t.Run(name, func(t *testing.T) {
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent, _ := io.ReadAll(r.Body)
				clave := ""
				if fields := (fieldsOfBody{}); json.Unmarshal(sent, &fields) == nil && fields["claveSol"] != nil {
					_ = json.Unmarshal(fields["claveSol"], &clave)
					clave = formsOf(clave)[name]
				}
				key := formsOf(r.Header.Get("X-API-KEY"))[name]
				text, _ := json.Marshal(key + " " + clave)
				for _, header := range []string{"Content-Type", headerLimit, headerRemaining, headerReset, "Date"} {
					w.Header().Set(header, "application/"+strings.Map(printableASCII, key))
				}
				w.WriteHeader(200 + len(sent)%2*200)
				fmt.Fprintf(w, `{"error": %s, "code": %[1]s, %[1]s: 1, "ruc": %[1]s, "estado": %[1]s, "fecha": %[1]s, "codigo": %[1]s, "ubigeo": %[1]s, "clave": %s}`, text, sent)
			})
			results, seen := examine(t, handler, fullTarget("http://mock.invalid"))
			texts := table(seen) + literal(seen) + string(must(json.Marshal(seen)))
			for _, r := range results {
				texts += r.subtest() + strings.Join(r.failures, "\n") + r.skipped
			}
			assert.True(t, strings.Contains(texts, hidden))
			for _, secret := range []string{theKey, theClave, fullTarget("").wrongClave().clave} {
				for form, text := range formsOf(secret) {
					assert.False(t, strings.Contains(texts, text), "%s: %s", form, text)
				}
			}
		})
	}
}

func printableASCII(r rune) rune {
	if r < ' ' || r > '~' {
		return -1
	}
	return r
}

func TestTargetsPrintWithoutSecrets(t *testing.T) {
	target := fullTarget("http://127.0.0.1:8080/clave")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, text := range []string{fmt.Sprintf(verb, target), fmt.Sprintf(verb, *target.CPE), fmt.Sprintf(verb, target.CPE.Usuario)} {
			assert.NotContains(t, text, theKey)
			assert.NotContains(t, text, theClave)
			assert.NotContains(t, text, "ñ%'7")
		}
	}
}
