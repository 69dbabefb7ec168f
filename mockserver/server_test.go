package mockserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeT records what a Server does to the test it was given.
type fakeT struct {
	cleanups []func()
	errors   []string
	fatal    string
}

func (f *fakeT) Helper()          {}
func (f *fakeT) Cleanup(c func()) { f.cleanups = append(f.cleanups, c) }
func (f *fakeT) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

func (f *fakeT) Fatalf(format string, args ...any) { f.fatal = fmt.Sprintf(format, args...) }
func (f *fakeT) Logf(string, ...any)               {}

func TestNewClosesWithTheTest(t *testing.T) {
	var f fakeT
	srv := mockserver.New(&f)
	require.Regexp(t, `^http://127\.0\.0\.1:[1-9][0-9]*$`, srv.URL)
	require.Equal(t, mockserver.DefaultAPIKey, srv.APIKey)
	resp, err := http.Get(srv.URL + "/api/tipocambio")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 401, resp.StatusCode)
	require.Len(t, f.cleanups, 1)
	f.cleanups[0]()
	_, err = net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	require.Error(t, err)
	assert.Empty(t, f.errors, "calls that match nothing do not fail the test")
}

func TestNewEndsTheTestWhenAnOptionCannotWork(t *testing.T) {
	var f fakeT
	mockserver.New(&f, mockserver.WithClock(nil))
	assert.Contains(t, f.fatal, "mockserver: WithClock: el reloj es nil")
}

func TestStart(t *testing.T) {
	srv, err := mockserver.Start()
	require.NoError(t, err)
	assert.Regexp(t, `^http://127\.0\.0\.1:[1-9]`, srv.URL)
	require.NoError(t, srv.Close())
	require.NoError(t, srv.Close(), "twice is fine")

	_, err = mockserver.Start(mockserver.WithRegistro(nil))
	assert.Error(t, err)
}

// slowRegistro answers on demand.
type slowRegistro struct {
	mockserver.RegistroEnMemoria
	asked, answer chan struct{}
}

func (r *slowRegistro) PorRUC(ctx context.Context, ruc string) (mockserver.Contribuyente, bool, error) {
	close(r.asked)
	select {
	case <-r.answer:
	case <-ctx.Done():
		return mockserver.Contribuyente{}, false, ctx.Err()
	}
	return mockserver.Contribuyente{RUC: ruc}, true, nil
}

func TestCloseWaitsForWhatIsInFlight(t *testing.T) {
	for name, c := range map[string]struct {
		takes  time.Duration
		status int
	}{"half a second": {time.Second / 2, 200}, "for ever": {time.Hour, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				registro := &slowRegistro{asked: make(chan struct{}), answer: make(chan struct{})}
				srv, api := start(t, mockserver.WithRegistro(registro))
				got := make(chan int, 1)
				go func() {
					req, _ := http.NewRequest(http.MethodGet, api.url+lookup, nil)
					req.Header.Set("X-API-KEY", api.key)
					resp, err := api.hc.Do(req)
					if err != nil {
						got <- 0
						return
					}
					_ = resp.Body.Close()
					got <- resp.StatusCode
				}()
				<-registro.asked
				time.AfterFunc(c.takes, func() { close(registro.answer) })
				began := time.Now()
				require.NoError(t, srv.Close())
				assert.LessOrEqual(t, time.Since(began), 1100*time.Millisecond)
				assert.Equal(t, c.status, <-got)
			})
		})
	}
}

func TestCloseDoesNotWaitForUnusedConnections(t *testing.T) {
	srv, err := mockserver.Start()
	require.NoError(t, err)
	conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	// A second connection that was answered proves that the first one was accepted.
	raw(t, srv, "GET / HTTP/1.1\r\nHost: mock\r\nConnection: close\r\n\r\n")
	began := time.Now()
	require.NoError(t, srv.Close())
	assert.Less(t, time.Since(began), 900*time.Millisecond)
}

// Each part is put back, and no other one.
func TestResetByPart(t *testing.T) {
	type state struct {
		Data    mockserver.Data
		Used    int
		Blocked bool
		Faults  int
		Journal bool
		Clock   bool
		Down    bool
	}
	see := func(srv *mockserver.Server) state {
		q, _ := srv.Quota(srv.APIKey)
		sol, _ := srv.SOLState(mockserver.RUCSolicitante, mockserver.UsuarioSOL)
		return state{srv.Data(), q.Used, sol.Blocked, len(srv.Control().Faults("")), len(srv.Requests()) > 0, srv.Now().Year() == 2026, srv.Control().SUNATDown()}
	}
	begin := func(t *testing.T) (*mockserver.Server, state, state) {
		srv, api := start(t, mockserver.WithNow(at(t, "2026-11-21T12:00:00Z")), mockserver.WithFrozenClock(), mockserver.WithData(readData(t, `{"contribuyentes": [{"ruc": "20000000001"}], "keys": [{"key": "k", "quota": 5}]}`)))
		fresh := see(srv)
		srv.SetNow(at(t, "2027-01-02T12:00:00Z"))
		for range 3 {
			api.validar(cpe(t, "claveSol", `"mala"`))
		}
		srv.Fault(mockserver.Match{}, mockserver.OK)
		require.NoError(t, srv.Control().PutData(readData(t, fixture)))
		require.NoError(t, srv.PutUsuarioSOL(mockserver.SOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: mockserver.ClaveSOL}))
		require.NoError(t, srv.PutKey("k", 99))
		for range 3 {
			api.validar(cpe(t, "claveSol", `"mala"`))
		}
		srv.SetSUNATDown(true)
		return srv, fresh, see(srv)
	}
	for part, put := range map[mockserver.Part]func(now, fresh *state){
		mockserver.PartJournal: func(now, fresh *state) { now.Journal = fresh.Journal },
		mockserver.PartFaults:  func(now, fresh *state) { now.Faults = fresh.Faults },
		mockserver.PartQuotas:  func(now, fresh *state) { now.Used = fresh.Used },
		mockserver.PartClock:   func(now, fresh *state) { now.Clock, now.Used, now.Blocked = fresh.Clock, fresh.Used, true },
		mockserver.PartData: func(now, fresh *state) {
			now.Data, now.Blocked, now.Down = fresh.Data, fresh.Blocked, fresh.Down
		},
		mockserver.PartLocks: func(now, fresh *state) { now.Blocked = fresh.Blocked },
	} {
		t.Run(string(part), func(t *testing.T) {
			srv, fresh, now := begin(t)
			require.NoError(t, srv.Reset(part))
			put(&now, &fresh)
			assert.Empty(t, cmp.Diff(now, see(srv)))
		})
	}
	srv, fresh, _ := begin(t)
	require.NoError(t, srv.Reset())
	assert.Empty(t, cmp.Diff(fresh, see(srv)))
}

// A server is often printed by mistake, in a test's message or a log.
func TestAServerPrintsItsURL(t *testing.T) {
	srv, _ := start(t, mockserver.WithAPIKey("canario-4711"))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		assert.Equal(t, srv.URL, fmt.Sprintf(verb, srv))
	}
	text, err := json.Marshal(srv)
	require.NoError(t, err)
	assert.NotContains(t, string(text), srv.APIKey)
}
