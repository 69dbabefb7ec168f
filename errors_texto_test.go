package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
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
		assert.Regexp(t, `^[A-ZÁÉÍÓÚ][^\n\r\t"'<>|{}\\]*\.$`, text, name)
		assert.LessOrEqual(t, len([]rune(text)), 160, name)
		for _, private := range []string{apiKey, clave, rucSUNAT, rucSUNAT[:6]} {
			assert.NotContains(t, text, private, name)
		}
	}
	assert.Len(t, texts, len(sentinels)+3, "a text for each class, for the two ends of a context, and for the rest")
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
	// Hay un dato que no es válido. Revíselo e intente de nuevo.
}
