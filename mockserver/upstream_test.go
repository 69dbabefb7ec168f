package mockserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// service is what WithUpstream asks: answers by what is asked for, and what was asked.
type service struct {
	mu      sync.Mutex
	answers map[string]mockserver.UpstreamAnswer
	asked   []string
}

func (s *service) ask(_ context.Context, q mockserver.UpstreamQuery) mockserver.UpstreamAnswer {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := fmt.Sprint(q.Op, q.RUC, q.RazonSocial, q.Limite)
	if q.Op == mockserver.OpTipoCambio {
		what = fmt.Sprint(q.Op, q.Fecha)
	}
	if q.Known {
		what += " known"
	}
	s.asked = append(s.asked, what)
	if q.Key == "clave-mala" {
		return mockserver.UpstreamAnswer{Status: 401, Body: []byte(`{"error": "no", "code": "CLAVE"}`)}
	}
	return s.answers[what]
}

// since returns what was asked since it was called last.
func (s *service) since() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

func TestUpstream(t *testing.T) {
	const found, full, away, gone, odd = "20700000001", "20700000002", "20700000003", "20700000004", "20700000005"
	record := mockserver.Contribuyente{RUC: found, RazonSocial: "OTRA S.A.", Estado: "ACTIVO", Condicion: "HABIDO", Direccion: "AV. UNO 1", Ubigeo: "150101", FechaInscripcion: "-", FechaInicioActividades: "-"}
	other := record
	other.RUC, other.RazonSocial = full, "HALLADA S.A."
	renamed := record
	renamed.RazonSocial = "HALLADA DOS S.A."
	header := http.Header{"Content-Type": {"application/json; charset=utf-8"}, "X-Ratelimit-Remaining": {"7"}}
	s := &service{answers: map[string]mockserver.UpstreamAnswer{
		"consultar" + found + "0": {Status: 200, Header: header, Body: []byte(`{"del": "servicio"}`), Keep: mockserver.Data{Contribuyentes: []mockserver.Contribuyente{record}}},
		"consultar" + full + "0":  {Status: 200, Body: []byte(`{}`), Keep: mockserver.Data{Contribuyentes: []mockserver.Contribuyente{other}}},
		"consultar" + away + "0":  {Away: "conexión rechazada"},
		"consultar" + gone + "0":  {Status: 404, Body: []byte(`{"error": "no está", "code": "NOT_FOUND"}`)},
		"consultar" + odd + "0":   {Status: 200, Body: []byte("<html>"), Strange: true, Keep: mockserver.Data{Contribuyentes: []mockserver.Contribuyente{{RUC: odd}}}},
		"buscarhallada5":          {Status: 200, Body: []byte(`[1, 2]`), Keep: mockserver.Data{Contribuyentes: []mockserver.Contribuyente{renamed.Partial(), other.Partial()}}},
		"buscarsin nadie10":       {Status: 200, Body: []byte(`[]`)},
		"tipocambio2026-11-19":    {Status: 200, Body: []byte(`{"compra": 3.5}`), Keep: mockserver.Data{TiposCambio: []mockserver.TipoCambio{{Fecha: "2026-11-19", Compra: "3.500", Venta: "3.510"}}}},
		"consultar201313129550 known": {Status: 200, Body: []byte(`{"el": "otro"}`), Keep: mockserver.Data{Contribuyentes: []mockserver.Contribuyente{
			{RUC: "20131312955", RazonSocial: "OTRA S.A.", Estado: "ACTIVO", Condicion: "HABIDO"}}}},
		"tipocambio2026-11-18": {Status: 500},
	}}
	srv, api := start(t, mockserver.WithUpstream(s.ask), mockserver.WithNow(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)), mockserver.WithFrozenClock())
	lookup := func(ruc string) reply { return api.get("/api/contribuyentes/" + ruc) }
	last := func() mockserver.Request { all := srv.Requests(); return all[len(all)-1] }

	assert.Equal(t, 200, lookup("20131312955").status)
	assert.Empty(t, s.since(), "the data have it")
	r := lookup(found)
	assert.Equal(t, `{"del": "servicio"}`, r.body, "as it came")
	assert.Equal(t, "7", r.header.Get("X-RateLimit-Remaining"), "the service's")
	assert.Empty(t, r.header.Get("X-RateLimit-Limit"))
	assert.Equal(t, []string{"asked", "", "998"}, []string{last().Upstream, last().Fault, fmt.Sprint(last().Left)})
	assert.Contains(t, lookup(found).body, "OTRA S.A.", "kept")
	assert.Empty(t, last().Upstream)
	assert.Equal(t, []string{"consultar" + found + "0"}, s.since())

	for range 2 { // what is no success is asked each time
		r = lookup(away)
		assert.Equal(t, 502, r.status)
		assert.Contains(t, r.body, `"error":"el servicio real no respondió: conexión rechazada","code":"MOCK_UPSTREAM"`)
		assert.Equal(t, 404, lookup(gone).status)
		assert.Equal(t, "NOT_FOUND", last().Code)
		assert.Equal(t, "<html>", lookup(odd).body)
		assert.Equal(t, "strange", last().Upstream)
		assert.Equal(t, "[]", api.get("/api/contribuyentes/search?razonSocial=sin+nadie").body)
	}
	assert.Len(t, s.since(), 8)

	t.Run("a search has a part", func(t *testing.T) {
		require.Equal(t, `[1, 2]`, api.get("/api/contribuyentes/search?razonSocial=hallada+&limit=5").body)
		s.since()
		assert.Equal(t, 1, strings.Count(api.get("/api/contribuyentes/search?razonSocial=hallada").body, `"ruc"`))
		assert.Empty(t, s.since(), "it is kept")
		assert.Contains(t, lookup(found).body, "AV. UNO 1", "what is known stays")
		assert.Empty(t, s.since())
		lookup(full)
		lookup(full)
		assert.Equal(t, []string{"consultar" + full + "0"}, s.since(), "the rest is asked once")
	})
	t.Run("a rate", func(t *testing.T) {
		rate := func(day string) reply { return api.get("/api/tipocambio?fecha=" + day) }
		assert.Equal(t, `{"compra": 3.5}`, rate("2026-11-19").body)
		assert.Contains(t, rate("2026-11-19").body, `"compra":3.500`)
		assert.Equal(t, []string{"tipocambio2026-11-19"}, s.since(), "the default series is made up")
		assert.Equal(t, 500, rate("2026-11-18").status)
		s.since()
		for _, never := range []string{"2026-11-15", "2026-12-25", "2026-11-20", "2026-11-23", "ayer"} {
			assert.NotEqual(t, 200, rate(never).status)
		}
		assert.Empty(t, s.since(), "a holiday, the future and what is no date")
	})
	t.Run("a key that the server does not know", func(t *testing.T) {
		bad, good := api.withKey("clave-mala"), api.withKey("clave-buena")
		assert.Equal(t, 401, bad.get("/api/contribuyentes/20131312955").status, "the service judges it")
		assert.Equal(t, "CLAVE", last().Code)
		assert.Equal(t, 401, bad.validar(cpe(t)).status, "no validation is passed on")
		s.since()
		assert.Equal(t, 200, good.validar(cpe(t)).status, "nor judged")
		assert.Empty(t, s.since())
		assert.Contains(t, good.get("/api/contribuyentes/20131312955").body, "SUPERINTENDENCIA", "what the data have is not replaced")
		assert.Equal(t, []string{"consultar201313129550 known"}, s.since(), "the key is judged")
		assert.Equal(t, "asked", last().Upstream)
		assert.Contains(t, good.get("/api/contribuyentes/20131312955").body, "SUPERINTENDENCIA", "it is known now")
		assert.Contains(t, api.get("/api/contribuyentes/20131312955").body, "SUPERINTENDENCIA", "by all keys")
		assert.Equal(t, 200, good.validar(cpe(t)).status)
		assert.Empty(t, s.since())
		assert.Equal(t, 401, api.withKey("").get("/api/contribuyentes/"+gone).status)
		assert.Empty(t, s.since(), "no call")
		for _, k := range srv.Keys() {
			assert.NotContains(t, []string{"clave-mala", "clave-buena"}, k.Key)
		}
		srv.AssertNoSecrets(t, "clave-buena", "clave-mala")
	})
	t.Run("a fault spares the query", func(t *testing.T) {
		srv.Fault(mockserver.Match{Times: 1}, mockserver.Status(503))
		assert.Equal(t, 503, lookup(gone).status)
		assert.Empty(t, s.since())
		srv.Fault(mockserver.Match{Times: 1}, mockserver.Header("X-Uno", "1"))
		assert.Equal(t, "1", lookup(gone).header.Get("X-Uno"))
		assert.Len(t, s.since(), 1, "once, for what it changes")
	})
}
