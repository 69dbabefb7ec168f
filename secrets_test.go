package fiscope_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// everything writes v in every way a program may print it.
func everything(v any) string {
	var out bytes.Buffer
	for _, verb := range "vsqdxp" {
		for _, flags := range []string{"", "+", "#", "+#"} {
			fmt.Fprintf(&out, "%"+flags+string(verb)+"\n", v)
		}
	}
	if err, ok := v.(error); ok {
		fmt.Fprintln(&out, errors.Join(err, errors.New("x")), fmt.Errorf("x: %w", err), fiscope.TextoParaUsuario(err))
		if many, ok := v.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				fmt.Fprintf(&out, "%v %+v %#v\n", e, e, e)
			}
		}
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).With("a", v).WithGroup("g").Info("x", "b", v, slog.Group("c", "d", v), "e", []any{v}, "f", map[string]any{"g": v})
	}
	if b, err := json.Marshal(v); err == nil {
		out.Write(b)
	}
	return out.String()
}

// written returns a secret as servers may write it.
func written(secret string) map[string]string {
	quoted, _ := json.Marshal(secret)
	inner := string(quoted[1 : len(quoted)-1])
	letters := strings.Split(secret, "")
	var percent, entities strings.Builder
	for _, b := range []byte(secret) {
		fmt.Fprintf(&percent, "%%%02X", b)
	}
	for _, r := range secret {
		fmt.Fprintf(&entities, "&#%d;", r)
	}
	return map[string]string{
		"plain": secret, "capitals": strings.ToUpper(secret), "JSON": inner, "Go": fmt.Sprintf("%q", secret), "ASCII": fmt.Sprintf("%+q", secret),
		"a query": url.QueryEscape(secret), "a path": url.PathEscape(secret), "percents": percent.String(), "HTML": html.EscapeString(secret),
		"entities": entities.String(), "hex": fmt.Sprintf("%x", secret), "base64": base64.StdEncoding.EncodeToString([]byte(secret)),
		"in a URL": base64.RawURLEncoding.EncodeToString([]byte(secret)), "bytes": fmt.Sprint([]byte(secret)),
		"blanks": strings.Join(letters, " "), "dashes": strings.Join(letters, "-"), "nothing seen": strings.Join(letters, "\u200b"),
	}
}

// leaks reports whether a text holds the secret in any form that a person or a program can read.
func leaks(text, secret string) bool {
	text = strings.ToLower(text)
	for _, form := range written(secret) {
		if strings.Contains(text, strings.ToLower(form)) {
			return true
		}
	}
	return false
}

// looksLikeAToken reports whether a text has what no sentence has: a long word of letters and digits, or a + or =. The
// base64 of a short secret may be cut by - or / into words like others, such as those of F001-123.
func looksLikeAToken(text string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == '-' || r == '/' })
	return strings.ContainsAny(text, "+=") || slices.ContainsFunc(words, func(word string) bool {
		return len(word) >= 12 && strings.ContainsAny(word, "0123456789") && strings.ContainsFunc(word, unicode.IsLetter)
	})
}

// echoes are the places of an answer at which a server repeats what it was sent.
func echoes(w string) map[string]handler {
	quoted, _ := json.Marshal(w)
	j := string(quoted[1 : len(quoted)-1])
	return map[string]handler{
		"a message":          raw(400, `{"error":"clave `+j+` incorrecta","code":"X"}`),
		"a deeper message":   raw(500, `{"error":{"message":"`+j+`"},"code":["`+j+`"],"errors":[{"detail":"`+j+`"}]}`),
		"a code":             raw(400, `{"error":"x","code":"`+j+`"}`),
		"a text":             raw(500, "dice "+w),
		"a title":            raw(502, "<title>dice "+w+"</title>"),
		"a page":             raw(502, "<p>dice "+w+"</p>"),
		"no JSON":            raw(200, "dice "+w),
		"a verdict":          raw(200, `{"codigo":"`+j+`","mensaje":"x","estado":"`+j+`","esValido":true}`),
		"a warning":          raw(200, change(verdict, "Aceptado", j)),
		"a record":           raw(200, `{"ruc":"`+j+`","razonSocial":"x","estado":"`+j+`","condicion":"`+j+`","compra":"`+j+`","venta":1,"moneda":"`+j+`","fecha":"`+j+`"}`),
		"rows":               raw(200, `[{"ruc":"`+j+`"},{"ruc":"`+rucSUNAT+`","razonSocial":"","estado":"`+j+`"}]`),
		"a header":           raw(500, "", "X-Ratelimit-Reset: "+w, "Retry-After: "+w, "Content-Type: text/"+w),
		"an address":         raw(307, "", "Location: https://otra.example/"+url.PathEscape(w)+"?q="+url.QueryEscape(w)),
		"a status of theirs": raw(429, `{"message":"`+j+`"}`, "X-RateLimit-Remaining: "+w),
	}
}

// What an echo is of, and how it is written: nothing of ours shows it. Error.Body and Response.Header are raw.
func TestNoOutputHoldsASecret(t *testing.T) {
	client, _ := answers(t, raw(200, record))
	held := everything(client) + everything(*client) + everything(client.Stats()) + everything(credenciales)
	assert.False(t, leaks(held, apiKey) || leaks(held, clave), "what holds a secret shows it")

	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	alphabet := []rune(`abcXYZ019$%&/\"'<>+= .ñÑé€#?{}`)
	secrets := []string{clave, apiKey, `Zorro/77+"ñandú&'<x>\`}
	for range 2 {
		secret := []rune("ka") // the base64 of which has a digit
		for range 6 + random.IntN(50) {
			secret = append(secret, alphabet[random.IntN(len(alphabet))])
		}
		secrets = append(secrets, string(secret)+"k")
	}
	other := fiscope.NewSecreto("otra-clave")
	for i, secret := range secrets {
		for of, call := range map[string]struct {
			key   string
			clave fiscope.Secreto
		}{"key": {secret, other}, "clave": {"otra-llave", fiscope.NewSecreto(secret)}} {
			for writing, w := range written(secret) {
				if strings.Contains("base64, in a URL", writing) && !looksLikeAToken(w) {
					continue
				}
				for place, answer := range echoes(w) {
					if leaks(shownOf(t, answer, call.key, call.clave), secret) {
						t.Fatalf("seed %d: secret %d, a %s, is shown: %s in %s", seed, i, of, writing, place)
					}
				}
			}
			cause := broken(fmt.Errorf("malformed HTTP response %q: %w", secret, errors.New(secret)))
			assert.False(t, leaks(shownOf(t, cause, call.key, call.clave), secret), "seed %d: secret %d, a %s, is shown in a cause", seed, i, of)
		}
	}
}

// shownOf returns all that is shown of the calls with a key and a clave that are answered so.
func shownOf(t *testing.T, answer handler, key string, own fiscope.Secreto) string {
	var seen bytes.Buffer
	client, err := fiscope.NewClient(baseURL, key, fiscope.WithHTTPClient(&http.Client{Transport: answer}), fiscope.WithMaxRetries(0),
		fiscope.WithLogger(slog.New(slog.NewJSONHandler(&seen, &slog.HandlerOptions{Level: slog.LevelDebug}))),
		fiscope.WithObserver(func(_ context.Context, e fiscope.Event) { fmt.Fprintf(&seen, "%+v %v", e, e.LogValue()) }))
	require.NoError(t, err)
	c := credenciales
	c.Clave = own
	var resp fiscope.Response
	show := func(err error) {
		var e *fiscope.Error
		if errors.As(err, &e) {
			seen.WriteString(everything(err) + e.Code + e.Message)
		}
		resp.Header = nil
		fmt.Fprintf(&seen, "%+v", resp)
	}
	show(second(client.CPE.Validar(t.Context(), factura, c, fiscope.WithResponse(&resp))))
	show(second(client.CPE.Validar(t.Context(), factura, c, fiscope.WithResponse(&resp)))) // it may be blocked now
	if own.Equal(fiscope.NewSecreto("otra-clave")) {                                       // a clave is echoed to the call that has it
		for _, op := range []string{"consultar", "buscar", "tipocambio"} {
			show(operations[op](t.Context(), client, fiscope.WithResponse(&resp)))
		}
	}
	return seen.String()
}

func TestASecretoIsNotShown(t *testing.T) {
	type config struct {
		Clave   fiscope.Secreto
		Puntero *fiscope.Secreto
		privada fiscope.Secreto
		Mapa    map[string]any
	}
	s := fiscope.NewSecreto(clave)
	holders := map[string]any{
		"itself": s, "pointer": &s, "credentials": credenciales, "pointer to credentials": &credenciales,
		"struct": config{s, &s, s, map[string]any{"x": s}}, "slice": []any{s, &s}, "map": map[string]fiscope.Secreto{"x": s},
	}
	for name, holder := range holders {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			for _, verb := range "vsqdxXtcpTboOUeEfFgGw" {
				for _, flags := range []string{"", "+", "#", "-", " ", "0", "20", ".3", "+#"} {
					fmt.Fprintf(&out, "%"+flags+string(verb)+"\n", holder)
				}
			}
			fmt.Fprintln(&out, holder)
			for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
				slog.New(h).With("with", holder).WithGroup("g").Info("x", "a", holder, slog.Group("b", "c", holder))
			}
			b, err := json.Marshal(holder)
			require.NoError(t, err)
			out.Write(b)
			if b, err = xml.Marshal(holder); err == nil {
				out.Write(b)
			}
			_ = gob.NewEncoder(&out).Encode(holder)

			assert.False(t, strings.Contains(out.String(), clave), "the clave is shown")
			assert.False(t, strings.Contains(strings.ToLower(out.String()), fmt.Sprintf("%x", clave)), "the clave is shown in hexadecimal")
			assert.Contains(t, out.String(), "[secreto]")
		})
	}
}

// The dump of a failure goes through unexported fields.
func TestATestifyFailureDoesNotShowASecreto(t *testing.T) {
	recorder := new(recorder)
	assert.Equal(recorder, fiscope.CredencialesSOL{Clave: fiscope.NewSecreto("otra-clave")}, credenciales)
	require.NotEmpty(t, recorder.text)
	assert.False(t, strings.Contains(recorder.text, clave) || strings.Contains(recorder.text, "otra-clave"), "the failure shows the clave")
}

type recorder struct{ text string }

func (r *recorder) Errorf(format string, args ...any) { r.text += fmt.Sprintf(format, args...) }

func TestASecretoReadsAndRefusesItsMarker(t *testing.T) {
	var c fiscope.CredencialesSOL
	require.NoError(t, json.Unmarshal([]byte(`{"rucSolicitante":"20131312955","usuarioSol":"MIUSER01","claveSol":"`+clave+`"}`), &c))
	assert.True(t, c.Clave.Equal(fiscope.NewSecreto(clave)))
	assert.Empty(t, cmp.Diff(credenciales, c))

	stored, err := json.Marshal(c)
	require.NoError(t, err)
	require.ErrorContains(t, json.Unmarshal(stored, &c), "marker")
	assert.True(t, c.Clave.Equal(fiscope.NewSecreto(clave)), "a failed read changes nothing")
}

// What the code under test makes of its configuration is the same to gomock and testify as what the test
// expects.
func TestEqualSecretosAreDeeplyEqual(t *testing.T) {
	one := fiscope.NewSecreto(clave)
	for name, test := range map[string]struct {
		a, b  fiscope.Secreto
		equal bool
	}{
		"the same text": {one, fiscope.NewSecreto(string([]byte(clave))), true},
		"another text":  {one, fiscope.NewSecreto("otra"), false},
		"none":          {one, fiscope.Secreto{}, false},
		"an empty one":  {fiscope.NewSecreto(""), fiscope.Secreto{}, true},
	} {
		assert.Equal(t, test.equal, reflect.DeepEqual(fiscope.CredencialesSOL{Clave: test.a}, fiscope.CredencialesSOL{Clave: test.b}), name)
		assert.Equal(t, test.equal, test.a == test.b, name)
		assert.Equal(t, test.equal, test.a.Equal(test.b), name)
	}
	assert.True(t, fiscope.Secreto{}.IsZero() && !one.IsZero())
}

// A clave that stands where the series belongs: our own message about it would show it.
func TestOurOwnMessageHoldsNoSecret(t *testing.T) {
	client, s := answers(t, raw(200, verdict))
	const short = "SOL-4711-X"
	receipt, own := factura, credenciales
	receipt.Serie, own.Clave = short, fiscope.NewSecreto(short)
	_, err := client.CPE.Validar(t.Context(), receipt, own)
	require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
	var e *fiscope.Error
	require.ErrorAs(t, err, &e)
	assert.False(t, strings.Contains(e.Message+err.Error(), short))
	assert.Empty(t, s.requests)
}

// A panic of the transport, and the error of a Store, may repeat the key.
func TestALogOfWhatOthersSayHoldsNoSecret(t *testing.T) {
	var log bytes.Buffer
	s := newMemoryStore()
	s.fails = errors.New("unknown key " + apiKey)
	broken := func(*http.Request) (*http.Response, error) { panic("boom " + apiKey) }
	client := withStore(t, s, &service{answers: []handler{broken}}, fiscope.WithCoalescing(), fiscope.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	require.Error(t, operations["consultar"](t.Context(), client))
	require.NoError(t, client.Close(t.Context()))
	assert.Contains(t, log.String(), "a call panicked in the background")
	assert.Contains(t, log.String(), "the Store fails")
	assert.False(t, strings.Contains(log.String(), apiKey))
}
