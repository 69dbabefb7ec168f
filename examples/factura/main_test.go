package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// friday is after the rate of the day before it was published.
var friday = time.Date(2026, time.November, 20, 10, 0, 0, 0, fiscope.Lima)

func ask(t *testing.T, srv *mockserver.Server, query string) *httptest.ResponseRecorder {
	t.Helper()
	client := srv.Client(fiscope.WithStrictRUC())
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	w := httptest.NewRecorder()
	facturas{client}.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/facturas?"+query, nil))
	return w
}

func TestAnInvoice(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithNow(friday), mockserver.WithTipoCambio("2026-11-19", "3.741", "3.750"))
	w := ask(t, srv, "ruc=20999990020&fecha=2026-11-20&valor=1000.005")
	var f factura
	if err := json.Unmarshal(w.Body.Bytes(), &f); w.Code != http.StatusOK || err != nil {
		t.Fatal(w.Code, w.Body, err)
	}
	for name, c := range map[string]struct{ got, want string }{
		"rounded":        {f.Dolares["valor"], "1000.01"},
		"tax":            {f.Dolares["igv"], "180.00"},
		"sum":            {f.Dolares["total"], "1180.01"},
		"in soles":       {f.Soles["valor"], "3750.04"},
		"tax in soles":   {f.Soles["igv"], "675.00"},
		"sum in soles":   {f.Soles["total"], "4425.04"},
		"the day before": {f.TipoCambio.TipoCambio.Fecha.String(), "2026-11-19"},
		"a warning":      {f.Advertencias[0], "el cliente está ACTIVO, NO HABIDO"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
}

func TestWhatFails(t *testing.T) {
	const good = "ruc=20100070970&fecha=2026-11-20&valor=1"
	for name, c := range map[string]struct {
		query  string
		quota  int
		status int
		wait   bool
		costs  int
	}{
		"a mistyped RUC":       {"ruc=20100070907&fecha=2026-11-20&valor=1", 9, 400, false, 0},
		"nobody":               {"ruc=20999999990&fecha=2026-11-20&valor=1", 9, 404, false, 1},
		"no such day":          {"ruc=20100070970&fecha=2026-02-30&valor=1", 9, 400, false, 0},
		"no amount":            {"ruc=20100070970&fecha=2026-11-20&valor=uno", 9, 400, false, 0},
		"an exponent":          {"ruc=20100070970&fecha=2026-11-20&valor=1e9999", 9, 400, false, 0},
		"below zero":           {"ruc=20100070970&fecha=2026-11-20&valor=-1", 9, 400, false, 0},
		"not published yet":    {"ruc=20100070970&fecha=2026-11-21&valor=1", 9, 409, true, 1},
		"the quota is spent":   {good, 0, 429, true, 0},
		"the rate is too dear": {good, 1, 429, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			srv := mockserver.New(t, mockserver.WithNow(friday), mockserver.WithQuota(c.quota))
			w := ask(t, srv, c.query)
			if strings.Contains(w.Body.String(), "La fecha no es válida") != (name == "no such day") {
				t.Error(w.Body)
			}
			if w.Code != c.status || (w.Header().Get("Retry-After") != "") != c.wait {
				t.Error(w.Code, w.Header(), w.Body)
			}
			if _, spent := srv.Totals(); spent != c.costs {
				t.Errorf("it cost %d queries", spent)
			}
		})
	}
}
