package mockserver_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && errors.Is(err, syscall.ECONNRESET)
}

// What matters for a quota: an answer that is lost after it was paid for, and one that was never charged.
func TestChargedOrNot(t *testing.T) {
	for name, c := range map[string]struct {
		step  mockserver.Step
		spent int
	}{
		"after":             {mockserver.ResetBefore, 1},
		"before":            {mockserver.ResetBefore.Uncharged(), 0},
		"status after":      {mockserver.Status(500), 1},
		"status before":     {mockserver.Status(500).Uncharged(), 0},
		"latency before":    {mockserver.Latency(time.Millisecond).Uncharged(), 1},
		"page before":       {mockserver.HTML200.Uncharged(), 0},
		"close before":      {mockserver.CloseBefore.Uncharged(), 0},
		"the contract's OK": {mockserver.OK, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, api := start(t)
				srv.Fault(mockserver.Match{}, c.step)
				_, _ = api.try("POST", "/api/cpe/validar", cpe(t))
				q, _ := srv.Quota(srv.APIKey)
				assert.Equal(t, c.spent, q.Spent)
				srv.AssertSpent(t, mockserver.Filter{}, c.spent)
				srv.AssertSOLAttempts(t, mockserver.RUCSolicitante, mockserver.UsuarioSOL, c.spent)
				state, _ := srv.SOLState(mockserver.RUCSolicitante, mockserver.UsuarioSOL)
				assert.Equal(t, c.spent, state.Attempts)
			})
		})
	}
}

func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t)
		took := func() time.Duration {
			begin := time.Now()
			require.Equal(t, 200, api.get(lookup).status)
			return time.Since(begin)
		}
		assert.Zero(t, took())
		srv.Fault(mockserver.Match{Times: 1}, mockserver.Latency(3*time.Second))
		assert.Equal(t, 3*time.Second, took())
		srv.Fault(mockserver.Match{Times: 1}, mockserver.Slow)
		assert.Greater(t, took(), 2*time.Second)
		srv.Fault(mockserver.Match{}, mockserver.SUNATSlow)
		below := 0
		distinct := map[time.Duration]bool{}
		for range 100 {
			d := took()
			distinct[d] = true
			if d < 4*time.Second {
				below++
			}
		}
		assert.Len(t, distinct, 100)
		assert.InDelta(t, 50, below, 15, "half of them below the median")
	})
}

func TestHoldUntilReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t)
		gate := srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Hold())
		done := make(chan reply, 3)
		for range 3 {
			go func() { done <- api.get(lookup) }()
		}
		held, err := srv.WaitRequests(t.Context(), mockserver.Filter{Fault: gate.Status().Name}, 3)
		require.NoError(t, err)
		assert.Zero(t, held[0].Status, "it waits")
		assert.Equal(t, 200, api.get("/api/contribuyentes/search?razonSocial=sunat").status, "the others do not")
		synctest.Wait()
		assert.Empty(t, done)
		gate.Release()
		for range 3 {
			assert.Equal(t, 200, (<-done).status)
		}
		assert.Equal(t, 200, api.get(lookup).status, "it stays open")
		srv.AssertCalls(t, mockserver.Filter{Op: mockserver.OpConsultar, Status: 200}, 4)
	})
}

// A wait ends with its client, with its fault and with its server, and leaves nothing behind.
func TestWaitsEnd(t *testing.T) {
	for name, step := range map[string]mockserver.Step{
		"hang": mockserver.Hang, "hang inside": mockserver.HangInside, "hold": mockserver.Hold(),
		"latency": mockserver.Latency(time.Hour), "slow": mockserver.Slow.And(mockserver.Latency(time.Hour)),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, api := start(t)
				srv.Fault(mockserver.Match{}, step)
				api.hc.Timeout = time.Minute
				begin := time.Now()
				_, err := api.try("GET", lookup, "")
				assert.Error(t, err)
				assert.Equal(t, time.Minute, time.Since(begin))

				if api.hc.Timeout = 0; name == "hang" || name == "hang inside" {
					got := make(chan error)
					go func() {
						_, err := api.try("GET", lookup, "")
						got <- err
					}()
					_, err = srv.WaitRequests(t.Context(), mockserver.Filter{}, 2)
					require.NoError(t, err)
					synctest.Wait()
					srv.ClearFaults()
					assert.Error(t, <-got, "closed when the fault is removed")
					srv.Fault(mockserver.Match{}, step)
				}
				seen := len(srv.Requests())
				failed := make(chan error)
				go func() {
					_, err := api.try("GET", lookup, "")
					failed <- err
				}()
				_, err = srv.WaitRequests(t.Context(), mockserver.Filter{}, seen+1)
				require.NoError(t, err)
				synctest.Wait()
				begin = time.Now()
				require.NoError(t, srv.Close())
				assert.Zero(t, time.Since(begin), "Close does not wait for what a fault holds")
				assert.Error(t, <-failed)
			})
		})
	}
}

// Bytes on a real socket: a reset is a RST, a close is a FIN.
func TestResetAndCloseOnASocket(t *testing.T) {
	for name, c := range map[string]struct {
		step  mockserver.Step
		reset bool
		some  bool
	}{
		"reset":        {mockserver.ResetBefore, true, false},
		"reset inside": {mockserver.ResetInside, true, true},
		"close":        {mockserver.CloseBefore, false, false},
		"close inside": {mockserver.CloseInside, false, true},
	} {
		for _, body := range []string{"", cpe(t), strings.Repeat(" ", 30_000)} {
			t.Run(fmt.Sprint(name, " ", len(body)), func(t *testing.T) {
				srv := mockserver.New(t)
				srv.Fault(mockserver.Match{}, c.step)
				conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
				require.NoError(t, err)
				defer func() { _ = conn.Close() }()
				line := "GET " + lookup
				if body != "" {
					line = "POST /api/cpe/validar"
				}
				_, err = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: mock\r\nX-API-KEY: %s\r\nContent-Length: %d\r\n\r\n%s", line, srv.APIKey, len(body), body)
				require.NoError(t, err)
				got, err := io.ReadAll(bufio.NewReader(conn))
				assert.Equal(t, c.reset, isReset(err), "%v", err)
				if !c.reset {
					assert.NoError(t, err, "an orderly end")
				}
				assert.Equal(t, c.some, len(got) > 0, "%q", got)
			})
		}
	}
}

// Over memory the same, on either side of the first byte.
func TestResetInMemory(t *testing.T) {
	srv, api := start(t)
	srv.Fault(mockserver.Match{}, mockserver.ResetBefore, mockserver.ResetInside, mockserver.CloseInside)
	_, err := api.try("GET", lookup, "")
	assert.True(t, isReset(err), "%v", err)
	r, err := api.try("GET", lookup, "")
	assert.True(t, isReset(err), "%v", err)
	assert.NotEmpty(t, r.body)
	r, err = api.try("GET", lookup, "")
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.NotEmpty(t, r.body)
}

// Behind TLS, in an http.Server of one's own: a reset sends no TLS alert first, and the journal knows the connection.
func TestResetBehindTLS(t *testing.T) {
	srv, _ := start(t)
	for _, c := range []struct {
		step  mockserver.Step
		reset bool
	}{{mockserver.ResetBefore, true}, {mockserver.CloseBefore, false}} {
		server := httptest.NewUnstartedServer(srv)
		server.Config.ConnContext = srv.Control().ConnContext
		server.StartTLS()
		fault := srv.Fault(mockserver.Match{}, c.step)
		_, err := api{t, server.URL, srv.APIKey, server.Client()}.try("GET", lookup, "")
		require.Error(t, err)
		assert.Equal(t, c.reset, isReset(err), "%v", err)
		fault.Remove()
		server.Close()
	}
	got := srv.Requests()
	require.Len(t, got, 2)
	assert.Equal(t, []int64{1, 2}, []int64{got[0].Conn, got[1].Conn})
}

// A request of which the client sends so much before it leaves: the body's length is announced, and part of it comes.
func leaving(method, path, key, contentType string, length int, body string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: mock\r\nX-API-KEY: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", method, path, key, contentType, length, body)
}

// A client that leaves while a fault keeps its call waiting is noticed, whatever of its body was read: the call
// ends, and before the charge it costs nothing and is no SOL attempt.
func TestAClientThatLeavesIsNoticed(t *testing.T) {
	body := cpe(t)
	long := body + strings.Repeat(" ", 300_000)
	const validation, jsonType = "/api/cpe/validar", "application/json"
	for name, request := range map[string]string{
		"a validation":                leaving("POST", validation, mockserver.DefaultAPIKey, jsonType, len(body), body),
		"half of its body":            leaving("POST", validation, mockserver.DefaultAPIKey, jsonType, len(body), body[:50]),
		"nothing of its body":         leaving("POST", validation, mockserver.DefaultAPIKey, jsonType, len(body), ""),
		"a body that is too large":    leaving("POST", validation, mockserver.DefaultAPIKey, jsonType, len(long), long),
		"half of a large one":         leaving("POST", validation, mockserver.DefaultAPIKey, jsonType, len(long), long[:200_000]),
		"not JSON":                    leaving("POST", validation, mockserver.DefaultAPIKey, "text/plain", len(body), body),
		"a spent quota":               leaving("POST", validation, "gastada", jsonType, len(body), body),
		"a lookup":                    leaving("GET", lookup, mockserver.DefaultAPIKey, jsonType, 0, ""),
		"a lookup with a body":        leaving("GET", lookup, mockserver.DefaultAPIKey, jsonType, len(body), body),
		"a lookup with half of a one": leaving("GET", lookup, mockserver.DefaultAPIKey, jsonType, len(body), body[:50]),
	} {
		for fault, c := range map[string]struct {
			step   mockserver.Step
			before bool
		}{
			"latency before": {mockserver.Latency(time.Hour).Uncharged(), true},
			"hold before":    {mockserver.Hold().Uncharged(), true},
			"hang before":    {mockserver.Hang.Uncharged(), true},
			"latency":        {mockserver.Latency(time.Hour), false},
			"hold":           {mockserver.Hold(), false},
			"hang":           {mockserver.Hang, false},
			"hang inside":    {mockserver.HangInside, false},
			"slow":           {mockserver.Slow, false},
		} {
			t.Run(name+", "+fault, func(t *testing.T) {
				srv, _ := start(t, mockserver.WithKey("gastada", 0))
				srv.Fault(mockserver.Match{}, c.step)
				left := make(chan struct{})
				front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer close(left)
					srv.ServeHTTP(w, r)
				}))
				defer front.Close()
				conn, err := net.Dial("tcp", front.Listener.Addr().String())
				require.NoError(t, err)
				go func() { _, _ = io.Copy(io.Discard, conn) }()
				_, err = io.WriteString(conn, request)
				require.NoError(t, err)
				if whole := strings.HasSuffix(request, body) || strings.HasSuffix(request, long) || strings.HasSuffix(name, "lookup"); whole {
					_, err = srv.WaitRequests(t.Context(), mockserver.Filter{}, 1)
					require.NoError(t, err)
				}
				require.NoError(t, conn.Close())
				<-left
				if state, _ := srv.SOLState(mockserver.RUCSolicitante, mockserver.UsuarioSOL); c.before {
					q, _ := srv.Quota(srv.APIKey)
					assert.Zero(t, q.Spent)
					assert.Zero(t, state.Attempts)
					srv.AssertSpent(t, mockserver.Filter{}, 0)
				}
				srv.AssertCalls(t, mockserver.Filter{}, 1)
			})
		}
	}
}

// A body of which nothing more comes does not keep a server from closing, nor a fault from ending.
func TestCloseDoesNotWaitForABody(t *testing.T) {
	for name, step := range map[string]mockserver.Step{"hold before": mockserver.Hold().Uncharged(), "hang": mockserver.Hang, "latency": mockserver.Latency(time.Hour)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, api := start(t)
				srv.Fault(mockserver.Match{}, step)
				body, never := io.Pipe()
				failed := make(chan error)
				go func() {
					req, _ := http.NewRequest(http.MethodGet, api.url+lookup, io.MultiReader(strings.NewReader("{"), body))
					req.Header.Set("X-API-KEY", api.key)
					resp, err := api.hc.Do(req)
					if err == nil {
						_ = resp.Body.Close()
					}
					failed <- err
				}()
				synctest.Wait()
				begin := time.Now()
				require.NoError(t, srv.Close())
				assert.Zero(t, time.Since(begin))
				_ = never.Close()
				assert.Error(t, <-failed)
			})
		})
	}
}

// What a fault answers with is charged, and has its headers, by the same readings as what the service answers with.
func TestFaultsFollowTheAssumptions(t *testing.T) {
	const unknown = "/api/contribuyentes/20000000001"
	for name, c := range map[string]struct {
		path    string
		step    mockserver.Step
		cost    int  // under ChargeFailures=false
		headers bool // under HeadersOnErrors=false
	}{
		"no fault":                {lookup, mockserver.OK, 1, true},
		"503":                     {lookup, mockserver.Status(503), 0, false},
		"a page with 200":         {lookup, mockserver.HTML200, 1, true},
		"a firewall's page":       {lookup, mockserver.Firewall403, 0, false},
		"another body":            {lookup, mockserver.Truncated, 1, true},
		"a 404":                   {unknown, mockserver.OK, 0, false},
		"200 in place of a 404":   {unknown, mockserver.Status(200), 1, true},
		"latin-1 for a 404":       {unknown, mockserver.Latin1, 0, false},
		"503, before the charge":  {lookup, mockserver.Status(503).Uncharged(), 0, false},
		"503 in pieces":           {lookup, mockserver.Status(503).And(mockserver.Slow), 0, false},
		"503 with a header of it": {lookup, mockserver.Status(503).And(mockserver.Header("X-RateLimit-Limit", "7")), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				free := mockserver.DefaultAssumptions()
				free.ChargeFailures = false
				srv, api := start(t, mockserver.WithAssumptions(free), mockserver.WithQuota(10))
				fault := srv.Fault(mockserver.Match{Times: 1}, c.step)
				r := api.get(c.path)
				require.Equal(t, 1, fault.Status().Hits)
				q, _ := srv.Quota(srv.APIKey)
				assert.Equal(t, c.cost, q.Used)
				assert.Equal(t, c.cost, q.Spent)
				srv.AssertSpent(t, mockserver.Filter{}, c.cost)
				if name != "503, before the charge" { // it reaches no quota
					assert.Equal(t, strconv.Itoa(10-c.cost), remaining(r))
					assert.Equal(t, 10-c.cost, srv.Requests()[0].Left)
				}

				bare := mockserver.DefaultAssumptions()
				bare.HeadersOnErrors = false
				srv, api = start(t, mockserver.WithAssumptions(bare), mockserver.WithQuota(10))
				srv.Fault(mockserver.Match{}, c.step)
				assert.Equal(t, c.headers, api.get(c.path).header.Get("X-RateLimit-Limit") != "")
			})
		})
	}
}

// The taxpayer that a call is about is in its body: a client that leaves within it is noticed too, and the call costs nothing.
func TestAClientThatLeavesBeforeItSaysWhomItIsAbout(t *testing.T) {
	body := cpe(t)
	for name, sent := range map[string]string{"most of the body": body[:len(body)-3], "half of it": body[:50], "nothing of it": ""} {
		for which, match := range map[string]mockserver.Match{
			"the issuer": {RUC: "20100070970"}, "the caller": {RUC: mockserver.RUCSolicitante, Op: mockserver.OpValidar}, "somebody else": {RUC: "20000000001"},
		} {
			t.Run(name+", "+which, func(t *testing.T) {
				srv, _ := start(t)
				fault := srv.Fault(match, mockserver.Latency(time.Hour).Uncharged())
				left := make(chan struct{})
				front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer close(left)
					srv.ServeHTTP(w, r)
				}))
				defer front.Close()
				conn, err := net.Dial("tcp", front.Listener.Addr().String())
				require.NoError(t, err)
				_, err = io.WriteString(conn, leaving("POST", "/api/cpe/validar", srv.APIKey, "application/json", len(body), sent))
				require.NoError(t, err)
				require.NoError(t, conn.Close())
				<-left
				q, _ := srv.Quota(srv.APIKey)
				assert.Zero(t, q.Spent+q.Used)
				assert.Zero(t, fault.Status().Hits)
				srv.AssertSpent(t, mockserver.Filter{}, 0)
				srv.AssertCalls(t, mockserver.Filter{}, 1)
				state, _ := srv.SOLState(mockserver.RUCSolicitante, mockserver.UsuarioSOL)
				assert.Zero(t, state.Attempts)
			})
		}
	}
}
