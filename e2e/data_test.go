package e2e

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The data, with its keys and claves, is asked for where a person presses the control of that name, and nowhere else.
func TestTheDataIsAskedForByItsControlAlone(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page(""))
	for _, view := range views {
		page.show(view.title)
	}
	assert.Empty(t, page.requests("GET /_mock/data"))
	file := page.downloaded("Descargar datos", "fiscope-mock.json")
	assert.Len(t, page.requests("GET /_mock/data"), 1)
	assert.NotContains(t, page.markup(), "clave-mock-1")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	again := start(t, "-data", file)
	assert.Equal(t, again.admin(http.MethodGet, "data", ""), string(text), "it can be loaded again")
}

// downloaded presses a button that gives the browser a file, and returns where the file is.
func (p *tab) downloaded(button, name string) string {
	p.t.Helper()
	folder := p.t.TempDir()
	_, err := chromedp.CallBrowser(p.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder, BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
	})
	require.NoError(p.t, err)
	p.click("button", exactly(button))
	file := filepath.Join(folder, name)
	p.within(patience, func() error {
		info, err := os.Stat(file)
		if err == nil && info.Size() == 0 { // its name is taken before it is written
			err = errors.New("it is empty")
		}
		return err
	})
	return file
}

func TestDataIsLoaded(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page("datos"))
	file := filepath.Join(t.TempDir(), "datos.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"contribuyentes": [{"ruc": "20600000005", "razonSocial": "INVERSIONES DE PRUEBA"}]}`), 0o600))
	choose := page.find("button", like("^Archivo"))
	require.NoError(t, chromedp.Do(page.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{file}, BackendNodeID: choose.id})
		return err
	})))
	page.click("button", exactly("Cargar datos"))
	page.sees("Hecho")
	assert.Equal(t, http.StatusOK, srv.lookup("20600000005").status)
}

// What was done is taken back part by part, and what was not chosen stays.
func TestResetByPart(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page("datos"))
	srv.lookup("20131312955")
	for range 3 {
		srv.validate("MIUSER01", "incorrecta")
	}
	srv.admin(http.MethodPost, "faults", `{"name": "rota", "match": {"op": "buscar"}, "steps": [{"status": 503}]}`)
	page.click("checkbox", exactly("Los intentos y bloqueos SOL"))
	page.click("checkbox", exactly("Las fallas"))
	page.click("button", exactly("Restablecer lo elegido"))
	page.sees("Hecho")
	assert.Empty(t, read[[]any](srv, "faults"))
	assert.Equal(t, http.StatusOK, srv.validate("MIUSER01", "clave-mock-1").status)
	assert.Len(t, read[struct{ Requests []any }](srv, "requests").Requests, 5, "the journal stays")
	assert.Equal(t, 5, read[[]quota](srv, "quotas")[0].Used, "and the quota")
}
