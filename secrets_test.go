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

const raro = `Zorro/77+"ñandú&'<x>\` // a secret that every encoder escapes somewhere

// writings are that secret as encoders of servers write it.
var writings = map[string]string{
	"plain":                      raro,
	"in capitals":                strings.ToUpper(raro),
	"decomposed":                 "Zorro/77+\"n\u0303andu\u0301&'<x>\\",
	"Latin-1":                    "Zorro/77+\"\xf1and\xfa&'<x>\\",
	"UTF-8 as Latin-1":           "Zorro/77+\"Ã±andÃº&'<x>\\",
	"JSON in Go":                 `Zorro/77+\"ñandú\u0026'\u003cx\u003e\\`,
	"JSON in ASCII":              `Zorro/77+\"\u00f1and\u00fa&'<x>\\`,
	"JSON in PHP":                `Zorro\/77+\"\u00f1and\u00fa&'<x>\\`,
	"JSON in .NET":               `Zorro/77\u002B\u0022\u00F1and\u00FA\u0026\u0027\u003Cx\u003E\\`,
	"JSON inside JSON":           `Zorro\\\/77+\\\"\\u00f1and\\u00fa&'<x>\\\\`,
	"JSON of a page":             `Zorro/77+\u0026quot;\u0026ntilde;and\u0026uacute;\u0026amp;\u0026#39;\u0026lt;x\u0026gt;\\`,
	"a page, named":              `Zorro/77+&quot;&ntilde;and&uacute;&amp;&apos;&lt;x&gt;\`,
	"a page, decimal":            `Zorro&#47;77&#43;&#34;&#241;and&#250;&#38;&#39;&#60;x&#62;&#92;`,
	"a page, hexadecimal":        `Zorro&#x2F;77&#x2B;&#x22;&#xF1;and&#xFA;&#x26;&#x27;&#x3C;x&#x3E;&#x5C;`,
	"a page, without semicolons": `Zorro/77+&quot&ntilde&#97nd&uacute&amp&#39&ltx&gt\`,
	"a page of a page":           `Zorro/77+&amp;quot;&amp;ntilde;and&amp;#250;&amp;amp;&amp;#39;&amp;lt;x&amp;gt;\`,
	"encodeURIComponent":         `Zorro%2F77%2B%22%C3%B1and%C3%BA%26'%3Cx%3E%5C`,
	"... in small letters":       `Zorro%2f77%2b%22%c3%b1and%c3%ba%26%27%3cx%3e%5c`,
	"... twice":                  `Zorro%252F77%252B%2522%25C3%25B1and%25C3%25BA%2526'%253Cx%253E%255C`,
	"... of Latin-1":             `Zorro%2F77%2B%22%F1and%FA%26'%3Cx%3E%5C`,
	"bytes in hexadecimal":       `Zorro/77+"\xc3\xb1and\xc3\xba&'<x>\`,
	"mixed":                      "Zorro\\/77%2B&quot;\\u00f1an\u200bdÃº&amp;'%253C&#120;>\\\\",
	"with controls between":      "Z\x01or\x00ro/77+\"ñ\u200bandú&\u202e'<x>\\",
	"an encoder that knows no ñ": `Zorro/77+"?and?&'<x>\`,
}

// A person who looks for the secret knows it by "Zorro", which no encoder escapes.
func TestAnEchoInAnyWritingIsNotShown(t *testing.T) {
	places := map[string]func(written string) func(*http.Request) (*http.Response, error){
		"a message": func(w string) func(*http.Request) (*http.Response, error) {
			return raw(400, `{"error":"dice `+w+` aquí","code":"X"}`)
		},
		"a code": func(w string) func(*http.Request) (*http.Response, error) {
			return raw(500, `{"error":"x","code":"`+w+`"}`)
		},
		"a code of another's": func(w string) func(*http.Request) (*http.Response, error) {
			return raw(404, `{"error":{"dice":"`+w+`"},"code":["`+w+`"]}`)
		},
		"a text": func(w string) func(*http.Request) (*http.Response, error) { return raw(500, "dice "+w) },
		"a page": func(w string) func(*http.Request) (*http.Response, error) { return raw(502, "<p>dice "+w+"</p>") },
		"a title": func(w string) func(*http.Request) (*http.Response, error) {
			return raw(502, "<title>dice "+w+"</title>")
		},
		"no answer to this": func(w string) func(*http.Request) (*http.Response, error) { return raw(200, "<p>dice "+w) },
		"a verdict": func(w string) func(*http.Request) (*http.Response, error) {
			return raw(200, `{"codigo":"`+w+`","mensaje":"x","estado":"`+w+`","esValido":true}`)
		},
		"a warning": func(w string) func(*http.Request) (*http.Response, error) {
			return raw(200, change(verdict, "Aceptado", w))
		},
		"headers": func(w string) func(*http.Request) (*http.Response, error) {
			return func(r *http.Request) (*http.Response, error) {
				resp, err := raw(500, "")(r)
				resp.Header["X-Eco"], resp.Header["X-Ratelimit-Reset"] = []string{"a", w}, []string{w}
				resp.Header[http.CanonicalHeaderKey("X-"+w)] = []string{"x"}
				return resp, err
			}
		},
		"an address": func(w string) func(*http.Request) (*http.Response, error) {
			return raw(307, "", "Location: https://otra.example/?q="+w)
		},
		"a cause": func(w string) func(*http.Request) (*http.Response, error) {
			return broken(fmt.Errorf("net/http: HTTP/1.x transport connection broken: malformed HTTP response %q: %w", w, errors.New(w)))
		},
		"an address of ours": func(w string) func(*http.Request) (*http.Response, error) {
			return broken(&url.Error{Op: "Post", URL: "https://x/?k=" + w, Err: errors.New("EOF")})
		},
	}
	for writing, written := range writings {
		for place, answer := range places {
			for _, of := range []string{"key", "clave"} {
				t.Run(writing+", "+place+", the "+of, func(t *testing.T) {
					var seen bytes.Buffer
					key, c := raro, credenciales
					if of == "clave" {
						key, c.Clave = apiKey, fiscope.NewSecreto(raro)
					}
					client, err := fiscope.NewClient(baseURL, key, fiscope.WithRetry(noRetries()),
						fiscope.WithHTTPClient(&http.Client{Transport: roundTripper(answer(written))}),
						fiscope.WithLogger(slog.New(slog.NewJSONHandler(&seen, &slog.HandlerOptions{Level: slog.LevelDebug}))),
						fiscope.WithObserver(func(e fiscope.Event) { fmt.Fprintf(&seen, "%+v %v", e, e.LogValue()) }))
					require.NoError(t, err)
					var resp fiscope.Response
					_, err = client.CPE.Validar(t.Context(), factura, c, fiscope.WithResponse(&resp))
					seen.WriteString(everything(resp) + everything(client))
					var e *fiscope.Error
					if errors.As(err, &e) {
						seen.WriteString(everything(err) + e.Code + e.Message + string(e.Body()))
					}
					text := strings.ToLower(seen.String())
					for _, part := range []string{"zorro", "z\x01", "\x01or", "\\u0001or"} {
						assert.False(t, strings.Contains(text, part), "the secret is shown")
					}
				})
			}
		}
	}
}

func TestASecretCutAtTheEndOfTheReadIsNotShown(t *testing.T) {
	c := credenciales
	c.Clave = fiscope.NewSecreto(raro)
	for writing, written := range writings {
		for cut := range len(written) {
			body := strings.Repeat("x", 200) + " " + written[:cut]
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(500, body+"~and the rest of it is not read")}}
			client := newClient(t, s, fiscope.WithMaxResponseBytes(int64(len(body))))
			_, err := client.CPE.Validar(t.Context(), factura, c)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			shown := strings.TrimLeft(string(e.Body()), "x")
			assert.True(t, shown == " ", "%s: the body ends with a part of the clave after %d bytes", writing, cut)
			assert.False(t, cut > 3 && strings.Contains(err.Error(), written[:4]), "%s: the error ends with a part of the clave", writing)
		}
	}
}

// Error.Body has 4 KiB of a body that was read whole.
func TestASecretCutAtTheEndOfTheBodyIsNotShown(t *testing.T) {
	c := credenciales
	c.Clave = fiscope.NewSecreto(raro)
	for writing, written := range writings {
		for cut := range len(written) {
			client, _ := answers(t, raw(500, strings.Repeat("x", 4095-cut)+" "+written+" y más"))
			_, err := client.CPE.Validar(t.Context(), factura, c)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.True(t, strings.TrimLeft(string(e.Body()), "x") == " ", "%s: the body ends with a part of the clave after %d bytes", writing, cut)
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

// The host of a redirect is shown. A key that a URL would be parted at is not, in part.
func TestALocationThatHoldsTheKeyShowsNoPartOfIt(t *testing.T) {
	for _, key := range []string{"QWxhZGRpbg/ZGR+pbg==", "QWxhZGRpbg?ZGR", "QWxhZGRpbg#ZGR", "QWxhZGRpbg@ZGR", "QWxhZGRpbg:ZGR"} {
		client, err := fiscope.NewClient(baseURL, key, fiscope.WithHTTPClient(&http.Client{
			Transport: &service{answers: []func(*http.Request) (*http.Response, error){raw(302, "", "Location: https://"+key+"/x")}},
		}))
		require.NoError(t, err)
		err = operations["consultar"](t.Context(), client)
		require.ErrorIs(t, err, fiscope.ErrRedirect)
		assert.NotContains(t, err.Error(), "QWxhZGRpbg", key)
	}
}
