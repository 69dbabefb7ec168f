package fiscope_test

import (
	"context"
	"encoding/json"
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

// header is an answer with one header of the fuzzer's, which net/http would let through.
func header(status int, body, name, value string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := raw(status, body)(r)
		resp.Header[name] = []string{value}
		return resp, err
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "0", "5", "-1", "1.5", "1e309", "99999999999999999999", "NaN", "Sat, 01 Jan 2000 00:00:04 GMT", "Saturday, 01-Jan-00 00:00:04 GMT", "Sat Jan  1 00:00:04 2000", "soon", " 7 ", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		client := newClient(t, roundTripper(header(503, "", "Retry-After", value)), fiscope.WithRetry(noRetries()))
		var e *fiscope.Error
		require.ErrorAs(t, operations["consultar"](t.Context(), client), &e)
		if e.RetryAfter < 0 || e.RetryAfter > 366*24*time.Hour {
			t.Fatalf("a wait of %s", e.RetryAfter)
		}
	})
}

func FuzzRateLimit(f *testing.F) {
	for _, seed := range []string{"", "0", "1000", "-1", "1e3", "99999999999999999999", "2000-01-01T05:00:00Z", "2000-01-01T00:00:00.000-05:00", "946702800", "946702800000", "\xff"} {
		f.Add(seed, seed, seed)
	}
	f.Fuzz(func(t *testing.T, limit, remaining, reset string) {
		client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			resp, err := raw(200, record)(r)
			resp.Header["X-Ratelimit-Limit"], resp.Header["X-Ratelimit-Remaining"], resp.Header["X-Ratelimit-Reset"] = []string{limit}, []string{remaining}, []string{reset}
			return resp, err
		}))
		require.NoError(t, operations["consultar"](t.Context(), client), "garbage never loses the answer")
		r := client.RateLimit()
		require.NotNil(t, r)
		if r.Limit < fiscope.NoHeader || r.Remaining < fiscope.NoHeader {
			t.Fatalf("a number below zero: %+v", r)
		}
		if ahead := time.Until(r.Reset); !r.Reset.IsZero() && (ahead < -time.Minute || ahead > 48*time.Hour) {
			t.Fatalf("a reset %s ahead", ahead)
		}
		require.Equal(t, time.UTC, r.Reset.Location())
	})
}

func FuzzErrorBody(f *testing.F) {
	for _, seed := range []string{"", "null", "{}", `{"error":"x","code":"NOT_FOUND"}`, `{"error":1,"code":[]}`, `{"error":"` + strings.Repeat("ñ", 400) + `"}`, "<html><title>x</title>", "<", "\xff\xfe", "{\"error\":\"\\u202e\\u0000\"}", clave, `{"code":"` + clave + `"}`} {
		f.Add(400, []byte(seed))
		f.Add(200, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 999 {
			t.Skip("not a status that net/http passes on")
		}
		client := newClient(t, roundTripper(raw(status, string(body))), fiscope.WithRetry(noRetries()))
		err := operations["validar"](t.Context(), client)
		if err == nil {
			return
		}
		text := err.Error()
		switch {
		case strings.ContainsAny(text, "\r\n\x00"):
			t.Fatal("more than one line")
		case !utf8.ValidString(text):
			t.Fatal("not UTF-8")
		case utf8.RuneCountInString(text) > 1000:
			t.Fatal("too long a line")
		case strings.Contains(text, clave) || strings.Contains(text, apiKey):
			t.Fatal("a secret is shown")
		}
	})
}

func FuzzFecha(f *testing.F) {
	for _, seed := range []string{"", "2026-11-20", "2026-02-30", "0000-00-00", "9999-12-31", "20261120", "2026-11-20T00:00:00Z", "٢٠٢٦-١١-٢٠"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := fiscope.ParseFecha(text)
		if err != nil {
			require.True(t, got.IsZero())
			return
		}
		require.Equal(t, text, got.String())
		require.True(t, got.Valid())
		require.Zero(t, got.AddDays(1).AddDays(-1).Compare(got))
		stdlib, err := time.Parse(time.DateOnly, text)
		require.NoError(t, err, "the standard library must agree")
		require.Equal(t, stdlib.Weekday(), got.Weekday())
	})
}

func FuzzRates(f *testing.F) {
	for _, seed := range []string{"3.750", `"3.750"`, "0", "-1", "1e5", "1e-5", "1E400", "null", `""`, "3.7500000000000000000001", `"٣"`, "0x1p-2"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, compra, venta string) {
		body := change(change(price, "3.750", compra), "3.760", venta)
		client := newClient(t, roundTripper(raw(200, body)))
		tc, err := client.TipoCambio.Consultar(t.Context(), viernes)
		if err != nil {
			require.Nil(t, tc)
			return
		}
		require.True(t, tc.Compra.IsPositive() && tc.Venta.IsPositive())
		stored, err := json.Marshal(tc)
		require.NoError(t, err)
		require.Less(t, len(stored), 200)
		var again fiscope.TipoCambio
		require.NoError(t, json.Unmarshal(stored, &again))
		require.True(t, again.Compra.Equal(tc.Compra) && again.Venta.Equal(tc.Venta))
	})
}

func FuzzAnswer(f *testing.F) {
	for _, body := range []string{record, results, verdict, price, "null", "", "[]", "{}", "[null]", "<html>", `{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`, record + record, "\xef\xbb\xbf" + record, change(record, "SUNAT", "\xd1"), clave, apiKey, `"` + clave + `"`} {
		for _, status := range []int{200, 204, 302, 401, 404, 429, 500} {
			f.Add(status, []byte(body), "text/html", clave)
		}
	}
	f.Fuzz(func(t *testing.T, status int, body []byte, name, value string) {
		if status < 200 || status > 999 {
			t.Skip("not a status that net/http passes on")
		}
		client := newClient(t, roundTripper(header(status, string(body), http.CanonicalHeaderKey(name), value)), fiscope.WithRetry(noRetries()))
		var resp fiscope.Response
		check := func(nothing bool, err error) {
			if nothing != (err != nil) {
				t.Fatal("a result is nil if and only if the error is not")
			}
			if err != nil {
				var e *fiscope.Error
				if !errors.As(err, &e) {
					t.Fatalf("not an *Error: %T", err)
				}
				shown := strings.Join(append(resp.Warnings, err.Error(), e.Code, e.Message, string(e.Body())), "\n")
				if strings.Contains(shown, apiKey) || e.Op == fiscope.OpValidarCPE && strings.Contains(shown, clave) {
					t.Fatal("a secret is shown")
				}
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

// stored is a Store that holds the same under every name, whoever wrote it, and takes nothing.
type stored struct {
	fiscope.Store
	value []byte
}

func (s stored) Load(context.Context, string) ([]byte, error)                             { return s.value, nil }
func (stored) Save(context.Context, string, []byte, time.Duration) error                  { return nil }
func (stored) Reserve(context.Context, string, int) (r fiscope.Reservation, _ error)      { return r, nil }
func (stored) Settle(context.Context, string, fiscope.Reservation, fiscope.Outcome) error { return nil }

// saving is a Store that hands on what is saved.
type saving struct {
	stored
	saved chan<- []byte
}

func (s saving) Load(context.Context, string) ([]byte, error) { return nil, nil }
func (s saving) Save(_ context.Context, _ string, value []byte, _ time.Duration) error {
	s.saved <- value
	return nil
}

// What a Store holds is an answer to the question, read as one, or nothing.
func FuzzStoredEntry(f *testing.F) {
	ask := func(t testing.TB, store fiscope.Store, answer func(*http.Request) (*http.Response, error), check func(op string, resp fiscope.Response, err error)) {
		client := newClient(t, roundTripper(answer), fiscope.WithRetry(noRetries()), fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store))
		var resp fiscope.Response
		c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
		require.Equal(t, err == nil, c != nil)
		require.True(t, c == nil || c.RUC == rucSUNAT)
		check("consultar", resp, err)
		rs, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "gloria"}, fiscope.WithResponse(&resp))
		require.Equal(t, err == nil, rs != nil)
		check("buscar", resp, err)
		tc, err := client.TipoCambio.Consultar(t.Context(), viernes, fiscope.WithResponse(&resp))
		require.Equal(t, err == nil, tc != nil)
		require.True(t, tc == nil || tc.Fecha == viernes && tc.Venta.IsPositive())
		check("tipocambio", resp, err)
		require.NoError(t, client.Close(t.Context()))
	}
	for _, answer := range []func(*http.Request) (*http.Response, error){raw(200, record), raw(200, results), raw(200, price), raw(404, contract(f, "consultar_404.json"))} {
		saved := make(chan []byte, 3)
		ask(f, saving{saved: saved}, answer, func(string, fiscope.Response, error) {})
		close(saved)
		require.NotEmpty(f, saved)
		for value := range saved {
			f.Add(value)
		}
	}
	for _, seed := range []string{"", "null", "{}", "x", `{"v":1,"status":200,"stored":"2026-01-01T00:00:00Z"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		ask(t, stored{value: value}, raw(503, ""), func(op string, resp fiscope.Response, err error) {
			switch {
			case err == nil && !resp.FromCache:
				t.Fatalf("%s: an answer from nowhere", op)
			case err != nil && !errors.Is(err, fiscope.ErrUnavailable) && !errors.Is(err, fiscope.ErrNotFound):
				t.Fatalf("%s: %v", op, err)
			}
		})
	})
}
