package fiscope_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestErrorClass(t *testing.T) {
	for err, word := range map[error]string{
		fiscope.ErrNotFound:              "not_found",
		fiscope.ErrNotYetPublished:       "not_yet_published",
		fiscope.ErrSearchTooShort:        "search_too_short",
		fiscope.ErrInvalidRequest:        "invalid_request",
		fiscope.ErrInvalidSOLCredentials: "invalid_sol_credentials",
		fiscope.ErrSOLCredentialsBlocked: "sol_credentials_blocked",
		fiscope.ErrUnauthorized:          "unauthorized",
		fiscope.ErrQuotaExceeded:         "quota_exceeded",
		fiscope.ErrUnavailable:           "unavailable",
		fiscope.ErrMalformedResponse:     "malformed_response",
		fiscope.ErrRedirect:              "redirect",
		context.Canceled:                 "canceled",
		context.DeadlineExceeded:         "deadline_exceeded",
		io.ErrNoProgress:                 "other",
		io.ErrUnexpectedEOF:              "invalid_request",
	} {
		assert.Equal(t, word, fiscope.ErrorClass(err))
		assert.Equal(t, word, fiscope.ErrorClass(fmt.Errorf("the shop: %w", err)))
		assert.Equal(t, word, fiscope.ErrorClass(errors.Join(io.ErrClosedPipe, err)))
	}
	assert.Empty(t, fiscope.ErrorClass(nil))
	for name, sentinel := range sentinels {
		assert.NotEqual(t, "other", fiscope.ErrorClass(sentinel), "%s has a word of its own", name)
	}
}

// Some errors cannot stand to be asked what they wrap.
func TestAnErrorThatIsNilInsideHasAClassAndAText(t *testing.T) {
	for _, err := range []error{
		(*url.Error)(nil), (*net.OpError)(nil), (*fs.PathError)(nil), (*fiscope.Error)(nil), (*fiscope.LoteDetenidoError)(nil),
		fmt.Errorf("x: %w", error((*url.Error)(nil))), errors.Join(io.EOF, (*net.OpError)(nil)),
	} {
		assert.Equal(t, "other", fiscope.ErrorClass(err), "%T", err)
		assert.Equal(t, fiscope.TextoParaUsuario(io.EOF), fiscope.TextoParaUsuario(err), "%T", err)
	}
}

// Words that would show that a text is English, or the error's own.
var notForAClerk = regexp.MustCompile(`(?i)\b(the|and|not|error|request|invalid|timeout|service|response|quota|unauthorized|context|deadline|http|json|api|fiscope|nil|token)\b|[0-9]{3}`)

func TestWhatAClerkReads(t *testing.T) {
	all := []error{context.Canceled, context.DeadlineExceeded, errors.New("pq: duplicate key " + rucSUNAT), errors.New(""), (*fiscope.Error)(nil)}
	for _, sentinel := range sentinels {
		text := fiscope.TextoParaUsuario(sentinel)
		for _, err := range []error{
			&fiscope.Error{Message: "El RUC " + rucSUNAT + " no existe, clave " + clave, Err: sentinel, Delivery: fiscope.DeliveryAnswered},
			fmt.Errorf("customer %s: %w", rucSUNAT, sentinel), errors.Join(io.EOF, sentinel), &fiscope.LoteDetenidoError{Err: &fiscope.Error{Err: sentinel}},
		} {
			assert.Equal(t, text, fiscope.TextoParaUsuario(err), "the text is that of the class")
		}
		all = append(all, sentinel)
	}
	for _, status := range []int{200, 204, 301, 400, 401, 403, 404, 408, 418, 429, 500, 503} {
		for _, body := range []string{"", "null", `{"error":"El RUC ` + rucSUNAT + ` y la clave ` + clave + `","code":"X"}`} {
			client := newClient(t, raw(status, body), fiscope.WithMaxRetries(0))
			for _, op := range []string{"consultar", "validar"} {
				all = append(all, operations[op](t.Context(), client))
			}
		}
	}
	for _, op := range []fiscope.Operation{fiscope.OpConsultarContribuyente, fiscope.OpConsultarTipoCambio, fiscope.OpTipoCambioSUNAT} {
		all = append(all, &fiscope.Error{Op: op, Err: fiscope.ErrNotFound})
	}
	texts := map[string]bool{}
	for _, err := range all {
		text := fiscope.TextoParaUsuario(err)
		texts[text] = true
		assert.NotRegexp(t, notForAClerk, text)
		assert.Regexp(t, `^[A-ZÁÉÍÓÚ][^\n\r\t"'<>|{}\\.]*\.$`, text)
		assert.LessOrEqual(t, len([]rune(text)), 160)
		assert.False(t, strings.Contains(text, clave), "the text shows the clave")
	}
	assert.Len(t, texts, len(sentinels)+7, "a text for each class, for a RUC and a rate that do not exist, for the two ends of a context, for a program to correct, for too fast, and for the rest")
	assert.Empty(t, fiscope.TextoParaUsuario(nil))
	assert.Contains(t, fiscope.TextoParaUsuario(fiscope.ErrSearchTooShort), "3 letras")
	assert.Contains(t, fiscope.TextoParaUsuario(fiscope.ErrNotYetPublished), "todavía no se publica")
}

// jsonError is what the handler of a caller's service gets from a body.
func jsonError(body string, v any) error { return json.NewDecoder(strings.NewReader(body)).Decode(v) }

func TestWriteError(t *testing.T) {
	var input struct{ RUC string }
	brokenBody := newClient(t, broken(io.ErrUnexpectedEOF), fiscope.WithMaxRetries(0))
	busy := func(status int, d time.Duration, left *fiscope.RateLimit) error {
		return fmt.Errorf("x: %w", &fiscope.Error{Err: fiscope.ErrQuotaExceeded, StatusCode: status, RetryAfter: d, RateLimit: left})
	}
	for name, test := range map[string]struct {
		err               error
		status            int
		code, texto, wait string
	}{
		"too fast":               {busy(429, 10*time.Minute, nil), 429, "QUOTA_EXCEEDED", "más despacio", "600"},
		"... and some are left":  {busy(429, 0, &fiscope.RateLimit{Remaining: new(1)}), 429, "QUOTA_EXCEEDED", "más despacio", ""},
		"... and none is left":   {busy(429, 0, &fiscope.RateLimit{Remaining: new(0)}), 429, "QUOTA_EXCEEDED", "no quedan consultas", ""},
		"... for longer":         {busy(429, 10*time.Minute+1, nil), 429, "QUOTA_EXCEEDED", "no quedan consultas", "601"},
		"not found":              {fiscope.ErrNotFound, 404, "NOT_FOUND", "No se encontró", ""},
		"a second":               {busy(0, time.Second, nil), 429, "QUOTA_EXCEEDED", "no quedan consultas", "1"},
		"a part of one":          {busy(0, time.Nanosecond, nil), 429, "QUOTA_EXCEEDED", "no quedan consultas", "1"},
		"more than an hour":      {busy(0, time.Hour+time.Nanosecond, nil), 429, "QUOTA_EXCEEDED", "no quedan consultas", "3601"},
		"of another class":       {&fiscope.Error{Err: io.EOF, RetryAfter: time.Minute}, 500, "OTHER", "no se esperaba", "60"},
		"a nil inside":           {fmt.Errorf("x: %w", error((*url.Error)(nil))), 500, "OTHER", "no se esperaba", ""},
		"the time is over":       {context.DeadlineExceeded, 504, "DEADLINE_EXCEEDED", "Se acabó el tiempo", ""},
		"wrong JSON":             {fmt.Errorf("x: %w", jsonError("{x}", &input)), 400, "INVALID_REQUEST", "Los datos", ""},
		"JSON of another type":   {errors.Join(io.EOF, jsonError(`{"RUC":1}`, &input)), 400, "INVALID_REQUEST", "Los datos", ""},
		"JSON that is cut":       {jsonError(`{"RUC":`, &input), 400, "INVALID_REQUEST", "Los datos", ""},
		"the service's is cut":   {second(brokenBody.Contribuyentes.Consultar(t.Context(), rucSUNAT)), 503, "UNAVAILABLE", "no responde", ""},
		"the service's, by hand": {&fiscope.Error{Err: jsonError("{x}", &input)}, 500, "OTHER", "no se esperaba", ""},
		"both":                   {errors.Join(io.ErrUnexpectedEOF, fiscope.ErrMalformedResponse), 502, "MALFORMED_RESPONSE", "no se puede usar", ""},
		"nil":                    {nil, 200, "", "", ""},
	} {
		w := httptest.NewRecorder()
		fiscope.WriteError(w, test.err)
		assert.Equal(t, test.status, w.Code, name)
		assert.Equal(t, test.wait, w.Header().Get("Retry-After"), name)
		assert.Equal(t, "application/json; charset=utf-8", w.Header().Get("Content-Type"), name)
		var body map[string]string
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body), name)
		assert.Contains(t, body["error"], test.texto, name)
		assert.Equal(t, map[string]string{"error": fiscope.TextoParaUsuario(test.err), "code": test.code}, body, name)
	}
}

func ExampleTextoParaUsuario() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer func() { _ = client.Close(context.Background()) }()

	_, err := client.Contribuyentes.Consultar(context.Background(), "2013131295")
	fmt.Println(err) // for the log
	fmt.Println(fiscope.TextoParaUsuario(err))
	// Output:
	// fiscope: Contribuyentes.Consultar: invalid request: ruc must be exactly 11 digits: it has 10; nothing was sent
	// El RUC no es válido: tiene 10 dígitos y son 11.
}
