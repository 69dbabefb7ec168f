package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// view is a part of the page: as its address names it, and its links and headings in both languages.
type view struct{ name, title, english string }

var views = []view{
	{"llamadas", "Llamadas", "Calls"},
	{"cuotas", "Cuotas", "Quotas"},
	{"reloj", "Reloj", "Clock"},
	{"fallas", "Fallas", "Faults"},
	{"supuestos", "Supuestos", "Assumptions"},
	{"sol", "Usuarios SOL", "SOL users"},
	{"contribuyentes", "Contribuyentes", "Taxpayers"},
	{"comprobantes", "Comprobantes", "Receipts"},
	{"tipocambio", "Tipo de cambio", "Exchange rate"},
	{"datos", "Datos", "Data"},
}

// show goes to a view by its link, and waits until it is the one that is shown.
func (p *tab) show(title string) {
	p.t.Helper()
	p.click("link", exactly(title))
	p.find("heading", exactly(title))
	p.settled()
}

// settled waits until what the page asked for was answered, except the stream of calls.
func (p *tab) settled() {
	p.t.Helper()
	p.within(patience, func() error {
		js[bool](p, `new Promise((done) => setTimeout(() => done(true)))`) // what the click has begun is under way
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.underWay) > 0 {
			return fmt.Errorf("%d requests are under way", len(p.underWay))
		}
		return nil
	})
	js[bool](p, `new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(true))))`)
}

// axe is the checker of accessibility that the tests take from npm.
const axe = "axe-core@4.14.1"

// axeScript installs it, once, and returns its text.
var axeScript = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "fiscope-axe-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	if out, err := exec.Command("npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", axe).CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install %s: %w: %s", axe, err, out)
	}
	text, err := os.ReadFile(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"))
	return string(text), err
})

// violations are what axe finds that keeps people out.
func (p *tab) violations(script string) (serious []string) {
	p.t.Helper()
	if !js[bool](p, "'axe' in window") {
		js[bool](p, script+"; true")
	}
	var found []struct {
		ID, Impact string
		Nodes      []struct{ HTML, FailureSummary string }
	}
	require.NoError(p.t, json.Unmarshal([]byte(js[string](p, `axe.run(document, { resultTypes: ['violations'] }).then((result) => JSON.stringify(result.violations))`)), &found))
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			serious = append(serious, fmt.Sprintf("%s: %s: %s", v.ID, v.Nodes[0].HTML, v.Nodes[0].FailureSummary))
		}
	}
	return serious
}

// Every view in both languages, light and dark, from 320 to 1920 pixels: axe finds nothing serious, and nobody scrolls
// sideways, whatever long words came. -screenshots keeps what it saw.
func TestEveryView(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	script, err := axeScript()
	if err != nil {
		t.Skipf("npm and a network are needed to run this test: apt-get install npm: %v", err)
	}
	word := strings.Repeat("palabrota", 20) // 180 characters
	srv := start(t, frozen...)
	srv.traffic()
	srv.admin(http.MethodPost, "faults", `{"name": "`+word+`", "match": {"op": "consultar", "times": 1}, "steps": [{"status": 503}]}`)
	srv.admin(http.MethodPut, "contribuyentes/20600000005", `{"ruc": "20600000005", "razonSocial": "`+word+`", "direccion": "`+word+`", "estado": "`+word+`"}`)
	srv.admin(http.MethodPut, "comprobantes/20600000005/01/F001/1", `{"codigo": "99", "mensaje": "`+word+`"}`)
	srv.admin(http.MethodPut, "sol/20131312955/"+word, `{"clave": "una-clave"}`)
	srv.send(http.MethodGet, "/api/contribuyentes/20600000005", "", "X-API-KEY", defaultKey, "User-Agent", word)
	srv.call(http.MethodGet, "/api/"+word, "")
	srv.call(http.MethodGet, "/api/contribuyentes/search?razonSocial="+word, "")
	gate := start(t, "-admin-token", "un-token-largo-de-prueba")
	for name, options := range map[string][]option{
		"es 320": {wide(320)}, "es 390 dark": {wide(390), dark}, "en 390": {wide(390), english}, "es 1024": {wide(1024)},
		"en 1280 dark": {english, dark}, "es 1920": {wide(1920)}, "en 640": {wide(640), english}, // 1280 at 200 %
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := open(t, srv.page(""), options...)
			page.sees("GET /api/" + word)
			check := func(what string) {
				t.Helper()
				page.settled()
				page.photograph(what + " " + name)
				assert.Empty(t, page.violations(script), what)
				assert.Empty(t, js[[]string](page, `document.documentElement.scrollWidth <= innerWidth ? [] :
					[...document.body.querySelectorAll('*')].filter((element) => element.getBoundingClientRect().right > innerWidth + 1).map((element) => element.outerHTML.slice(0, 200))`), what)
			}
			for _, view := range views {
				page.show(map[string]string{"es": view.title, "en": view.english}[name[:2]])
				check(view.name)
			}
			page.navigate(srv.page("contribuyentes"))
			page.click("button", like("^Edit(ar)?: 20600000005"))
			page.find("dialog", like("^Edit"))
			check("contribuyente")
			page.press(kb.Escape)
			page.gone("dialog", like(""))
			page.navigate(srv.page("llamadas/20"))
			page.find("region", like("^(Como|As) curl"))
			check("llamada")
			page = open(t, gate.page(""), options...)
			page.expect(`\b401\b`)
			page.find("textbox", exactly("Token"))
			check("token")
		})
	}
}

// Tab reaches every control of every view; each has an outline that is seen on the element itself.
func TestTheKeyboardReachesEverything(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	srv.traffic()
	page := open(t, srv.page("llamadas/9"))
	page.sees("20 llamadas", "repite #8")
	page.photograph("page") // of the README
	for _, view := range views {
		page.navigate(srv.page(view.name))
		page.find("heading", exactly(view.title))
		page.settled()
		js[bool](page, `(window.reached = new Set(), window.bare = [], document.addEventListener('focusin', ({ target }) => {
			const style = getComputedStyle(target)
			if (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) === 0) window.bare.push(target.outerHTML.slice(0, 200))
			window.reached.add(target)
		}), true)`)
		var left []string
		for range 60 {
			for range 10 {
				page.press(kb.Tab)
			}
			left = js[[]string](page, `[...document.querySelectorAll('a[href], button, input, select, [tabindex]')].filter((element) =>
				element.checkVisibility({ checkVisibilityCSS: true }) && !element.disabled && element.tabIndex >= 0 && !window.reached.has(element)).map((element) => element.outerHTML.slice(0, 200))`)
			if len(left) == 0 {
				break
			}
		}
		assert.Empty(t, left, "Tab does not reach it")
		assert.Empty(t, js[[]string](page, "window.bare"), "no outline")
	}
}
