package contracttest

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/conformance"
	"github.com/fiscope/fiscope/internal/testservice"
	"github.com/fiscope/fiscope/mockserver"
)

// What a server of FISCOPE_BASE_URL and FISCOPE_API_KEY has, as the suite's flags of the same names.
var (
	serverRUC    = flag.String("ruc", "", "a RUC that exists")
	serverSearch = flag.String("search", "", "a text with more than ten matches")
	serverFecha  = flag.String("fecha", "", "a business day with a rate")
	serverCPE    = flag.String("cpe", "", "a file with receipts and one secondary SOL user")
)

// judging carries what the suite sends, and judges what comes by openapi.yaml.
type judging struct {
	contract *contract
	key      string
	base     string // the path before /api
	next     http.RoundTripper
	strict   bool // a 400 is for the requests that the document refuses, and for no others
	wrong    []string
}

func (j *judging) RoundTrip(req *http.Request) (*http.Response, error) {
	asked := req.Clone(req.Context())
	if req.GetBody != nil {
		asked.Body, _ = req.GetBody()
	}
	resp, err := j.next.RoundTrip(req)
	if err != nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	resp.Body = io.NopCloser(bytes.NewReader(body))
	sent := req.Header["X-API-KEY"]                  //nolint:staticcheck // as the suite writes it, and the contract
	if err != nil || !slices.Contains(sent, j.key) { // what refuses a key is open
		return resp, err
	}
	asked.Header.Set("X-API-KEY", j.key) // as the validator looks for it
	asked.URL.Path = strings.TrimPrefix(asked.URL.Path, j.base)
	err = j.contract.checkReply(asked, reply{resp.StatusCode, resp.Header, body})
	if err == nil && j.strict {
		if err = j.contract.checkRequest(asked); resp.StatusCode == http.StatusBadRequest && err == nil {
			err = errors.New("the document permits what was refused")
		} else if resp.StatusCode == http.StatusBadRequest {
			err = nil
		}
	}
	if err != nil && len(j.wrong) < 20 {
		j.wrong = append(j.wrong, fmt.Sprintf("%s %s, %d: %v", req.Method, asked.URL.RequestURI(), resp.StatusCode, err))
	}
	return resp, nil
}

// receipts are of the mock's own data, one of each codigo and type.
var receipts = &conformance.CPE{
	Comprobantes: []conformance.Comprobante{
		{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 123, Codigo: "0"},
		{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 124, Codigo: "2"},
		{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 125, Codigo: "4"},
		{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 126, Codigo: "98"},
		{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 127, Codigo: "99"},
		{RUCEmisor: "20100070970", Tipo: "03", Serie: "B001", Numero: 4567, Codigo: "0"},
		{RUCEmisor: "20100070970", Tipo: "07", Serie: "F001", Numero: 15, Codigo: "0"},
		{RUCEmisor: "20331898008", Tipo: "08", Serie: "FND1", Numero: 8, Codigo: "0"},
	},
	Usuario: conformance.UsuarioSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: mockserver.ClaveSOL},
}

// open makes a contract permit what it leaves open: further members, and fields without a value.
func (c *contract) open() *contract {
	for _, schema := range c.doc.Components.Schemas {
		schema.Value.AdditionalProperties.Has = nil
	}
	taxpayer := c.doc.Components.Schemas["Contribuyente"].Value.Properties
	taxpayer["ubigeo"].Value.Pattern = `^([0-9]{6}|-|)$`
	for _, name := range []string{"fechaInscripcion", "fechaInicioActividades"} {
		taxpayer[name].Value.AllOf = nil
		taxpayer[name].Value.Pattern = `^([0-9]{4}-[0-9]{2}-[0-9]{2}|-|)$`
	}
	return c
}

// Each answer that the suite asks for is judged by the document: those of a mock, or of a server that the variables of
// the suite say.
func TestAServerByTheDocument(t *testing.T) {
	network := &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment}
	j := &judging{contract: loadContract(t), next: network}
	target := conformance.Target{
		BaseURL: os.Getenv("FISCOPE_BASE_URL"), APIKey: os.Getenv("FISCOPE_API_KEY"), RUC: *serverRUC, Search: *serverSearch, Fecha: *serverFecha, Transport: j,
	}
	if target.BaseURL == "" {
		mock := mockserver.New(t)
		target.BaseURL, target.APIKey, target.WrongClave, target.CPE, j.strict = mock.URL, mock.APIKey, true, receipts, true
	} else {
		j.contract.open()
	}
	if *serverCPE != "" {
		var err error
		target.CPE, err = conformance.LoadCPE(*serverCPE)
		require.NoError(t, err)
	}
	j.key = target.APIKey
	if _, rest, ok := strings.Cut(target.BaseURL, "://"); ok {
		_, path, _ := strings.Cut(strings.TrimRight(rest, "/"), "/")
		j.base = strings.TrimSuffix("/"+path, "/")
	}
	conformance.Run(t, target)
	for _, wrong := range j.wrong {
		t.Error(strings.ReplaceAll(wrong, cmp.Or(j.key, "-"), "***"))
	}
}

// What the suite itself does not see is seen.
func TestAServerWithAMistakeIsNoticed(t *testing.T) {
	for name, c := range map[string]struct{ sample, old, new, want string }{
		"a rate in quotes":         {"tipocambio_200.json", "3.750", `"3.750"`, "/compra"},
		"a field that is missing":  {"consultar_200.json", `"tipo"`, `"clase"`, "/tipo"},
		"of a field, no such type": {"buscar_200.json", `"HABIDO"`, "null", "/condicion"},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := testservice.Raw(200, strings.Replace(readSample(t, c.sample), c.old, c.new, 1),
				"X-RateLimit-Limit: 9", "X-RateLimit-Remaining: 8", "X-RateLimit-Reset: 2026-11-21T05:00:00Z")
			j := &judging{contract: loadContract(t).open(), key: "clave", next: spoilt}
			req := newRequest(t, http.MethodGet, anyBase+samples[c.sample].path, "", "")
			req.Header["X-API-KEY"] = []string{j.key}
			resp, err := j.RoundTrip(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Len(t, j.wrong, 1)
			assert.Contains(t, j.wrong[0], c.want)
		})
	}
}
