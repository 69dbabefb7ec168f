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

	"github.com/stretchr/testify/assert"
)

// formsOf are a secret as it is, and as URLs, JSON, HTML and Go write it.
func formsOf(secret string) map[string]string {
	asJSON, _ := json.Marshal(secret)
	forms := map[string]string{
		"as it is": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
		"JSON": string(asJSON[1 : len(asJSON)-1]), "HTML": html.EscapeString(secret), "Go": fmt.Sprintf("%+q", secret), "capitals": strings.ToUpper(secret),
		"hexadecimal": hex.EncodeToString([]byte(secret)), "in octets": fmt.Sprintf("% X", secret), "as bytes of Go": fmt.Sprintf("%#v", []byte(secret)),
		"base64": base64.StdEncoding.EncodeToString([]byte(secret)), "base64 of URLs": base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"base64, one byte on": base64.StdEncoding.EncodeToString([]byte("a" + secret + ":")), "base64, two on": base64.StdEncoding.EncodeToString([]byte("ab" + secret + "cd")),
		"spelt with blanks": strings.Join(strings.Split(secret, ""), " "), "a list of letters": strings.Join(strings.Split(secret, ""), `","`),
	}
	for _, b := range []byte(secret) {
		forms["URL, all"] += fmt.Sprintf("%%%02x", b)
		forms["Go, all"] += fmt.Sprintf(`\x%02x`, b)
	}
	return forms
}

func must[T any](value T, _ error) T { return value }

func TestSecretsAreHiddenInEveryForm(t *testing.T) {
	for _, secret := range []string{theKey, theClave, "sencilla", "a b+c%d", "~~?>>>abc"} {
		for name, form := range formsOf(secret) {
			assert.Equal(t, hidden, newSecrets(secret).hide("antes "+form+" después"), "%s: %s", secret, name)
		}
	}
	assert.Equal(t, "la cláusula", newSecrets("ab").hide("la cláusula"))
	assert.Equal(t, "nada", newSecrets(theKey, "").hide("nada"), "the empty text is no secret")
}

func TestAbridged(t *testing.T) {
	s := newSecrets("secreto")
	assert.Equal(t, "uno dos\ufffd tres", s.abridged("uno\ndos\x1b\ttres"))
	assert.Equal(t, strings.Repeat("ñ", mostShown), s.abridged(strings.Repeat("ñ", mostShown)))
	assert.Equal(t, strings.Repeat("ñ", mostShown)+"…", s.abridged(strings.Repeat("ñ", mostShown+1)))
	assert.Equal(t, hidden, s.abridged(strings.Repeat("ñ", mostShown-3)+"secreto"), "not a part of it either")
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
				texts += r.name + strings.Join(r.failures, "\n") + r.skipped
			}
			assert.True(t, strings.Contains(texts, hidden))
			for _, secret := range []string{theKey, theClave, wrongClave} {
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
