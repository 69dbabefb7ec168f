package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the search for a taxpayer sends where a person typed blanks, an ampersand and marks.
const oddSearch = "/api/contribuyentes/search?razonSocial=O%27Higgins+%26+%22Hijos%22+%24HOME+%60id%60"

func TestCallsAreShownAsTheyCome(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page(""))
	page.find("heading", exactly("Todavía no llegó ninguna llamada"))

	srv.lookup("20131312955")
	page.row("consultar", "20131312955", "200")
	srv.call(http.MethodGet, oddSearch, "")
	page.row("buscar", `O'Higgins & "Hijos" $HOME `+"`id`", "200")
	srv.validate("MIUSER01", "incorrecta")
	page.row("validar", "20100070970", "F001-123", "401", "INVALID_SOL_CREDENTIALS", "clave SOL incorrecta")
	srv.call(http.MethodGet, "/api/tipocambio?fecha=2026-11-20", "")
	page.row("tipocambio", "2026-11-20")
	srv.call(http.MethodGet, "/api/nada", "")
	page.row("sin ruta", "/api/nada", "404")
	srv.send(http.MethodGet, "/api/contribuyentes/20131312955", "")
	page.row("consultar", "20131312955", "401", "clave de API rechazada")
	srv.admin(http.MethodPost, "faults", `{"name": "caída", "steps": [{"preset": "outage-503"}]}`)
	srv.lookup("20100070970")
	page.row("consultar", "20100070970", "503", "caída")

	rows := page.rows()
	assert.Contains(t, rows[0], "Hora", "the head of the table")
	assert.Contains(t, rows[1], "caída", "the newest is at the top")
	assert.Len(t, rows, 8)
	page.sees("7 llamadas 5 consultas gastadas 4 errores")
}

// A call comes over the stream, as it happens: the page asks for no more of the journal than how long it is.
func TestACallIsPushed(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page(""))
	page.sees("en vivo")
	srv.lookup("20131312955")
	page.row("consultar", "20131312955")
	for _, asked := range page.requests("GET /_mock/requests") {
		assert.Contains(t, []string{"GET /_mock/requests/stream", "GET /_mock/requests?limit=1"}, asked)
	}
}

func TestCallsAreFilteredAndPaused(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page(""))
	srv.lookup("20131312955")
	srv.lookup("20131312956")
	srv.call(http.MethodGet, "/api/tipocambio?fecha=2026-11-20", "")
	page.row("20131312955")

	page.fill("searchbox", exactly("Filtrar"), "20131312955")
	page.noRow("tipocambio")
	page.row("20131312955")
	page.sees("1 llamada 1 consulta gastada 0 errores")
	page.fill("searchbox", exactly("Filtrar"), "")
	page.row("tipocambio")

	page.choose(exactly("Operación"), "tipocambio")
	page.noRow("consultar")
	page.row("tipocambio")
	page.choose(exactly("Operación"), "Todas")
	page.choose(exactly("Respuesta"), "4xx")
	page.noRow("200")
	page.row("20131312956", "404")
	page.choose(exactly("Respuesta"), "Todas")
	page.row("20131312955")

	page.click("button", exactly("Pausar"))
	srv.lookup("20100070970")
	page.find("button", exactly("1 nueva"))
	page.noRow("20100070970")
	page.fill("searchbox", exactly("Filtrar"), "2010007")
	page.noRow("tipocambio")
	page.noRow("20100070970")
	page.fill("searchbox", exactly("Filtrar"), "")
	page.click("button", exactly("Continuar"))
	page.row("20100070970")

	page.click("button", like("^consultar 20100070970"))
	page.find("region", exactly("Como curl"))
	srv.lookup("20100053455")
	page.row("20100053455") // beside the opened one
}

// How many queries a test costs is seen by counting from where it begins.
func TestWhatATestCosts(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page(""))
	srv.lookup("20131312955")
	page.sees("1 llamada 1 consulta gastada 0 errores")
	page.click("button", exactly("Contar desde aquí"))
	page.sees("0 llamadas 0 consultas gastadas 0 errores")
	srv.lookup("20131312955")
	srv.lookup("20131312955")
	srv.lookup("2013131295")
	page.sees("3 llamadas 3 consultas gastadas 1 error")
	page.click("button", exactly("Contar todo"))
	page.sees("4 llamadas 4 consultas gastadas 1 error")

	page.click("button", exactly("Vaciar el historial"))
	page.find("heading", exactly("Todavía no llegó ninguna llamada"))
	assert.Contains(t, srv.admin(http.MethodGet, "requests", ""), `"requests": []`)
}

// Why a validation failed stands in plain words where its call is opened.
func TestWhyAValidationFailed(t *testing.T) {
	t.Parallel()
	srv := start(t, "-now", "2026-11-20T16:59:00-05:00", "-frozen")
	page := open(t, srv.page(""))
	for _, attempt := range []struct {
		usuario, clave string
		shown          []string
	}{
		{"MIUSER01", "incorrecta", []string{"La clave SOL no es correcta: 1 de 3 intentos.", "Costó 1 consulta"}},
		{"MIUSER01", "incorrecta", []string{"2 de 3 intentos"}},
		{"MIUSER01", "incorrecta", []string{"con este intento el usuario quedó bloqueado hasta", "17:29"}},
		{"MIUSER01", "clave-mock-1", []string{"El usuario SOL está bloqueado", "17:29"}},
		{"NADIE", "incorrecta", []string{"no tiene ese usuario SOL"}},
		{"PRINCIP1", "incorrecta", []string{"hace falta uno secundario"}},
	} {
		srv.admin(http.MethodDelete, "requests", "")
		page.find("heading", exactly("Todavía no llegó ninguna llamada"))
		srv.validate(attempt.usuario, attempt.clave)
		page.click("button", like(`^validar .*INVALID_SOL_CREDENTIALS`))
		page.find("heading", like(`^Llamada #`))
		page.sees(attempt.shown...)
	}
}

func TestACallIsOpened(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page(""))
	srv.lookup("20131312955")
	page.click("button", like(`^consultar 20131312955`))
	page.find("heading", like(`^Llamada #1`))
	page.find("region", exactly("Petición"))
	page.sees("GET /api/contribuyentes/20131312955", `"ruc": "20131312955"`, "Costó 1 consulta; quedaron 999.", "Go-http-client/1.1")
	page.press("\x1b") // Escape
	page.gone("region", exactly("Petición"))

	srv.validate("MIUSER01", "clave-mock-1")
	page.click("button", like(`^validar`))
	page.sees(`"claveSol": "***"`, `"estado": "Aceptado"`, "Credenciales correctas; el comprobante es válido: Aceptado.")
	assert.NotContains(t, page.markup(), "clave-mock-1")
}

// clipboard is the machine's: a test at a time copies and looks.
var clipboard sync.Mutex

// copied presses a button that copies, and returns what it copied.
func (p *tab) copied(button named) string {
	p.t.Helper()
	clipboard.Lock()
	defer clipboard.Unlock()
	p.allowReading()
	js[bool](p, `navigator.clipboard.writeText('nothing').then(() => true)`)
	p.click("button", button)
	var text string
	p.within(patience, func() error {
		if text = js[string](p, `navigator.clipboard.readText()`); text == "nothing" {
			return fmt.Errorf("nothing was copied")
		}
		return nil
	})
	return text
}

// The lines that are copied run as they are: secrets are variables.
func TestTheCopiedLinesMakeTheCallAgain(t *testing.T) {
	t.Parallel()
	const key = "una-clave-que-nadie-ve"
	srv := start(t, "-api-key", key)
	page := open(t, srv.page(""))
	environment := append(os.Environ(), "FISCOPE_API_KEY="+key, "USUARIO_SOL=MIUSER01", "CLAVE_SOL=clave-mock-1", "NO_PROXY=127.0.0.1")
	for i, call := range []struct {
		op, method, path, body, answer string
	}{
		{"consultar", http.MethodGet, "/api/contribuyentes/20131312955", "", "20131312955"},
		{"buscar", http.MethodGet, oddSearch + "&limit=3", "", "[]"},
		{"validar", http.MethodPost, "/api/cpe/validar", `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123, ` +
			`"rucSolicitante": "20131312955", "usuarioSol": "MIUSER01", "claveSol": "clave-mock-1"}`, "Aceptado"},
		{"tipocambio", http.MethodGet, "/api/tipocambio?fecha=2026-11-20", "", "2026-11-20"},
	} {
		srv.send(call.method, call.path, call.body, "X-API-KEY", key)
		page.click("button", like("^"+call.op))
		page.find("heading", like(fmt.Sprintf(`^Llamada #%d `, 3*i+1)))

		line := page.copied(exactly("Copiar: Como curl"))
		assert.Contains(t, line, "$FISCOPE_API_KEY")
		assert.NotContains(t, line, key)
		assert.NotContains(t, line, "clave-mock-1")
		again := exec.CommandContext(t.Context(), "sh", "-c", line)
		again.Env = environment
		out, err := again.Output()
		require.NoError(t, err, line)
		assert.Contains(t, string(out), call.answer, line)

		program := page.copied(exactly("Copiar: Como Go"))
		assert.Contains(t, program, `os.Getenv("FISCOPE_API_KEY")`)
		assert.NotContains(t, program, key)
		assert.NotContains(t, program, "clave-mock-1")
		file := filepath.Join(t.TempDir(), "main.go")
		require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
		run := exec.CommandContext(t.Context(), "go", "run", file)
		run.Dir, run.Env = repository, environment
		out, err = run.CombinedOutput()
		require.NoError(t, err, "%s\n%s", program, out)

		requests := read[struct {
			Requests []struct{ Op, Path, Query, Body string }
		}](srv, "requests").Requests
		require.Len(t, requests, 3*i+3)
		assert.Equal(t, requests[3*i], requests[3*i+1], "as curl")
		assert.Equal(t, requests[3*i].Path, requests[3*i+2].Path, "as Go")
		assert.Equal(t, requests[3*i].Query, requests[3*i+2].Query, "as Go")
		page.click("button", exactly("Cerrar"))
	}
	assert.NotContains(t, page.markup(), key)
}

// The line that the empty page shows makes the first call.
func TestTheFirstCall(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"default key": nil, "own key": {"-api-key", "otra-clave-secreta"}} {
		t.Run(name, func(t *testing.T) {
			srv := start(t, args...)
			page := open(t, srv.page(""))
			line := page.copied(like("^Copiar"))
			run := exec.CommandContext(t.Context(), "sh", "-c", line)
			run.Env = append(os.Environ(), "FISCOPE_API_KEY=otra-clave-secreta", "NO_PROXY=127.0.0.1")
			out, err := run.Output()
			require.NoError(t, err, line)
			assert.Contains(t, string(out), `"ruc"`)
			page.row("consultar", "200")
			assert.NotContains(t, page.markup(), "otra-clave-secreta")
		})
	}
}

// markup is the whole document as markup, with what its fields hold.
func (p *tab) markup() string {
	p.t.Helper()
	return strings.Join(js[[]string](p, `[document.documentElement.outerHTML, ...[...document.querySelectorAll('input, select, textarea')].map((field) => field.value)]`), "\n")
}

// The list marks what the real service answered, what breaks the contract, and what a recording lacks.
func TestCallsOfARealService(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/tipocambio") {
			_, _ = io.WriteString(w, `{"compra": "3.750", "venta": 3.760, "moneda": "USD", "fecha": "2026-11-20"}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error": "no hay", "code": "NOT_FOUND"}`)
	}))
	t.Cleanup(service.Close)
	file := filepath.Join(t.TempDir(), "grabado.json")
	srv := start(t, "-upstream", service.URL, "-record", file)
	srv.lookup("20700000001")
	srv.lookup("20700000001")
	srv.call(http.MethodGet, "/api/tipocambio?fecha=2026-11-20", "")
	for name, options := range map[string][]option{"es 1280": nil, "en 390": {narrow, english}, "es 1920": {func(v *viewer) { v.width = 1920 }}} {
		page := open(t, srv.page("llamadas"), options...)
		texts := map[bool][]string{true: {"servicio real", "rompe el contrato"}, false: {"real service", "breaks the contract"}}[strings.HasPrefix(name, "es")]
		page.sees(texts...)
		assert.Equal(t, 2, js[int](page, `[...document.querySelectorAll('.mark')].filter(({ textContent }) => textContent === '`+texts[0]+`').length`), "not what is recorded")
		page.photograph("real service " + name)
	}
	require.Eventually(t, func() bool {
		saved, _ := os.ReadFile(file) // it may not be there yet
		return strings.Contains(string(saved), "fecha=2026-11-20")
	}, patience, 10*time.Millisecond)

	srv = start(t, "-replay", file)
	srv.lookup("20700000001")
	srv.lookup("20700000002")
	page := open(t, srv.page("llamadas/2"), func(v *viewer) { v.width = 1024 })
	page.sees("sin grabar", "La grabación no tiene esta consulta.")
	page.photograph("replay 1024")
}
