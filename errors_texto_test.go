package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// whatever are errors that a program may have in hand, by name.
func whatever(t *testing.T) map[string]error {
	t.Helper()
	all := maps.Clone(sentinels)
	for name, sentinel := range sentinels {
		all[name+", made by hand"] = &fiscope.Error{Op: fiscope.OpConsultarContribuyente, Message: "El RUC " + rucSUNAT + " no existe, clave " + clave, Err: sentinel}
		all[name+", wrapped"] = fmt.Errorf("customer %s: %w", rucSUNAT, sentinel)
		all[name+", joined"] = errors.Join(io.ErrUnexpectedEOF, fmt.Errorf("%s: %w", apiKey, sentinel))
		all[name+", of a batch"] = &fiscope.LoteDetenido{Posicion: 7, Err: &fiscope.Error{Err: sentinel}}
	}
	all["an error without a class"] = &fiscope.Error{Op: fiscope.OpValidarCPE, Message: "something " + clave}
	all["no error at all, typed"] = (*fiscope.Error)(nil)
	all["no end of a batch, typed"] = (*fiscope.LoteDetenido)(nil)
	all["a batch that stopped for nothing"] = &fiscope.LoteDetenido{Posicion: 1}
	all["a batch that was cancelled"] = &fiscope.LoteDetenido{Err: context.Canceled}
	all["a batch out of time"] = &fiscope.LoteDetenido{Err: fmt.Errorf("the shift is over: %w", context.DeadlineExceeded)}
	all["cancelled"] = context.Canceled
	all["out of time"] = context.DeadlineExceeded
	all["a foreign error"] = errors.New("pq: duplicate key " + rucSUNAT)
	all["a network's error"] = &url.Error{Op: "Get", URL: "https://x/?key=" + apiKey, Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
	all["an empty text"] = errors.New("")

	everywhere := func(name string, answer func(*http.Request) (*http.Response, error)) {
		for op, call := range operations {
			client := newClient(t, roundTripper(answer), fiscope.WithRetry(noRetries()))
			all[op+", "+name] = call(t.Context(), client)
		}
	}
	for _, status := range []int{200, 201, 204, 301, 400, 401, 403, 404, 408, 418, 429, 500, 503} {
		for _, body := range []string{"", "<html>" + apiKey + "</html>", "null", `{"error":"El RUC ` + rucSUNAT + ` y la clave ` + clave + `","code":"X"}`} {
			everywhere(fmt.Sprint(status, " ", body), raw(status, body))
		}
	}
	for _, code := range []string{fiscope.CodeNotFound, fiscope.CodeSearchTooShort, fiscope.CodeInvalidSOLCredentials} {
		everywhere(code, raw(400, `{"error":"`+rucSUNAT+" "+clave+`","code":"`+code+`"}`))
	}
	everywhere("reset", broken(syscall.ECONNRESET))

	client, _ := answers(t, raw(200, record))
	all["a RUC of ten digits"] = second(client.Contribuyentes.Consultar(t.Context(), "2013131295"))
	all["a nil option"] = second(client.Contribuyentes.Consultar(t.Context(), rucSUNAT, nil))
	all["a rate that is to come"] = second(client.TipoCambio.SUNAT(t.Context(), fiscope.HoyEnLima().AddDays(9)))
	all["not a RUC"] = fiscope.ValidarRUC(rucSUNAT + "0")
	all["not a series"] = second2(fiscope.ParseSerieNumero(rucSUNAT))
	all["not a code"] = second(fiscope.ParseQR(rucSUNAT + "|" + clave))
	all["not a client"] = second(fiscope.NewClient("ftp://"+apiKey, apiKey))
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Nanosecond, errors.New(clave))
	defer cancel()
	<-ctx.Done()
	all["a call out of time"] = second(client.Contribuyentes.Consultar(ctx, rucSUNAT))
	for _, err := range client.Contribuyentes.ConsultarLote(ctx, slices.Values([]string{rucSUNAT}), fiscope.LotePolicy{}) {
		all["the end of a batch"] = err
	}
	return all
}

func second2[A, B any](_ A, _ B, err error) error { return err }

// Words that would show that a text is English, or the error's own.
var notForAClerk = regexp.MustCompile(`(?i)\b(the|and|not|error|request|invalid|timeout|service|response|quota|unauthorized|context|deadline|http|json|api|fiscope|nil|token)\b|[0-9]{3}`)

func TestWhatAClerkReads(t *testing.T) {
	texts := map[string]bool{}
	for name, err := range whatever(t) {
		if err == nil {
			continue // the operation succeeded
		}
		text := fiscope.TextoParaUsuario(err)
		texts[text] = true
		require.NotEmpty(t, text, name)
		assert.NotRegexp(t, notForAClerk, text, name)
		assert.Regexp(t, `^[A-ZÁÉÍÓÚ][^\n\r\t"'<>|{}\\.]*\.$`, text, name)
		assert.LessOrEqual(t, len([]rune(text)), 160, name)
		for _, private := range []string{apiKey, clave, rucSUNAT, rucSUNAT[:6]} {
			assert.NotContains(t, text, private, name)
		}
	}
	assert.Len(t, texts, len(sentinels)+4, "a text for each class, for the two ends of a context, for a program to correct, and for the rest")
	assert.Empty(t, fiscope.TextoParaUsuario(nil))
}

// The text is that of the most specific class.
func TestWhatAClerkReadsIsOfTheClass(t *testing.T) {
	for name, sentinel := range sentinels {
		want := fiscope.TextoParaUsuario(sentinel)
		for _, err := range []error{
			&fiscope.Error{Err: sentinel}, fmt.Errorf("x: %w", sentinel), errors.Join(io.EOF, sentinel),
			&fiscope.LoteDetenido{Err: &fiscope.Error{Err: sentinel}}, fmt.Errorf("y: %w", &fiscope.LoteDetenido{Err: sentinel}),
		} {
			assert.Equal(t, want, fiscope.TextoParaUsuario(err), name)
		}
	}
	assert.Contains(t, fiscope.TextoParaUsuario(fiscope.ErrSearchTooShort), "3 letras")
	assert.Contains(t, fiscope.TextoParaUsuario(fiscope.ErrNotYetPublished), "todavía no se publica")
	assert.NotEqual(t, fiscope.TextoParaUsuario(fiscope.ErrSOLCredentialsBlocked), fiscope.TextoParaUsuario(fiscope.ErrInvalidSOLCredentials))
	assert.Equal(t, fiscope.TextoParaUsuario(io.EOF), fiscope.TextoParaUsuario(strings.NewReader("").UnreadByte()), "foreign errors have one text")
}

// The class alone would send him to correct what is not wrong.
func TestWhatAClerkReadsSaysWhoCanDoSomething(t *testing.T) {
	administrator, input := "avise a quien", fiscope.TextoParaUsuario(fiscope.ErrInvalidRequest)
	for _, status := range []int{402, 405, 409, 411, 413, 414, 415, 431, 451} {
		for op, call := range operations {
			text := fiscope.TextoParaUsuario(call(t.Context(), newClient(t, roundTripper(raw(status, "")))))
			assert.Contains(t, text, administrator, "%s %d", op, status)
			assert.NotEqual(t, input, text)
		}
	}
	for _, status := range []int{400, 422} {
		client, _ := answers(t, raw(status, `{"error":"x","code":"Y"}`))
		assert.Equal(t, input, fiscope.TextoParaUsuario(second(client.Contribuyentes.Consultar(t.Context(), rucSUNAT))))
	}

	client, _ := answers(t, raw(200, record))
	misused := map[string]error{
		"a nil context":  second(client.Contribuyentes.Consultar(nil, rucSUNAT)), //nolint:staticcheck // on purpose
		"a nil option":   second(client.Contribuyentes.Consultar(t.Context(), rucSUNAT, nil)),
		"a wait's limit": second(client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{MaxAttempts: -1})),
		"a reserve":      second(client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithQuotaReserve(-1))),
		"a walk's":       second(client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithProvisional())),
	}
	for _, err := range client.Contribuyentes.ConsultarLote(t.Context(), nil, fiscope.LotePolicy{}) {
		misused["a batch of nothing"] = err
	}
	for _, err := range client.Contribuyentes.ConsultarLote(t.Context(), slices.Values([]string{rucSUNAT}), fiscope.LotePolicy{Concurrency: -1}) {
		misused["a batch's limit"] = err
	}
	for name, err := range misused {
		require.ErrorIs(t, err, fiscope.ErrInvalidRequest, name)
		assert.Contains(t, fiscope.TextoParaUsuario(err), administrator, name)
	}
	assert.Contains(t, misused["a walk's"].Error(), "MasReciente")
}

func TestWhatAClerkReadsOfFewerQueriesAtATime(t *testing.T) {
	spent := fiscope.TextoParaUsuario(fiscope.ErrQuotaExceeded)
	for name, test := range map[string]struct {
		headers []string
		spent   bool
	}{
		"some are left":    {[]string{"Retry-After: 30", "X-RateLimit-Limit: 100", "X-RateLimit-Remaining: 80"}, false},
		"for seconds":      {[]string{"Retry-After: 30"}, false},
		"none is left":     {[]string{"X-RateLimit-Limit: 100", "X-RateLimit-Remaining: 0"}, true},
		"nothing is known": {nil, true},
	} {
		client := newClient(t, roundTripper(raw(429, "", test.headers...)), fiscope.WithRetry(noRetries()))
		text := fiscope.TextoParaUsuario(second(client.Contribuyentes.Consultar(t.Context(), rucSUNAT)))
		assert.Equal(t, test.spent, text == spent, name)
		assert.Equal(t, test.spent, strings.Contains(text, "no quedan"), name)
	}
}

// A 401 that does not say what it refuses may be of the service's key.
func TestWhatAClerkReadsOfABare401(t *testing.T) {
	client, s := answers(t, raw(401, ""))
	for range 3 {
		err := second(client.CPE.Validar(t.Context(), factura, credenciales))
		text := fiscope.TextoParaUsuario(err)
		assert.Contains(t, text, "el acceso de este sistema", err)
		assert.Contains(t, text, "avise a quien", err)
		assert.NotContains(t, text, "orríja", err)
		assert.Regexp(t, `^[^.]*\.$`, text)
	}
	assert.Len(t, s.seen(), 1)

	client, _ = answers(t, raw(401, `{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`))
	for range 2 {
		text := fiscope.TextoParaUsuario(second(client.CPE.Validar(t.Context(), factura, credenciales)))
		assert.Contains(t, text, "corríjalos")
	}
}

// Some errors cannot stand to be asked what they wrap.
func TestAnErrorThatIsNilInsideHasAText(t *testing.T) {
	for _, err := range []error{
		(*url.Error)(nil), (*net.OpError)(nil), (*net.DNSError)(nil), (*fs.PathError)(nil), (*os.SyscallError)(nil), (*fiscope.Error)(nil),
		(*fiscope.LoteDetenido)(nil), fmt.Errorf("x: %w", error((*url.Error)(nil))), errors.Join(io.EOF, (*net.OpError)(nil)),
	} {
		require.NotPanics(t, func() {
			assert.Equal(t, "other", fiscope.ErrorClass(err))
			assert.Equal(t, fiscope.TextoParaUsuario(io.EOF), fiscope.TextoParaUsuario(err))
		}, "%T", err)
	}
}

func ExampleTextoParaUsuario() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	_, err := client.Contribuyentes.Consultar(context.Background(), "2013131295")
	fmt.Println(err) // for the log
	fmt.Println(fiscope.TextoParaUsuario(err))
	// Output:
	// fiscope: Contribuyentes.Consultar: invalid request: ruc must be exactly 11 digits: it has 10; nothing was sent
	// Hay un dato que no es válido: revíselo e intente de nuevo.
}
