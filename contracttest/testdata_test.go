package contracttest

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	anyBase = "http://service.invalid" // requests to it are judged, never sent

	lookupPath = "/api/contribuyentes/20131312955"
	searchPath = "/api/contribuyentes/search?razonSocial=peru"
	cpePath    = "/api/cpe/validar"
	ratePath   = "/api/tipocambio?fecha=2026-11-20"
)

// sample is one answer of testdata/. Its code is checked where docs/contract.md, 7, gives one.
type sample struct {
	method, path string
	status       int
	code         string
}

var samples = map[string]sample{
	"consultar_200.json":          {http.MethodGet, lookupPath, 200, ""},
	"consultar_400.json":          {http.MethodGet, lookupPath, 400, ""},
	"consultar_404.json":          {http.MethodGet, lookupPath, 404, "NOT_FOUND"},
	"buscar_200.json":             {http.MethodGet, searchPath, 200, ""},
	"buscar_200_vacio.json":       {http.MethodGet, searchPath, 200, ""},
	"buscar_400_corto.json":       {http.MethodGet, searchPath, 400, "SEARCH_TOO_SHORT"},
	"buscar_400_limite.json":      {http.MethodGet, searchPath, 400, ""},
	"validar_200_aceptado.json":   {http.MethodPost, cpePath, 200, ""},
	"validar_200_anulado.json":    {http.MethodPost, cpePath, 200, ""},
	"validar_200_en_proceso.json": {http.MethodPost, cpePath, 200, ""},
	"validar_200_no_existe.json":  {http.MethodPost, cpePath, 200, ""},
	"validar_200_error.json":      {http.MethodPost, cpePath, 200, ""},
	"validar_400_faltan.json":     {http.MethodPost, cpePath, 400, ""},
	"validar_400_ruc.json":        {http.MethodPost, cpePath, 400, ""},
	"validar_401.json":            {http.MethodPost, cpePath, 401, "INVALID_SOL_CREDENTIALS"},
	"validar_500.json":            {http.MethodPost, cpePath, 500, ""},
	"tipocambio_200.json":         {http.MethodGet, ratePath, 200, ""},
	"tipocambio_400.json":         {http.MethodGet, ratePath, 400, ""},
	"tipocambio_404.json":         {http.MethodGet, ratePath, 404, "NOT_FOUND"},
}

// requestSample is the one file of testdata/ that is a request.
const requestSample = "validar_peticion.json"

func readSample(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", "testdata", name))
	require.NoError(t, err)
	return string(body)
}

// answerHeader is what comes with a sample: a JSON media type, and the headers of a lookup (8).
func answerHeader() http.Header {
	return http.Header{
		"Content-Type":          {"application/json"},
		"X-Ratelimit-Limit":     {"1000"},
		"X-Ratelimit-Remaining": {"999"},
		"X-Ratelimit-Reset":     {"2026-11-21T05:00:00Z"},
	}
}

func (s sample) check(t *testing.T, c *contract, header http.Header, body string) error {
	t.Helper()
	req := newRequest(t, s.method, anyBase+s.path, "", "")
	return c.checkReply(req, reply{s.status, header, []byte(body)})
}

func TestSamplesConform(t *testing.T) {
	c := loadContract(t)
	for name, s := range samples {
		t.Run(name, func(t *testing.T) {
			body := readSample(t, name)
			require.NoError(t, s.check(t, c, answerHeader(), body))
			if s.code != "" {
				assert.Equal(t, s.code, decodeError(t, []byte(body)).Code)
			}
		})
	}
}

func TestEveryFileIsASample(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.json")
	require.NoError(t, err)
	names := []string{requestSample}
	for name := range samples {
		names = append(names, name)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	assert.ElementsMatch(t, names, files)
}

// The pairs of docs/contract.md, 2.4; OpenAPI's enumerations cannot tie one field to another.
func TestReceiptSamplesPairCodeAndEstado(t *testing.T) {
	for name, want := range map[string]receiptState{
		"aceptado":   {"0", "Aceptado", true},
		"anulado":    {"2", "Anulado", false},
		"en_proceso": {"4", "En Proceso", false},
		"no_existe":  {"98", "No Existe", false},
		"error":      {"99", "Error", false},
	} {
		var got receiptState
		require.NoError(t, json.Unmarshal([]byte(readSample(t, "validar_200_"+name+".json")), &got))
		assert.Equal(t, want, got)
	}
}

// These two are docs/contract.md, 2.4 and 2.6, not types of the SDK or the mock: a third, independent
// reading of the names.
type receiptState struct {
	Codigo   string `json:"codigo"`
	Estado   string `json:"estado"`
	EsValido bool   `json:"esValido"`
}

type errorBody struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}

func decodeError(t *testing.T, body []byte) errorBody {
	t.Helper()
	var e errorBody
	require.NoError(t, json.Unmarshal(body, &e), "%s", body)
	return e
}
