package fiscope_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestALogTellsWhatHappenedAndOfNobody(t *testing.T) {
	var log bytes.Buffer
	s := &service{answers: []handler{raw(200, record), raw(200, results), raw(401, contract(t, "validar_401.json")), raw(200, price)}}
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

// A refusal that repeats itself is logged when it begins, once a minute with a count, and when it ends.
func TestWhatRepeatsItselfIsCounted(t *testing.T) {
	for name, test := range map[string]struct {
		op      string
		begins  handler
		ends    handler
		opens   func(*testing.T, *fiscope.Client)
		message string
	}{
		"a spent quota": {
			"consultar", raw(200, record, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2000-01-01T12:00:00Z"), raw(200, record),
			func(*testing.T, *fiscope.Client) { time.Sleep(24 * time.Hour) }, "fiscope: the quota is open again",
		},
		"a blocked clave": {
			"validar", raw(401, contract(t, "validar_401.json")), raw(200, verdict),
			func(t *testing.T, c *fiscope.Client) { require.NoError(t, c.CPE.Olvidar(t.Context(), credenciales)) }, "fiscope: a SOL user is accepted again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w watch
				client, s := newChangingClient(t, test.begins, w.options()...)
				_ = operations[test.op](t.Context(), client)
				_, before := w.seen()
				for range 5000 {
					require.Error(t, operations[test.op](t.Context(), client))
					time.Sleep(10 * time.Millisecond)
				}
				_, records := w.seen()
				records = records[len(before):]
				require.Len(t, records, 1, "in 50 seconds")
				assert.NotContains(t, records[0].text, "omitted")
				time.Sleep(time.Minute)
				s.become(broken(context.Canceled)) // should one go as a probe
				_ = operations[test.op](t.Context(), client)
				_ = operations[test.op](t.Context(), client)
				_, records = w.seen()
				assert.Contains(t, records[len(records)-1].text, "omitted=4999")

				test.opens(t, client)
				s.become(test.ends)
				require.NoError(t, operations[test.op](t.Context(), client))
				require.NoError(t, operations[test.op](t.Context(), client))
				_, records = w.seen()
				records = records[len(records)-3:]
				assert.Equal(t, []string{test.message, "fiscope: answered", "fiscope: answered"}, []string{records[0].message, records[1].message, records[2].message})
				assert.Equal(t, slog.LevelInfo, records[0].level)
				events, _ := w.seen()
				assert.Greater(t, len(events), 5000, "an observer sees each")
			})
		})
	}
}

// A wrong clave beside a right one, and a reserve beside calls without, write two lines a minute.
func TestWhatComesAndGoesIsCountedToo(t *testing.T) {
	refusal := contract(t, "validar_401.json")
	for name, one := range map[string]func(context.Context, *fiscope.Client, bool) error{
		"a clave": func(ctx context.Context, c *fiscope.Client, wrong bool) error {
			return validar(ctx, c, map[bool]string{true: "equivocada", false: clave}[wrong])
		},
		"a reserve": func(ctx context.Context, c *fiscope.Client, refused bool) error {
			return operations["consultar"](ctx, c, fiscope.WithQuotaReserve(map[bool]int{true: 200}[refused]))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					if r.Body != nil {
						if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte("equivocada")) {
							return raw(401, refusal)(r)
						}
					}
					body := map[string]string{http.MethodGet: record, http.MethodPost: verdict}[r.Method]
					return raw(200, body, "X-RateLimit-Remaining: 150", "X-RateLimit-Reset: 2000-01-01T12:00:00Z")(r)
				}), fiscope.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				for range 600 {
					_ = one(t.Context(), client, true)
					require.NoError(t, one(t.Context(), client, false))
					time.Sleep(time.Second)
				}
				assert.LessOrEqual(t, strings.Count(log.String(), "\n"), 22)
			})
		})
	}
}
