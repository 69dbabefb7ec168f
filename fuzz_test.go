package fiscope_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// Each target runs its seeds as a test; go test -fuzz=NAME goes on from there. main_test.go sets for how
// long an input is made smaller.

func FuzzRateLimit(f *testing.F) {
	for _, seed := range []string{"", "0", "1000", "-1", "1e3", "99999999999999999999", "2000-01-01T05:00:00Z", "2000-01-01T00:00:00.000-05:00", "946702800", "946702800000", "\xff"} {
		f.Add(seed, seed, seed)
	}
	f.Fuzz(func(t *testing.T, limit, remaining, reset string) {
		client := newClient(t, handler(func(r *http.Request) (*http.Response, error) {
			resp, err := raw(200, record)(r)
			resp.Header["X-Ratelimit-Limit"], resp.Header["X-Ratelimit-Remaining"], resp.Header["X-Ratelimit-Reset"] = []string{limit}, []string{remaining}, []string{reset}
			return resp, err
		}))
		require.NoError(t, operations["consultar"](t.Context(), client), "garbage never loses the answer")
		r := client.RateLimit()
		if r == nil {
			return // an unlimited plan
		}
		if r.Limit != nil && *r.Limit < 0 || r.Remaining != nil && *r.Remaining < 0 {
			t.Fatalf("a number below zero: %+v", r)
		}
		if ahead := time.Until(r.Reset); !r.Reset.IsZero() && (ahead < -time.Minute || ahead > 48*time.Hour) {
			t.Fatalf("a reset %s ahead", ahead)
		}
		require.Equal(t, time.UTC, r.Reset.Location())
	})
}

func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		record, results, verdict, price, "null", "", "[]", "[null]", "<html><title>x</title>", record + record, "\xef\xbb\xbf" + record, change(record, "SUNAT", "\xd1"),
		`{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`, `{"error":1,"code":[],"errors":{}}`, `{"error":"` + strings.Repeat("ñ", 400) + `"}`, `{"error":"\u202e\u0000\n"}`,
		clave, apiKey, `"` + clave + `"`, `{"code":"` + clave + `"}`,
	} {
		for _, status := range []int{200, 204, 302, 401, 404, 429, 500} {
			f.Add(status, []byte(body), "text/html", clave)
		}
	}
	for _, seed := range []string{"", "0", "5", "-1", "1.5", "1e309", "99999999999999999999", "NaN", "Sat, 01 Jan 2000 00:00:04 GMT", "soon", "\x00"} {
		f.Add(503, []byte(nil), "Retry-After", seed)
	}
	f.Fuzz(func(t *testing.T, status int, body []byte, name, value string) {
		if status < 200 || status > 999 {
			t.Skip("not a status that net/http passes on")
		}
		client := newClient(t, handler(func(r *http.Request) (*http.Response, error) {
			resp, err := raw(status, string(body))(r)
			resp.Header[http.CanonicalHeaderKey(name)] = []string{value}
			return resp, err
		}), fiscope.WithMaxRetries(0))
		var resp fiscope.Response
		check := func(nothing bool, err error) {
			if nothing != (err != nil) {
				t.Fatal("a result is nil if and only if the error is not")
			}
			if err == nil {
				return
			}
			var e *fiscope.Error
			if !errors.As(err, &e) {
				t.Fatalf("not an *Error: %T", err)
			}
			text := err.Error()
			shown := strings.Join(append(resp.Warnings, text, e.Code, e.Message), " ")
			switch {
			case strings.ContainsAny(text, "\r\n\x00"), !utf8.ValidString(text), utf8.RuneCountInString(text) > 1000:
				t.Fatal("no line of text")
			case strings.Contains(shown, apiKey) || e.Op == fiscope.OpValidarCPE && strings.Contains(shown, clave):
				t.Fatal("a secret is shown")
			case e.RetryAfter < 0 || e.RetryAfter > 366*24*time.Hour:
				t.Fatalf("a wait of %s", e.RetryAfter)
			}
		}
		c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
		check(c == nil, err)
		rs, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "gloria"}, fiscope.WithResponse(&resp))
		check(rs == nil, err)
		tc, err := client.TipoCambio.Hoy(t.Context(), fiscope.WithResponse(&resp))
		check(tc == nil, err)
		v, err := client.CPE.Validar(t.Context(), factura, credenciales, fiscope.WithResponse(&resp))
		check(v == nil, err)
	})
}
