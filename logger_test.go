package fiscope_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestALogTellsWhatHappenedAndOfNobody(t *testing.T) {
	var log bytes.Buffer
	s := &service{answers: []handler{raw(200, record, "X-RateLimit-Remaining: 7"), raw(200, results), raw(401, contract(t, "validar_401.json")), raw(200, price)}}
	client := newClient(t, s, fiscope.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	for _, op := range []string{"consultar", "buscar", "validar", "tipocambio", "validar"} {
		_ = operations[op](t.Context(), client)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	require.Len(t, lines, 5)
	assert.Contains(t, lines[0], "level=DEBUG")
	assert.Contains(t, lines[0], "event.op=Contribuyentes.Consultar event.attempt=1")
	assert.Contains(t, lines[0], `event.quota="7 of ? left, reset ?"`)
	assert.Contains(t, lines[2], "level=WARN")
	assert.Contains(t, lines[2], "event.status=401 event.code=INVALID_SOL_CREDENTIALS")
	assert.Contains(t, lines[4], "event.avoided=sol")
	for _, private := range []string{rucSUNAT, rucEmisor, "SUNAT", "gloria", "/api/", "MIUSER01", "fiscope.example"} {
		assert.NotContains(t, log.String(), private)
	}
}

// quietly returns the records above Debug.
func quietly(records []logLine) []logLine {
	return slices.DeleteFunc(slices.Clone(records), func(l logLine) bool { return l.level < slog.LevelInfo })
}

// An outage is logged when it begins, once a minute with a count, and when it ends. An observer sees each call.
func TestAnOutageDoesNotFillTheLog(t *testing.T) {
	padron := fiscope.WithRespaldo(padronDelJueves(new(atomic.Int64)))
	for name, test := range map[string]struct {
		op    string
		class string
		level slog.Level // of the lines after the first
		away  handler
		ends  handler
		opens func(*testing.T, *fiscope.Client)
		opts  []fiscope.Option
	}{
		"503":                  {"consultar", "unavailable", slog.LevelWarn, raw(503, ""), raw(200, record), nil, nil},
		"503, with a Respaldo": {"consultar", "unavailable", slog.LevelInfo, raw(503, ""), raw(404, contract(t, "consultar_404.json")), nil, []fiscope.Option{padron}},
		"a page":               {"buscar", "malformed_response", slog.LevelWarn, raw(200, "<html>"), raw(200, results), nil, nil},
		"a refused key":        {"buscar", "unauthorized", slog.LevelError, raw(401, `{"error":"x","code":"KEY"}`), raw(200, results), nil, nil},
		"a spent quota": {
			"consultar", "quota_exceeded", slog.LevelWarn, raw(429, `{"error":"x","code":"QUOTA"}`, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2000-01-01T12:00:00Z"), raw(200, record),
			func(*testing.T, *fiscope.Client) { time.Sleep(24 * time.Hour) }, nil,
		},
		"a blocked clave": {
			"validar", "sol_credentials_blocked", slog.LevelWarn, raw(401, contract(t, "validar_401.json")), raw(200, verdict),
			func(t *testing.T, c *fiscope.Client) { require.NoError(t, c.CPE.Olvidar(t.Context(), credenciales)) }, nil,
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			var w watch
			client, s := newChangingClient(t, test.away, append(append(w.options(), test.opts...), fiscope.WithMaxRetries(1))...)
			_ = operations[test.op](t.Context(), client)
			for range 7200 { // an hour
				_ = operations[test.op](t.Context(), client)
				time.Sleep(time.Second / 2)
			}
			events, records := w.seen()
			assert.GreaterOrEqual(t, len(events), 7200)
			assert.GreaterOrEqual(t, len(records), 7200, "at Debug each is logged")
			records = quietly(records)
			assert.LessOrEqual(t, len(records), 65)
			calls, last := 0, records[len(records)-1]
			for _, l := range records {
				if _, count, ok := strings.Cut(l.text, "count="); ok {
					n, err := strconv.Atoi(strings.Fields(count)[0])
					require.NoError(t, err)
					calls += n
				}
			}
			assert.InDelta(t, 7200, calls, 125, "but for those since the last line")
			assert.Equal(t, test.level, last.level)
			assert.Contains(t, last.text, "count=120")

			if test.opens != nil {
				test.opens(t, client)
			}
			s.become(test.ends)
			for range 20 {
				time.Sleep(time.Second)
				_ = operations[test.op](t.Context(), client)
			}
			_, after := w.seen()
			assert.Len(t, slices.DeleteFunc(quietly(after)[len(records):], func(l logLine) bool {
				return l.level != slog.LevelInfo || l.message != "fiscope: the service answers again" ||
					!strings.Contains(l.text, "class="+test.class) || !strings.Contains(l.text, "duration=")
			}), 1)
		})
	}
}
