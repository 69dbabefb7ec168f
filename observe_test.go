package fiscope_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestAnObserverSeesEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []fiscope.Event
		s := &service{answers: []func(*http.Request) (*http.Response, error){
			slowly(raw(503, "")),
			slowly(raw(404, contract(t, "consultar_404.json"), "X-RateLimit-Remaining: 7")),
		}}
		client := newClient(t, s, fiscope.WithObserver(func(e fiscope.Event) { events = append(events, e) }))
		require.Error(t, operations["consultar"](t.Context(), client))
		_, err := client.Contribuyentes.Consultar(t.Context(), "x")
		require.Error(t, err)
		for i, word := range []string{"unavailable", "not_found", "invalid_request"} {
			assert.Equal(t, word, fiscope.ErrorClass(events[i].Err))
			events[i].Err = nil
		}
		assert.Empty(t, cmp.Diff([]fiscope.Event{
			{Op: fiscope.OpConsultarContribuyente, Attempt: 1, StatusCode: 503, Duration: time.Second, Delivery: fiscope.DeliveryAnswered},
			{Op: fiscope.OpConsultarContribuyente, Attempt: 2, StatusCode: 404, Code: "NOT_FOUND", Duration: time.Second, Delivery: fiscope.DeliveryAnswered,
				RateLimit: &fiscope.RateLimit{Limit: fiscope.NoHeader, Remaining: 7}},
			{Op: fiscope.OpConsultarContribuyente, Avoided: fiscope.AvoidedInvalid},
		}, events))
	})
}

func TestAnObserverSeesWhetherItWasSent(t *testing.T) {
	var events []fiscope.Event
	client := newClient(t, roundTripper(broken(context.DeadlineExceeded)), fiscope.WithObserver(func(e fiscope.Event) { events = append(events, e) }))
	require.Error(t, operations["validar"](t.Context(), client))
	require.Len(t, events, 1)
	assert.Equal(t, fiscope.DeliveryUnknown, events[0].Delivery)
}

func TestALogTellsWhatHappenedAndOfNobody(t *testing.T) {
	var log bytes.Buffer
	s := &service{answers: []func(*http.Request) (*http.Response, error){
		raw(200, record), raw(200, results), raw(401, contract(t, "validar_401.json")), raw(200, price),
	}}
	client := newClient(t, s, fiscope.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	for _, op := range []string{"consultar", "buscar", "validar", "tipocambio", "validar"} {
		_ = operations[op](t.Context(), client)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	require.Len(t, lines, 5)
	assert.Contains(t, lines[0], "level=DEBUG")
	assert.Contains(t, lines[0], "event.op=Contribuyentes.Consultar event.attempt=1")
	assert.Contains(t, lines[2], "level=WARN")
	assert.Contains(t, lines[2], "event.status=401 event.code=INVALID_SOL_CREDENTIALS")
	assert.Contains(t, lines[4], "event.avoided=sol")
	for _, private := range []string{rucSUNAT, rucEmisor, "SUNAT", "gloria", "/api/", "MIUSER01", "fiscope.example"} {
		assert.NotContains(t, log.String(), private)
	}
}

func TestStatsIsALedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := answers(t,
			raw(503, ""), raw(200, record), // a retry
			raw(401, contract(t, "validar_401.json")),
			raw(200, record, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2000-01-01T05:00:00Z"))
		require.NoError(t, operations["consultar"](t.Context(), client))
		require.Error(t, operations["validar"](t.Context(), client))
		require.Error(t, operations["validar"](t.Context(), client)) // refused by the SOL guard
		require.NoError(t, operations["consultar"](t.Context(), client))
		require.Error(t, operations["consultar"](t.Context(), client)) // refused by the quota gate
		_, err := client.Contribuyentes.Consultar(t.Context(), "")
		require.Error(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, operations["hoy"](ctx, client))
		assert.Empty(t, cmp.Diff(fiscope.Stats{
			Calls: 7, Attempts: 4, Retries: 1, Sent: 4,
			Avoided: map[fiscope.Avoided]int64{fiscope.AvoidedInvalid: 1, fiscope.AvoidedSOL: 1, fiscope.AvoidedQuota: 2, fiscope.AvoidedOutOfTime: 0, fiscope.AvoidedUnpublished: 0,
				fiscope.AvoidedCached: 0, fiscope.AvoidedCoalesced: 0},
		}, client.Stats()))
	})
}
