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

// The data, with its keys and claves, is asked for by its control alone; a file is loaded or refused; parts are reset.
func TestData(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page(""), apart) // or another test's tab would say where files go
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

	page = open(t, srv.page("datos"), english)
	page.expect(`answer 400.*data|status of 400`)
	file = filepath.Join(t.TempDir(), "datos.json")
	for _, load := range [][2]string{{"2060000", `line 1: taxpayer "2060000": ruc does not have 11 digits`}, {"20600000005", "Done"}} {
		require.NoError(t, os.WriteFile(file, []byte(`{"contribuyentes": [{"ruc": "`+load[0]+`", "razonSocial": "DE PRUEBA"}]}`), 0o600))
		choose := page.find("button", like("^File"))
		require.NoError(t, chromedp.Do(page.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{file}, BackendNodeID: choose.id})
			return err
		})))
		page.click("button", exactly("Load data"))
		page.sees(load[1])
	}
	assert.Equal(t, http.StatusOK, srv.lookup("20600000005").status)

	srv.fault(`"op": "buscar"`, `"status": 503`)
	page.click("checkbox", exactly("The faults"))
	page.click("button", exactly("Reset the chosen parts"))
	page.within(patience, func() error {
		if len(read[[]any](srv, "faults")) > 0 {
			return errors.New("there is still a fault")
		}
		return nil
	})
	assert.Len(t, read[struct{ Requests []any }](srv, "requests").Requests, 1, "the journal stays")
}
