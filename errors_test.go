package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

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
		"lookup, no such taxpayer":       {"consultar", "consultar_404.json", 404, []string{"ErrNotFound"}, fiscope.CodeNotFound},
		"search, too short":              {"buscar", "buscar_400_corto.json", 400, []string{"ErrSearchTooShort", "ErrInvalidRequest"}, fiscope.CodeSearchTooShort},
		"search, limit out of range":     {"buscar", "buscar_400_limite.json", 400, []string{"ErrInvalidRequest"}, "INVALID_LIMIT"},
		"receipt, fields missing":        {"validar", "validar_400_faltan.json", 400, []string{"ErrInvalidRequest"}, "MISSING_FIELDS"},
		"receipt, malformed RUC":         {"validar", "validar_400_ruc.json", 400, []string{"ErrInvalidRequest"}, "INVALID_RUC"},
		"receipt, wrong credentials":     {"validar", "validar_401.json", 401, []string{"ErrInvalidSOLCredentials"}, fiscope.CodeInvalidSOLCredentials},
		"receipt, authority is down":     {"validar", "validar_500.json", 500, []string{"ErrUnavailable"}, "SUNAT_UNAVAILABLE"},
		"exchange rate, not a date":      {"tipocambio", "tipocambio_400.json", 400, []string{"ErrInvalidRequest"}, "INVALID_DATE"},
		"exchange rate, none":            {"tipocambio", "tipocambio_404.json", 404, []string{"ErrNotFound"}, fiscope.CodeNotFound},
		"exchange rate of today, no yet": {"hoy", "tipocambio_404.json", 404, []string{"ErrNotFound"}, fiscope.CodeNotFound},
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
		"the code NOT_FOUND under another status": {400, `{"error":"no","code":"NOT_FOUND"}`, []string{"ErrNotFound"}},
		"SEARCH_TOO_SHORT under another status":   {422, `{"error":"no","code":"SEARCH_TOO_SHORT"}`, []string{"ErrSearchTooShort", "ErrInvalidRequest"}},
		"SOL credentials under another status":    {403, `{"error":"no","code":"INVALID_SOL_CREDENTIALS"}`, []string{"ErrInvalidSOLCredentials"}},
		"a 404 of another server":                 {404, `<html><title>404 Not Found</title></html>`, []string{"ErrMalformedResponse"}},
		"a 404 with another code":                 {404, `{"error":"no","code":"NO_ROUTE"}`, []string{"ErrMalformedResponse"}},
		"401":                                     {401, `{"error":"no"}`, []string{"ErrUnauthorized"}},
		"403":                                     {403, ``, []string{"ErrUnauthorized"}},
		"408":                                     {408, ``, []string{"ErrUnavailable"}},
		"409":                                     {409, `{"code":"X"}`, []string{"ErrInvalidRequest"}},
		"429":                                     {429, `{"error":"no"}`, []string{"ErrQuotaExceeded"}},
		"500":                                     {500, `{"error":"no"}`, []string{"ErrUnavailable"}},
		"501":                                     {501, ``, []string{"ErrUnavailable"}},
		"301":                                     {301, ``, []string{"ErrRedirect"}},
		"204, which is no success of the contract": {204, ``, []string{"ErrMalformedResponse"}},
		"201":                                    {201, `{"ruc":"20131312955"}`, []string{"ErrMalformedResponse"}},
		"an error body with status 200":          {200, `{"error":"no","code":"NOT_FOUND"}`, []string{"ErrNotFound"}},
		"an error without a code and status 200": {200, `{"error":"algo"}`, []string{"ErrMalformedResponse"}},
		"a record with an error and status 200":  {200, `{"ruc":"20131312955","razonSocial":"","estado":"","condicion":"","error":"no","code":"NOT_FOUND"}`, []string{"ErrNotFound"}},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, raw(test.status, test.body))
			_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
			require.Error(t, err)
			assert.ElementsMatch(t, test.classes, classes(err))
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, test.status, e.StatusCode)
		})
	}
}

func TestASearchLearnsFromAnErrorBodyWithStatus200(t *testing.T) {
	client, _ := answers(t, raw(200, `{"error":"muy corto","code":"SEARCH_TOO_SHORT"}`))
	_, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "gloria"})
	require.ErrorIs(t, err, fiscope.ErrSearchTooShort)
}

func TestABodyThatIsNoErrorBecomesOneUsefulLine(t *testing.T) {
	for name, test := range map[string]struct {
		status     int
		body, says string
	}{
		"an HTML page":            {403, "<!doctype html><html><head><title>403 - Acceso\n denegado &amp; bloqueado</title></head><body>x</body></html>", "403 - Acceso denegado & bloqueado"},
		"a page without a title":  {500, "<h1>Error</h1><script>var x=1</script><p>interno</p>", "Error interno"},
		"scripts and styles":      {500, "<STYLE>p{}</STYLE><p>uno<SCRIPT src=x>var y</SCRIPT > dos</p><script>z", "uno dos"},
		"an empty title":          {500, "<TITLE> </TITLE><p>texto", "texto"},
		"plain text":              {500, "upstream connect error\r\nor disconnect", "upstream connect error or disconnect"},
		"a JSON string":           {500, `"boom"`, "boom"},
		"another JSON":            {500, `{"message":"boom"}`, "boom"},
		"Latin-1":                 {500, "{\"error\":\"El a\xf1o no existe\"}", "El año no existe"},
		"an error that is object": {500, `{"error":{"text":"boom"}}`, `{"text":"boom"}`},
		"empty":                   {500, "", "HTTP 500"},
		"controls and bidi":       {500, "{\"error\":\"uno\\u0000\\u001b[31m\\u202edos\\u200b\\ntres\"}", "uno[31mdos tres"},
		"a RUC":                   {500, `{"error":"falló el RUC 10123456789."}`, "falló el RUC 10…789."},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, raw(test.status, test.body))
			err := operations["validar"](t.Context(), client)
			require.Error(t, err)
			assert.Contains(t, err.Error(), test.says)
			assert.NotContains(t, err.Error(), "\n")
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, test.status, e.StatusCode)
		})
	}
}

func TestTheServersTextIsCutAt300Runes(t *testing.T) {
	client, _ := answers(t, raw(500, `{"error":"`+strings.Repeat("ñ", 5000)+`"}`))
	err := operations["validar"](t.Context(), client)
	var e *fiscope.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, strings.Repeat("ñ", 300)+"…", e.Message)
	assert.LessOrEqual(t, len(e.Body()), 4096)
	assert.True(t, utf8.Valid(e.Body()))
}

// A page made to keep a tag stripper busy for minutes is read once.
func TestAHostilePageIsReadOnce(t *testing.T) {
	for name, unit := range map[string]string{"scripts": "<script>", "titles": "<title>", "open tags": "<", "text": "hola ", "the clave": clave, "RUCs": "12345678901 ", "entities": "&lt;", "long words": strings.Repeat("a", 63) + " ", "half a name": "razonrazon", "half a record": `"ruc":`} {
		t.Run(name, func(t *testing.T) {
			for status, class := range map[int]error{500: fiscope.ErrUnavailable, 200: fiscope.ErrMalformedResponse} {
				client, _ := answers(t, raw(status, "<"+strings.Repeat(unit, (1<<20)/len(unit)-1)))
				err := operations["validar"](t.Context(), client)
				require.ErrorIs(t, err, class)
				assert.Less(t, len(err.Error()), 1000)
			}
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	for name, location := range map[string]string{
		"another host":   "https://ladron.example/robar?x=1",
		"the same host":  baseURL + "/otra",
		"relative":       "/otra",
		"with userinfo":  "https://user:pass@ladron.example/",
		"not an address": "http://%zz",
		"none":           "",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			t.Run(fmt.Sprint(name, " ", status), func(t *testing.T) {
				client, s := answers(t, raw(status, "", "Location: "+location))
				err := operations["validar"](t.Context(), client)
				require.ErrorIs(t, err, fiscope.ErrRedirect)
				assert.Len(t, s.seen(), 1, "no request may follow")
				u, perr := url.Parse(location)
				if perr == nil && u.Host != "" {
					assert.ErrorContains(t, err, u.Host)
				}
				assert.NotContains(t, err.Error(), "robar")
				assert.NotContains(t, err.Error(), "pass")
			})
		}
	}
}

func TestAConnectionThatFailsIsUnavailable(t *testing.T) {
	down := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	client, _ := answers(t, broken(down))
	err := operations["validar"](t.Context(), client)
	require.ErrorIs(t, err, fiscope.ErrUnavailable)
	var op *net.OpError
	require.ErrorAs(t, err, &op, "the cause can be asked")
	assert.ErrorContains(t, err, "connection refused")
	var e *fiscope.Error
	require.ErrorAs(t, err, &e)
	assert.Zero(t, e.StatusCode)
	assert.Equal(t, fiscope.DeliveryUnknown, e.Delivery, "this transport tells nothing of its connections")
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

func TestAnAnswerThatBreaksOffIsMalformed(t *testing.T) {
	client, _ := answers(t, func(r *http.Request) (*http.Response, error) {
		resp, _ := raw(200, "")(r)
		resp.ContentLength = 100
		resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"codigo":`), errReader{io.ErrUnexpectedEOF}))
		return resp, nil
	})
	err := operations["validar"](t.Context(), client)
	require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }
