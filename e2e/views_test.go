package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
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

// The page speaks the first of its two languages that the browser asks for, and Spanish where it asks for neither.
func TestLanguages(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for name, test := range map[string]struct {
		languages, lang string
		button, label   string
		title           func(view) string
	}{
		"Spanish":         {"es-PE,es,en", "es", "Vaciar el historial", "Filtrar", func(v view) string { return v.title }},
		"English":         {"en-GB,en,es", "en", "Clear the journal", "Filter", func(v view) string { return v.english }},
		"English, second": {"fr-FR,en,es", "en", "Clear the journal", "Filter", func(v view) string { return v.english }},
		"neither":         {"de-DE,de", "es", "Vaciar el historial", "Filtrar", func(v view) string { return v.title }},
	} {
		t.Run(name, func(t *testing.T) {
			page := open(t, srv.page(""), func(v *viewer) { v.languages = test.languages })
			page.find("button", exactly(test.button))
			page.find("searchbox", exactly(test.label))
			assert.Equal(t, test.lang, js[string](page, "document.documentElement.lang"))
			for _, view := range views {
				page.show(test.title(view))
				assert.Contains(t, js[string](page, "document.title"), test.title(view))
			}
		})
	}
}
