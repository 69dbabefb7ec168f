package fiscope_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

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
		fmt.Fprintln(&out, errors.Join(err, errors.New("x")), fmt.Errorf("x: %w", err))
		for e := err; e != nil; e = errors.Unwrap(e) {
			fmt.Fprintf(&out, "%v %+v %#v\n", e, e, e)
		}
		if many, ok := v.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				fmt.Fprintf(&out, "%v %+v %#v\n", e, e, e)
			}
		}
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).With("a", v).WithGroup("g").Info("x", "b", v, slog.Group("c", "d", v), "e", []any{v}, "f", map[string]any{"g": v}, "h", struct{ V any }{v})
	}
	if b, err := json.Marshal(v); err == nil {
		out.Write(b)
	}
	if m, ok := v.(interface{ MarshalText() ([]byte, error) }); ok {
		b, _ := m.MarshalText()
		out.Write(b)
	}
	return out.String()
}

// leaks reports whether a text holds the secret in any of the forms that a person or a program can read.
func leaks(text, secret string) bool {
	quoted, _ := json.Marshal(secret)
	forms := []string{
		secret, string(quoted[1 : len(quoted)-1]), url.QueryEscape(secret), url.PathEscape(secret), html.EscapeString(secret),
		fmt.Sprintf("%x", secret), fmt.Sprintf("%q", secret)[1 : len(fmt.Sprintf("%q", secret))-1],
		fmt.Sprintf("%+q", secret)[1 : len(fmt.Sprintf("%+q", secret))-1], fmt.Sprintf("%v", []byte(secret)),
	}
	lower := strings.ToLower(text)
	for _, form := range forms {
		if strings.Contains(lower, strings.ToLower(form)) {
			return true
		}
	}
	return false
}

func randomSecret(random *rand.Rand) string {
	alphabet := []rune(`abcXYZ019$%&/\"'<>+= .ñÑé€#?{}`)
	secret := make([]rune, 8+random.IntN(56))
	for i := range secret {
		secret[i] = alphabet[random.IntN(len(alphabet))]
	}
	return "k" + string(secret) + "k" // no blanks around it: an API key has none
}

// echo puts a secret into an answer in the ways that servers do.
func echoes(random *rand.Rand, secret string) []func(*http.Request) (*http.Response, error) {
	quoted, _ := json.Marshal(secret)
	inner := string(quoted[1 : len(quoted)-1])
	hidden := strings.Join(strings.Split(inner, ""), "\u200b")
	if strings.ContainsAny(inner, `\`) {
		hidden = inner
	}
	return []func(*http.Request) (*http.Response, error){
		raw(400, `{"error":"clave `+inner+` errada","code":"BAD_`+inner+`"}`),
		raw(400, `{"error":"`+hidden+`","code":"`+strings.ToUpper(inner)+`"}`),
		raw(500, "upstream said "+secret, "X-Echo: "+strings.ToValidUTF8(secret, ""), "X-Query: "+url.QueryEscape(secret)),
		raw(500, "<html><title>"+html.EscapeString(secret)+"</title></html>"),
		raw(502, "<p>"+url.QueryEscape(secret)+" "+url.PathEscape(secret)),
		raw(200, `{"codigo":"`+inner+`","mensaje":"x","estado":"`+inner+`","esValido":true}`),
		raw(200, `{"ruc":"`+inner+`","razonSocial":"x","estado":"x","condicion":"x","compra":1,"venta":1,"moneda":"`+inner+`","fecha":"`+inner+`"}`),
		raw(200, `[{"ruc":"`+inner+`"`),
		raw(200, strings.Repeat(" ", random.IntN(5000))+secret, "X-RateLimit-Remaining: "+secret),
		raw(302, "", "Location: https://example.com/"+url.PathEscape(secret)+"?q="+url.QueryEscape(secret)),
		raw(200, change(price, "2026-11-20", inner)),
		raw(200, change(price, "3.750", `"`+inner+`"`)),
		broken(errors.New("malformed HTTP response \"" + secret + "\"")),
		broken(&url.Error{Op: "Get", URL: "https://x/?k=" + url.QueryEscape(secret), Err: errors.New("x")}),
	}
}

func TestNoOutputHoldsASecret(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for range 8 {
		key, clave := strings.Map(func(r rune) rune { return max(r, ' ') }, randomSecret(random)), randomSecret(random)
		c := credenciales
		c.Clave = fiscope.NewSecreto(clave)
		for _, secret := range []string{key, clave} {
			for i, answer := range echoes(random, secret) {
				var seen bytes.Buffer
				client, err := fiscope.NewClient(baseURL, key,
					fiscope.WithHTTPClient(&http.Client{Transport: roundTripper(answer)}),
					fiscope.WithLogger(slog.New(slog.NewJSONHandler(&seen, &slog.HandlerOptions{Level: slog.LevelDebug}))),
					fiscope.WithObserver(func(e fiscope.Event) { fmt.Fprintf(&seen, "%+v %v", e, e.LogValue()) }),
					fiscope.WithRetry(noRetries()))
				require.NoError(t, err)
				var resp fiscope.Response
				_, err = client.CPE.Validar(t.Context(), factura, c, fiscope.WithResponse(&resp))
				require.Error(t, err)
				errs := []error{err}
				if secret == key { // a clave can only be echoed to the call that has it
					for _, do := range operations {
						if err := do(t.Context(), client); err != nil {
							errs = append(errs, err)
						}
					}
				}
				for _, err := range errs {
					var e *fiscope.Error
					require.ErrorAs(t, err, &e)
					seen.Write(e.Body())
					seen.WriteString(everything(err) + e.Code + e.Message)
				}
				seen.WriteString(everything(resp) + everything(&resp) + everything(client) + everything(c) + everything(client.Stats()))
				for _, planted := range []string{key, clave} {
					if leaks(seen.String(), planted) {
						t.Fatalf("seed %d: an output holds a secret after answer %d", seed, i)
					}
				}
			}
		}
	}
}

func TestAnEchoInDisguiseIsNotShown(t *testing.T) {
	const long = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	for name, test := range map[string]struct {
		secret, part string
		answer       func(*http.Request) (*http.Response, error)
	}{
		"letter by letter":             {"secreta-123", "secreta-123", raw(400, `{"error":"`+strings.Join(strings.Split("secreta-123", ""), "\u200b")+`"}`)},
		"with two blanks, JSON inside": {`se  cre"ta`, `cre\"`, raw(500, `upstream said "se  cre\"ta"`)},
		"in capitals":                  {"secreta-123", "SECRETA", raw(500, "SECRETA-123")},
		"cut in a contradiction":       {long, long[:8], raw(200, `{"codigo":"`+long+`","mensaje":"x","estado":"x","esValido":true}`)},
		"cut in a message":             {long, long[:8], raw(500, strings.Repeat("x", 290)+long)},
		"after much else":              {long, long[:8], raw(500, strings.Repeat("<b>", 21844)+"<"+long)},
		"in an address":                {long, long[:8], raw(302, "", "Location: https://"+strings.ToLower(long[10:36])+".example/")},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, test.answer)
			err := validar(t.Context(), client, test.secret)
			require.Error(t, err)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.False(t, strings.Contains(err.Error()+string(e.Body()), test.part), "a part of the clave is shown")
		})
	}
	t.Run("cut in a warning", func(t *testing.T) {
		s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, change(verdict, "Aceptado", long))}}
		c := credenciales
		c.Clave = fiscope.NewSecreto(long)
		var resp fiscope.Response
		_, err := newClient(t, s).CPE.Validar(t.Context(), factura, c, fiscope.WithResponse(&resp))
		require.NoError(t, err)
		require.Len(t, resp.Warnings, 1)
		assert.False(t, strings.Contains(resp.Warnings[0], long[:8]), "a part of the clave is shown")
	})
}

func TestASecretCutAtTheEndOfTheReadIsNotShown(t *testing.T) {
	for cut := range len(clave) {
		body := strings.Repeat("x", 200) + clave[:cut]
		s := &service{answers: []func(*http.Request) (*http.Response, error){raw(500, body+"and the rest of it is not read")}}
		client := newClient(t, s, fiscope.WithMaxResponseBytes(int64(len(body))))
		err := operations["validar"](t.Context(), client)
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		shown := strings.TrimRight(string(e.Body()), "x")
		assert.True(t, shown == "", "the body ends with a part of the clave")
		if cut > 3 {
			assert.False(t, strings.Contains(err.Error(), clave[:cut]), "the error ends with a part of the clave")
		}
	}
}

func TestAShortSecretWithholdsTheWholeText(t *testing.T) {
	client, _ := answers(t, raw(400, `{"error":"la clave es abc","code":"X"}`))
	err := validar(t.Context(), client, "abc")
	assert.ErrorContains(t, err, "text withheld")
	assert.False(t, strings.Contains(err.Error(), "abc"), "the error shows the clave")
}

func TestTheServersTextKeepsItsAccents(t *testing.T) {
	client, _ := answers(t, raw(400, `{"error":"El año de inscripción de la COMPAÑÍA no es válido","code":"X"}`))
	err := operations["validar"](t.Context(), client)
	assert.ErrorContains(t, err, "El año de inscripción de la COMPAÑÍA no es válido")
}

// What the runtime prints of a panic is an output too.
func TestAPanicDoesNotShowASecret(t *testing.T) {
	const what = "FISCOPE_TEST_PANIC"
	client, _ := answers(t, raw(400, `{"error":"clave `+clave+`"}`))
	switch os.Getenv(what) {
	case "error":
		panic(operations["validar"](context.Background(), client))
	case "client":
		panic(client)
	case "credentials":
		panic(credenciales)
	case "transport":
		client = newClient(t, roundTripper(func(*http.Request) (*http.Response, error) { panic("in the transport") }))
		_ = operations["validar"](context.Background(), client)
	}
	for _, panics := range []string{"error", "client", "credentials", "transport"} {
		t.Run(panics, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestAPanicDoesNotShowASecret$")
			cmd.Env = append(os.Environ(), what+"="+panics, "GOTRACEBACK=all")
			out, err := cmd.CombinedOutput()
			require.Error(t, err)
			require.Contains(t, string(out), "panic:")
			assert.False(t, leaks(string(out), clave) || leaks(string(out), apiKey), "the panic shows a secret")
		})
	}
}
