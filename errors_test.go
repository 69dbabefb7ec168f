package fiscope_test

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// operations are the calls of the contract, each with valid input.
var operations = map[string]func(context.Context, *fiscope.Client, ...fiscope.CallOption) error{
	"consultar": func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
		_, err := c.Contribuyentes.Consultar(ctx, rucSUNAT, opts...)
		return err
	},
	"buscar": func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
		_, err := c.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: "gloria"}, opts...)
		return err
	},
	"validar": func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
		_, err := c.CPE.Validar(ctx, factura, credenciales, opts...)
		return err
	},
	"tipocambio": func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
		_, err := c.TipoCambio.Consultar(ctx, viernes, opts...)
		return err
	},
	"hoy": func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
		_, err := c.TipoCambio.Hoy(ctx, opts...)
		return err
	},
}

var sentinels = map[string]error{
	"ErrInvalidRequest":        fiscope.ErrInvalidRequest,
	"ErrSearchTooShort":        fiscope.ErrSearchTooShort,
	"ErrNotFound":              fiscope.ErrNotFound,
	"ErrNotYetPublished":       fiscope.ErrNotYetPublished,
	"ErrInvalidSOLCredentials": fiscope.ErrInvalidSOLCredentials,
	"ErrSOLCredentialsBlocked": fiscope.ErrSOLCredentialsBlocked,
	"ErrUnauthorized":          fiscope.ErrUnauthorized,
	"ErrQuotaExceeded":         fiscope.ErrQuotaExceeded,
	"ErrUnavailable":           fiscope.ErrUnavailable,
	"ErrMalformedResponse":     fiscope.ErrMalformedResponse,
	"ErrRedirect":              fiscope.ErrRedirect,
}

// classes returns the names of the sentinels that err is.
func classes(err error) []string {
	var names []string
	for name, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			names = append(names, name)
		}
	}
	return names
}

func TestEveryErrorRowOfTheContract(t *testing.T) {
	for name, test := range map[string]struct {
		op, file string
		status   int
		classes  []string
		code     string
	}{
		"lookup, not 11 digits":          {"consultar", "consultar_400.json", 400, []string{"ErrInvalidRequest"}, "INVALID_RUC"},
		"lookup, no such taxpayer":       {"consultar", "consultar_404.json", 404, []string{"ErrNotFound"}, "NOT_FOUND"},
		"search, too short":              {"buscar", "buscar_400_corto.json", 400, []string{"ErrSearchTooShort", "ErrInvalidRequest"}, "SEARCH_TOO_SHORT"},
		"search, limit out of range":     {"buscar", "buscar_400_limite.json", 400, []string{"ErrInvalidRequest"}, "INVALID_LIMIT"},
		"receipt, fields missing":        {"validar", "validar_400_faltan.json", 400, []string{"ErrInvalidRequest"}, "MISSING_FIELDS"},
		"receipt, malformed RUC":         {"validar", "validar_400_ruc.json", 400, []string{"ErrInvalidRequest"}, "INVALID_RUC"},
		"receipt, wrong credentials":     {"validar", "validar_401.json", 401, []string{"ErrInvalidSOLCredentials"}, "INVALID_SOL_CREDENTIALS"},
		"receipt, authority is down":     {"validar", "validar_500.json", 500, []string{"ErrUnavailable"}, "SUNAT_UNAVAILABLE"},
		"exchange rate, not a date":      {"tipocambio", "tipocambio_400.json", 400, []string{"ErrInvalidRequest"}, "INVALID_DATE"},
		"exchange rate, none":            {"tipocambio", "tipocambio_404.json", 404, []string{"ErrNotFound"}, "NOT_FOUND"},
		"exchange rate of today, no yet": {"hoy", "tipocambio_404.json", 404, []string{"ErrNotFound"}, "NOT_FOUND"},
	} {
		t.Run(name, func(t *testing.T) {
			client, s := answers(t, raw(test.status, contract(t, test.file)))
			err := operations[test.op](t.Context(), client)
			require.Error(t, err)
			assert.ElementsMatch(t, test.classes, classes(err))
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, test.status, e.StatusCode)
			assert.Equal(t, test.code, e.Code)
			assert.NotEmpty(t, e.Message)
			assert.Equal(t, fiscope.DeliveryAnswered, e.Delivery)
			assert.Equal(t, 1, e.Attempts)
			assert.Equal(t, contract(t, test.file), string(e.Body()))
			assert.Len(t, s.seen(), 1, "one query, not more")
		})
	}
}

func TestTheCodeDecidesFirstAndThenTheStatus(t *testing.T) {
	for name, test := range map[string]struct {
		status  int
		body    string
		classes []string
	}{
		"NOT_FOUND under another status":        {400, `{"error":"no","code":"NOT_FOUND"}`, []string{"ErrNotFound"}},
		"SEARCH_TOO_SHORT under another status": {422, `{"error":"no","code":"SEARCH_TOO_SHORT"}`, []string{"ErrSearchTooShort", "ErrInvalidRequest"}},
		"SOL credentials under another status":  {403, `{"error":"no","code":"INVALID_SOL_CREDENTIALS"}`, []string{"ErrInvalidSOLCredentials"}},
		"a code within error":                   {404, `{"error":{"message":"no","code":"NOT_FOUND"}}`, []string{"ErrNotFound"}},
		"a code beside members of odd shape":    {404, `{"code":"NOT_FOUND","message":{},"errors":{"ruc":["no"]}}`, []string{"ErrNotFound"}},
		"a 404 of another server":               {404, `<html><title>404 Not Found</title></html>`, []string{"ErrMalformedResponse"}},
		"a 404 with another code":               {404, `{"error":"no","code":"NO_ROUTE"}`, []string{"ErrMalformedResponse"}},
		"401":                                   {401, `{"error":"no"}`, []string{"ErrUnauthorized"}},
		"403":                                   {403, `{"error":"no"}`, []string{"ErrUnauthorized"}},
		"a 403 of a firewall":                   {403, `<html>`, []string{"ErrUnavailable"}},
		"408":                                   {408, ``, []string{"ErrUnavailable"}},
		"409":                                   {409, `{"code":"X"}`, []string{"ErrInvalidRequest"}},
		"429":                                   {429, `{"error":"no"}`, []string{"ErrQuotaExceeded"}},
		"500":                                   {500, `{"error":"no"}`, []string{"ErrUnavailable"}},
		"501":                                   {501, ``, []string{"ErrUnavailable"}},
		"301":                                   {301, ``, []string{"ErrRedirect"}},
		"204, no success of the contract":       {204, ``, []string{"ErrMalformedResponse"}},
		"201":                                   {201, record, []string{"ErrMalformedResponse"}},
		"an unknown status":                     {999, ``, []string{"ErrMalformedResponse"}},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, raw(test.status, test.body))
			_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
			assert.ElementsMatch(t, test.classes, classes(err))
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, test.status, e.StatusCode)
			assert.Equal(t, fiscope.DeliveryAnswered, e.Delivery)
		})
	}
}

// The service's sentence is shown, wherever it stands, and otherwise what came.
func TestAnErrorShowsASentenceOrWhatCame(t *testing.T) {
	for name, test := range map[string]struct{ body, says string }{ // "" for what came
		"error":                    {`{"error":"falló el RUC 10123456789.","message":"x"}`, `(HTTP 500): the answer says "falló el RUC 10…789."`},
		"error.message":            {`{"error":{"message":"boom"}}`, `(HTTP 500): the answer says "boom"`},
		"message and a code":       {`{"code":"BOOM_1","message":"boom"}`, `(HTTP 500 BOOM_1): the answer says "boom"`},
		"msg":                      {`{"msg":"boom"}`, `(HTTP 500): the answer says "boom"`},
		"detail":                   {`{"type":"about:blank","detail":"boom"}`, `(HTTP 500): the answer says "boom"`},
		"errors[0].message":        {`{"errors":[{"message":"boom"},{"message":"x"}]}`, `(HTTP 500): the answer says "boom"`},
		"a title":                  {"<!doctype html><html><TITLE lang=es>Mantenimiento:\n el ma&ntilde;ana</TITLE><p>x", `(HTTP 500): the answer says "Mantenimiento: el mañana"`},
		"plain text":               {"upstream connect error\r\nor disconnect", `(HTTP 500): the answer says "upstream connect error or disconnect"`},
		"Latin-1":                  {"{\"error\":\"El a\xf1o no existe\"}", `(HTTP 500): the answer says "El año no existe"`},
		"nothing":                  {"", "(HTTP 500): an empty answer"},
		"a page":                   {"<h1>Error</h1><p>interno</p>", ""},
		"a title of code":          {"<title>a&lt;b&gt;c</title>", ""},
		"a JSON string":            {`"boom"`, ""},
		"JSON without a text":      {`{"error":{"text":"boom"}}`, ""},
		"controls":                 {`{"error":"uno\u001b[31mdos"}`, ""},
		"a token":                  {`{"error":"sesión a1b2c3d4e5f6","code":"a1b2c3d4e5f6"}`, ""},
		"a text that would be cut": {"dice" + strings.Repeat(" ", 4090) + "secreto", ""},
		"a long text":              {strings.Repeat("ñ", 201), ""},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, raw(500, test.body))
			err := operations["validar"](t.Context(), client)
			says := cmp.Or(test.says, fmt.Sprintf("(HTTP 500): %d bytes of application/json", len(test.body)))
			assert.Equal(t, "fiscope: CPE.Validar: service unavailable "+says, err.Error())
		})
	}
	for media, says := range map[string]string{`text/html; charset="Ñ"`: "1 bytes of text/html", "text/html; charset": "1 bytes", "text/x+" + clave: "1 bytes", "": "1 bytes"} {
		client, _ := answers(t, raw(500, "<", "Content-Type: "+media))
		err := operations["validar"](t.Context(), client)
		assert.True(t, strings.HasSuffix(err.Error(), "(HTTP 500): "+says), "the media type is not as it should be")
	}
}

func TestTheBodyOfAnErrorIsRawAndBounded(t *testing.T) {
	page := "<p>\x00\xff" + strings.Repeat(clave, 500)
	client, _ := answers(t, raw(500, page))
	var e *fiscope.Error
	require.ErrorAs(t, operations["validar"](t.Context(), client), &e)
	assert.True(t, page[:4096] == string(e.Body()), "the body is not as it came")
}

func TestARedirectShowsItsHostAlone(t *testing.T) {
	for location, says := range map[string]string{
		"https://user:pass@ladron.example/robar?x=1": "to the host ladron.example", baseURL + "/otra": "to the host api.fiscope.example",
		"https://" + clave + ".example/": "it repeats a credential", "/robar": "to another address", "http://%zz": "to another address", "": "to another address",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			client, s := answers(t, raw(status, "", "Location: "+location))
			err := operations["validar"](t.Context(), client)
			require.ErrorIs(t, err, fiscope.ErrRedirect, "%d %s", status, location)
			assert.ErrorContains(t, err, says)
			assert.NotRegexp(t, "robar|pass", err.Error())
			assert.False(t, leaks(err.Error(), clave), "the clave in the host's name")
			assert.Len(t, s.seen(), 1, "no request may follow")
		}
	}
}

func TestAConnectionThatFailsIsUnavailable(t *testing.T) {
	client, _ := answers(t, broken(&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}))
	err := operations["validar"](t.Context(), client)
	require.ErrorIs(t, err, fiscope.ErrUnavailable)
	var op *net.OpError
	require.ErrorAs(t, err, &op, "the cause can be asked")
	assert.ErrorContains(t, err, "connection refused")
	var e *fiscope.Error
	require.ErrorAs(t, err, &e)
	assert.Zero(t, e.StatusCode)
	assert.Equal(t, fiscope.DeliveryUnknown, e.Delivery, "this transport reports nothing about its connections")
	assert.Nil(t, e.Body())
}

func TestAnErrorPrintsOneLineForEveryVerb(t *testing.T) {
	client, _ := answers(t, raw(404, contract(t, "consultar_404.json")))
	_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.Error(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		assert.Equal(t, err.Error(), fmt.Sprintf(verb, err))
	}
	assert.True(t, strings.HasPrefix(err.Error(), "fiscope: Contribuyentes.Consultar: not found (HTTP 404 NOT_FOUND): "), err.Error())
	assert.NotContains(t, err.Error(), rucSUNAT)
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestWhatAnErrorSaysToDo(t *testing.T) {
	noHost := func(dns net.DNSError) handler {
		dns.Name = "api.fiscope.example"
		return broken(&net.OpError{Op: "dial", Net: "tcp", Err: &dns})
	}
	online, offline := []string{"check the internet connection; if it works, check the base URL"}, "revise la conexión a internet; si funciona, la dirección (URL) del servicio"
	invalid := func(when string) handler {
		return broken(&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Cert: new(x509.Certificate), Reason: x509.Expired, Detail: "current time is " + when}})
	}
	clock := []string{"check the date and the time of this machine"}
	for name, test := range map[string]struct {
		answer handler
		class  error
		status int // of a service of the caller's
		says   []string
		never  []string
		clerk  string
	}{
		"402":             {raw(402, `{"error":"plan vencido"}`), fiscope.ErrUnauthorized, 502, []string{"plan vencido"}, nil, "acceso de este sistema"},
		"304":             {raw(304, ""), fiscope.ErrMalformedResponse, 502, nil, []string{"redirect"}, ""},
		"503":             {raw(503, `{"error":"mantenimiento"}`, "Retry-After: 120"), fiscope.ErrUnavailable, 503, []string{"try again in 2m0s"}, nil, ""},
		"a firewall":      {raw(403, "<html>", "Content-Type: text/html"), fiscope.ErrUnavailable, 503, []string{"a firewall or proxy refused the call (HTTP 403, text/html)"}, []string{"API key"}, ""},
		"a proxy":         {raw(401, "<html>"), fiscope.ErrUnauthorized, 502, []string{"a proxy may ask for a login"}, nil, ""},
		"its own refusal": {raw(403, "La IP 190.117.20.5 no está autorizada\n", "Content-Type: text/plain"), fiscope.ErrUnavailable, 503, []string{`(HTTP 403): the answer says "La IP 190.117.20.5 no está autorizada"`}, []string{"firewall"}, ""},
		"no such host":    {noHost(net.DNSError{Err: "no such host", IsNotFound: true}), fiscope.ErrUnavailable, 503, online, nil, offline},
		"... of Windows":  {noHost(net.DNSError{Err: "getaddrinfow: The requested name is valid, but no data of the requested type was found."}), fiscope.ErrUnavailable, 503, online, nil, offline},
		"... for a while": {noHost(net.DNSError{Err: "server misbehaving", Server: "127.0.0.53:53", IsTemporary: true}), fiscope.ErrUnavailable, 503, online, nil, offline},
		"not valid yet":   {invalid("2020-01-01T00:00:00Z is before 2026-01-01T00:00:00Z"), fiscope.ErrUnavailable, 503, clock, nil, "revise la fecha y la hora de este equipo"},
		"expired":         {invalid("2027-01-01T00:00:00Z is after 2026-12-31T00:00:00Z"), fiscope.ErrUnavailable, 503, clock, nil, "revise la fecha y la hora de este equipo"},
		"http, not https": {broken(http.ErrSchemeMismatch), fiscope.ErrUnavailable, 503, []string{"check the base URL"}, nil, "revise la dirección (URL) del servicio"},
		"a page with 400": {raw(400, "<html>"), fiscope.ErrInvalidRequest, 500, []string{"check the base URL"}, nil, "avise a quien"},
		"a contradiction": {raw(200, change(record, rucSUNAT, rucEmisor)), fiscope.ErrMalformedResponse, 502, nil, []string{"proxy"}, ""},
	} {
		client := newClient(t, test.answer, fiscope.WithMaxRetries(0))
		err := operations["consultar"](t.Context(), client)
		require.ErrorIs(t, err, test.class, name)
		for _, text := range test.says {
			assert.ErrorContains(t, err, text, name)
		}
		for _, text := range test.never {
			assert.NotContains(t, err.Error(), text, name)
		}
		assert.Contains(t, fiscope.TextoParaUsuario(err), test.clerk, name)
		assert.Equal(t, test.status, fiscope.HTTPStatus(err), name)
	}
}

func TestSlogShowsAnErrorAsFields(t *testing.T) {
	client, _ := answers(t, raw(400, `{"error":"mal","code":"X"}`, "Retry-After: 30"))
	err := operations["consultar"](t.Context(), client)
	var out strings.Builder
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "err", err)
	for _, field := range []string{"err.op=Contribuyentes.Consultar", "err.class=invalid_request", "err.status=400", "err.code=X", "err.delivery=answered", "err.attempts=1", "err.retryAfter=30s"} {
		assert.Contains(t, out.String(), field)
	}
	out.Reset()
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "err", fiscope.ValidarRUC("1"))
	assert.Contains(t, out.String(), "err.field=ruc")
	assert.NotContains(t, out.String(), "retryAfter")
}

// A test that fakes the client makes the errors by hand.
func TestAnErrorMadeByHandIsOfItsClass(t *testing.T) {
	inner := &fiscope.Error{Op: fiscope.OpConsultarContribuyente, StatusCode: 404, Code: "NOT_FOUND", Delivery: fiscope.DeliveryAnswered, Err: fiscope.ErrNotFound}
	for name, test := range map[string]struct {
		err     error
		classes []string
		says    string
	}{
		"a class":                     {fiscope.ErrUnavailable, []string{"ErrUnavailable"}, "fiscope: Contribuyentes.Consultar: service unavailable; nothing was sent"},
		"a class with advice":         {fiscope.ErrUnauthorized, []string{"ErrUnauthorized"}, "fiscope: Contribuyentes.Consultar: unauthorized; check the API key; nothing was sent"},
		"a class within another":      {fiscope.ErrSearchTooShort, []string{"ErrSearchTooShort", "ErrInvalidRequest"}, "fiscope: Contribuyentes.Consultar: search text too short; nothing was sent"},
		"a wrapped class":             {fmt.Errorf("the fake: %w", fiscope.ErrNotFound), []string{"ErrNotFound"}, "fiscope: Contribuyentes.Consultar: the fake: fiscope: not found; nothing was sent"},
		"another error of the client": {inner, []string{"ErrNotFound"}, "fiscope: Contribuyentes.Consultar: Contribuyentes.Consultar: not found (HTTP 404 NOT_FOUND); nothing was sent"},
		"any error":                   {io.ErrUnexpectedEOF, nil, "fiscope: Contribuyentes.Consultar: unexpected EOF; nothing was sent"},
		"several lines":               {errors.New("uno\ndos 20131312955"), nil, "fiscope: Contribuyentes.Consultar: uno dos 20…955; nothing was sent"},
		"none":                        {nil, nil, "fiscope: Contribuyentes.Consultar: failed; nothing was sent"},
	} {
		t.Run(name, func(t *testing.T) {
			err := error(&fiscope.Error{Op: fiscope.OpConsultarContribuyente, Err: test.err})
			assert.ElementsMatch(t, test.classes, classes(err))
			assert.ElementsMatch(t, test.classes, classes(fmt.Errorf("wrapped: %w", err)))
			assert.Equal(t, test.says, err.Error())
			assert.Equal(t, test.says, fmt.Sprintf("%+v", err))
		})
	}
}

func TestANilErrorDoesNotPanic(t *testing.T) {
	var e *fiscope.Error
	assert.NotErrorIs(t, e, fiscope.ErrNotFound)
	assert.Nil(t, e.Body())
	assert.Empty(t, e.Unwrap())
	assert.Equal(t, "<nil> <nil>", fmt.Sprintf("%s %+v", e, e))
	client, _ := answers(t, broken(e))
	require.Error(t, second(client.Contribuyentes.Consultar(t.Context(), rucSUNAT)))

	for name, stopped := range map[string]*fiscope.LoteDetenidoError{"nil": nil, "without a reason": {}} {
		assert.NotErrorIs(t, stopped, fiscope.ErrQuotaExceeded, name)
		assert.NotEmpty(t, fmt.Sprint(stopped), name)
		assert.NoError(t, stopped.Unwrap(), name)
	}
}

func TestALoteDetenidoMadeByHand(t *testing.T) {
	stopped := error(&fiscope.LoteDetenidoError{Siguiente: 7, Err: &fiscope.Error{Op: fiscope.OpConsultarContribuyente, Err: fiscope.ErrQuotaExceeded}})
	require.ErrorIs(t, stopped, fiscope.ErrQuotaExceeded)
	assert.Equal(t, "fiscope: the batch stopped before position 7: Contribuyentes.Consultar: quota exceeded; nothing was sent", stopped.Error())
}

func TestADeliveryPrintsInWords(t *testing.T) {
	for d, text := range map[fiscope.Delivery]string{0: "not sent", 1: "answered", 2: "unknown", 9: "Delivery(9)"} {
		assert.Equal(t, text, d.String())
	}
}
