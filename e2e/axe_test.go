package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
func (p *tab) violations(script string) []string {
	p.t.Helper()
	if !js[bool](p, "'axe' in window") {
		js[bool](p, script+"; true")
	}
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct {
			HTML           string
			FailureSummary string
		}
	}
	require.NoError(p.t, json.Unmarshal([]byte(js[string](p, `axe.run(document, { resultTypes: ['violations'] }).then((result) => JSON.stringify(result.violations))`)), &found))
	var serious []string
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			serious = append(serious, fmt.Sprintf("%s (%s): %s: %s: %s", v.ID, v.Impact, v.Help, v.Nodes[0].HTML, v.Nodes[0].FailureSummary))
		} else {
			p.t.Logf("%s (%s): %s: %s", v.ID, v.Impact, v.Help, v.Nodes[0].HTML)
		}
	}
	return serious
}

// Every view, in light and dark, wide and narrow, has nothing that axe calls serious; -screenshots keeps what it saw.
func TestAxeFindsNothingSerious(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	script, err := axeScript()
	if err != nil {
		t.Skipf("npm and a network are needed to run this test: apt-get install npm: %v", err)
	}
	srv := start(t, "-now", "2026-11-20T16:41:00-05:00", "-frozen")
	srv.traffic()
	for name, options := range map[string][]option{
		"light":        {},
		"dark":         {dark},
		"light narrow": {narrow},
		"dark narrow":  {dark, narrow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := open(t, srv.page(""), options...)
			page.sees("20 llamadas")
			check := func(what string) {
				t.Helper()
				page.settled()
				page.photograph(what + " " + name)
				assert.Empty(t, page.violations(script), what)
			}
			for _, view := range views {
				page.show(view.title)
				check(view.name)
			}
			page.show("Llamadas")
			page.click("button", like("^validar .*F001-123, 200"))
			page.find("region", exactly("Como curl"))
			check("llamada")
			page.click("button", exactly("Cerrar"))
			page.show("Contribuyentes")
			page.click("button", exactly("Editar: 20131312955"))
			page.find("dialog", like("^Editar"))
			check("contribuyente")
			page.click("button", exactly("Cancelar"))
		})
	}
	t.Run("empty, and a token is asked for", func(t *testing.T) {
		t.Parallel()
		page := open(t, start(t).page(""))
		page.find("heading", exactly("Todavía no llegó ninguna llamada"))
		page.photograph("vacía")
		assert.Empty(t, page.violations(script))
		gate := open(t, start(t, "-admin-token", "un-token-largo-de-prueba").page(""), apart)
		gate.find("button", exactly("Entrar"))
		gate.photograph("token")
		assert.Empty(t, gate.violations(script))
	})
}

// The checker itself is tried: it finds a picture without a text and a field without a name.
func TestAxeFindsWhatIsSerious(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	script, err := axeScript()
	if err != nil {
		t.Skipf("npm and a network are needed to run this test: apt-get install npm: %v", err)
	}
	page := open(t, start(t).page(""))
	page.sees("en vivo")
	js[bool](page, `document.querySelector('main').append(document.createElement('input')), true`)
	assert.Contains(t, strings.Join(page.violations(script), "\n"), "label (critical)")
}
