package mockserver_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// replays are the marks of the requests, in their order; 0 for none.
func replays(srv *mockserver.Server) (marks []int64) {
	for _, r := range srv.Requests() {
		marks = append(marks, r.Replay)
	}
	return marks
}

// net/http repeats a GET by itself when the connection that it used again dies before the answer, and says nothing.
func TestWhatTheTransportSendsAgainIsMarked(t *testing.T) {
	for name, fault := range map[string]mockserver.Step{"reset": mockserver.ResetBefore, "reset before the charge": mockserver.ResetBefore.Uncharged(), "closed": mockserver.CloseBefore} {
		t.Run(name, func(t *testing.T) {
			srv := mockserver.New(t)
			api := plain(t, srv)
			api.hc.Transport = &http.Transport{}
			t.Cleanup(api.hc.CloseIdleConnections)
			api.get(lookup)
			srv.Fault(mockserver.Match{Times: 1}, fault)
			assert.Equal(t, 200, api.get(lookup).status, "the caller notices nothing")
			api.get(lookup)
			got := srv.Requests()
			require.Len(t, got, 4)
			assert.True(t, got[1].Reused)
			assert.Zero(t, got[1].Status)
			assert.False(t, got[2].Reused)
			assert.Equal(t, []int64{0, 0, 2, 0}, replays(srv))
		})
	}
}

// What a client sends again after an answer that never came whole is marked, and nothing else.
func TestReplay(t *testing.T) {
	type question struct{ key, method, path, body string }
	validation := question{"", "POST", "/api/cpe/validar", cpe(t)}
	get := question{"", "GET", lookup, ""}
	for name, c := range map[string]struct {
		fault mockserver.Step // of the first
		asked []question
		want  []int64
	}{
		"a whole answer":         {mockserver.OK, []question{get, get, get}, []int64{0, 0, 0}},
		"a wrong answer":         {mockserver.Garbage, []question{get, get}, []int64{0, 0}},
		"a receipt":              {mockserver.ResetBefore, []question{validation, validation, validation}, []int64{0, 1, 0}},
		"a receipt, uncharged":   {mockserver.CloseBefore.Uncharged(), []question{validation, validation}, []int64{0, 1}},
		"a receipt, half of it":  {mockserver.ResetInside, []question{validation, validation}, []int64{0, 1}},
		"a lookup":               {mockserver.CloseInside, []question{get, get, get}, []int64{0, 1, 0}},
		"something else between": {mockserver.ResetBefore, []question{validation, get, validation}, []int64{0, 0, 1}},
		"another receipt":        {mockserver.ResetBefore, []question{validation, {"", "POST", validation.path, cpe(t, "numero", "124")}}, []int64{0, 0}},
		"another clave":          {mockserver.ResetBefore, []question{validation, {"", "POST", validation.path, cpe(t, "claveSol", `"otra"`)}}, []int64{0, 0}},
		"another method":         {mockserver.CloseInside, []question{get, {"", "HEAD", lookup, ""}}, []int64{0, 0}},
		"another path":           {mockserver.CloseInside, []question{get, {"", "GET", lookup + "0", ""}}, []int64{0, 0}},
		"another query":          {mockserver.CloseInside, []question{get, {"", "GET", lookup + "?x=1", ""}}, []int64{0, 0}},
		"another key":            {mockserver.CloseInside, []question{get, {"otra-clave", "GET", lookup, ""}}, []int64{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := mockserver.New(t, mockserver.WithKey("otra-clave", 10))
			api := plain(t, srv)
			api.hc.Transport = &http.Transport{DisableKeepAlives: true} // sends nothing again by itself
			srv.Fault(mockserver.Match{Times: 1}, c.fault)
			for _, q := range c.asked {
				if q.key != "" {
					api = api.withKey(q.key)
				}
				_, _ = api.try(q.method, q.path, q.body)
			}
			assert.Equal(t, c.want, replays(srv))
		})
	}
}

// What was cut long ago, or has left the journal, is repeated by nobody.
func TestReplayIsOfLate(t *testing.T) {
	const other = "otra-clave"
	for name, c := range map[string]struct {
		between func(*mockserver.Server, api)
		want    int64
	}{
		"at once":                {func(*mockserver.Server, api) {}, 1},
		"a minute later":         {func(*mockserver.Server, api) { time.Sleep(time.Minute) }, 1},
		"later":                  {func(*mockserver.Server, api) { time.Sleep(time.Minute + 1) }, 0},
		"the journal is cleared": {func(s *mockserver.Server, _ api) { _ = s.Reset(mockserver.PartJournal) }, 0},
		"its own part":           {func(s *mockserver.Server, _ api) { _ = s.Control().ResetKey(s.APIKey, mockserver.PartJournal) }, 0},
		"another one's part":     {func(s *mockserver.Server, _ api) { _ = s.Control().ResetKey(other, mockserver.PartJournal) }, 1},
		"63 others":              {func(_ *mockserver.Server, a api) { breakMany(a, 63) }, 1},
		"64 others":              {func(_ *mockserver.Server, a api) { breakMany(a, 64) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, api := start(t, mockserver.WithKey(other, 10))
				fault := srv.Fault(mockserver.Match{}, mockserver.ResetInside)
				_, _ = api.try("GET", lookup, "")
				c.between(srv, api)
				fault.Remove()
				api.get(lookup)
				marks := replays(srv)
				assert.Equal(t, c.want, marks[len(marks)-1])
			})
		})
	}
}

func breakMany(a api, n int) {
	for i := range n {
		_, _ = a.try("GET", fmt.Sprint(lookup, "?", i), "")
	}
}

// The time of a call is that from its arrival until its answer was about to leave.
func TestTheMillisecondsOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t)
		srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Latency(1234567*time.Microsecond))
		go func() { _, _ = api.try("GET", lookup, "") }()
		time.Sleep(time.Second)
		assert.Zero(t, srv.Requests()[0].Ms, "it is under way")
		time.Sleep(time.Second)
		assert.InDelta(t, 1234.567, srv.Requests()[0].Ms, 1e-9)
		srv.Fault(mockserver.Match{Op: mockserver.OpTipoCambio}, mockserver.Hang)
		api.hc.Timeout = 90 * time.Second
		_, err := api.try("GET", "/api/tipocambio", "")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		assert.InDelta(t, 90_000, srv.Requests()[1].Ms, 1e-9, "until it was cut")
		_, err = api.try("GET", "/api/contribuyentes/search?razonSocial=sunat", "")
		require.NoError(t, err)
		assert.Positive(t, srv.Requests()[2].Ms, "it is not under way, though it took no time")
	})
}

// attempts are the links of the requests, in their order: "1" for a first one, "2 of 1" for its second attempt.
func attempts(srv *mockserver.Server) (links []string) {
	for _, r := range srv.Requests() {
		link := fmt.Sprint(max(r.Attempt, 1))
		if r.RetryOf != 0 {
			link += fmt.Sprint(" of ", r.RetryOf)
		}
		links = append(links, link)
	}
	return links
}

// A call that repeats a failed one is linked with it: by what its client says, or else by what is the same and near.
func TestRetries(t *testing.T) {
	type sent struct {
		after            time.Duration
		said, agent, key string
	}
	again := sent{after: time.Second}
	for name, c := range map[string]struct {
		fault mockserver.Step // of all calls but the last
		sent  []sent          // after the first one
		want  []string
	}{
		"after a 503":              {mockserver.Status(503), []sent{again, again}, []string{"1", "2 of 1", "3 of 1"}},
		"after a 500":              {mockserver.Status(500), []sent{again}, []string{"1", "2 of 1"}},
		"after a 429":              {mockserver.Throttle429, []sent{again}, []string{"1", "2 of 1"}},
		"after a broken answer":    {mockserver.ResetInside, []sent{again, again}, []string{"1", "2 of 1", "3 of 1"}},
		"after another error":      {mockserver.Status(404), []sent{again}, []string{"1", "1"}},
		"after a success":          {mockserver.OK, []sent{again}, []string{"1", "1"}},
		"after some seconds":       {mockserver.Status(503), []sent{{after: 15 * time.Second}}, []string{"1", "2 of 1"}},
		"much later":               {mockserver.Status(503), []sent{{after: 16 * time.Second}}, []string{"1", "1"}},
		"of another program":       {mockserver.Status(503), []sent{{agent: "otro/1.0"}}, []string{"1", "1"}},
		"of another key":           {mockserver.Status(503), []sent{{key: "otra-clave"}}, []string{"1", "1"}},
		"as its client says":       {mockserver.Status(503), []sent{{said: "2"}, {said: "3"}}, []string{"1", "2 of 1", "3 of 1"}},
		"which knows more":         {mockserver.OK, []sent{{said: "2", after: 30 * time.Second}}, []string{"1", "2 of 1"}},
		"and one that got lost":    {mockserver.Status(503), []sent{{said: "3"}}, []string{"1", "3 of 1"}},
		"then a call of its own":   {mockserver.Status(503), []sent{{said: "2"}, again}, []string{"1", "2 of 1", "1"}},
		"of nothing that came":     {mockserver.Status(503), []sent{{said: "2", agent: "otro/1.0"}}, []string{"1", "2"}},
		"without sense":            {mockserver.Status(503), []sent{{said: "dos"}, {said: "-1", after: time.Minute}}, []string{"1", "2 of 1", "1"}},
		"sent again, and repeated": {mockserver.ResetInside, []sent{again, {said: "2"}}, []string{"1", "2 of 1", "2 of 1"}},
		"repeated, and sent again": {mockserver.ResetInside, []sent{{said: "2"}, {said: "2", after: time.Second}, {said: "3"}}, []string{"1", "2 of 1", "2 of 1", "3 of 1"}},
		"said again after a 503":   {mockserver.Status(503), []sent{{said: "2"}, {said: "2"}}, []string{"1", "2 of 1", "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, api := start(t, mockserver.WithKey("otra-clave", 10))
				srv.Fault(mockserver.Match{Times: len(c.sent)}, c.fault)
				for _, s := range append([]sent{{}}, c.sent...) {
					time.Sleep(s.after)
					req, err := http.NewRequest(http.MethodGet, api.url+lookup, nil)
					require.NoError(t, err)
					req.Header.Set("X-API-KEY", cmp.Or(s.key, api.key))
					req.Header.Set("User-Agent", cmp.Or(s.agent, "prueba/1.0"))
					if s.said != "" {
						req.Header.Set(mockserver.AttemptHeader, s.said)
					}
					resp, err := api.hc.Do(req)
					if err == nil {
						_ = resp.Body.Close()
					}
				}
				synctest.Wait()
				for i, r := range srv.Requests() {
					assert.Equal(t, c.fault == mockserver.ResetInside && i < len(c.sent), r.Broken)
				}
				assert.Equal(t, c.want, attempts(srv))
			})
		})
	}
}

// Our SDK says the same attempt twice if net/http sends it again by itself.
func TestRetriesThatTheTransportSendsAgain(t *testing.T) {
	srv := mockserver.New(t)
	srv.Fault(mockserver.Match{}, mockserver.Status(503), mockserver.CloseBefore, mockserver.OK)
	_, err := srv.Client().Contribuyentes.Consultar(t.Context(), mockserver.RUCSolicitante)
	require.NoError(t, err)
	assert.Equal(t, []string{"1", "2 of 1", "2 of 1"}, attempts(srv))
}

// A client that waits no longer leaves and asks again, sooner than the server sees that it left or later. What it asked in parallel is no attempt.
func TestRetriesOfAClientThatLeft(t *testing.T) {
	for name, c := range map[string]struct {
		at   []time.Duration // when each is sent
		hung int             // so many of them, until their client leaves
		wait time.Duration   // how long that is
		seen time.Duration   // how much later the server sees that it left
		want []string
	}{
		"seen at once":            {[]time.Duration{0, time.Second + 1}, 1, time.Second, 0, []string{"1", "2 of 1"}},
		"seen later":              {[]time.Duration{0, time.Second + 1}, 1, time.Second, 20 * time.Millisecond, []string{"1", "2 of 1"}},
		"three times":             {[]time.Duration{0, time.Second + 1, 2*time.Second + 2}, 3, time.Second, 20 * time.Millisecond, []string{"1", "2 of 1", "3 of 1"}},
		"seen much later":         {[]time.Duration{0, time.Second + 1}, 1, time.Second, 200 * time.Millisecond, []string{"1", "1"}},
		"long before it left":     {[]time.Duration{0, 500 * time.Millisecond}, 2, time.Second, 0, []string{"1", "1"}},
		"four in parallel":        {[]time.Duration{0, 1, 2, 3}, 4, time.Second, 20 * time.Millisecond, []string{"1", "1", "1", "1"}},
		"four of little patience": {[]time.Duration{0, 1, 2, 3}, 4, 30 * time.Millisecond, 0, []string{"1", "1", "1", "1"}},
		"two in parallel, again":  {[]time.Duration{0, 1, time.Second + 2, time.Second + 3}, 2, time.Second, 20 * time.Millisecond, []string{"1", "1", "2 of 1", "2 of 2"}},
	} {
		for what, fault := range map[string]mockserver.Step{"held": mockserver.Hold(), "hung": mockserver.Hang, "hung inside": mockserver.HangInside, "late": mockserver.Latency(time.Minute)} {
			t.Run(name+", "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv, _ := start(t)
					srv.Fault(mockserver.Match{Times: c.hung}, fault)
					begin := time.Now()
					for _, at := range c.at {
						time.Sleep(time.Until(begin.Add(at)))
						ctx, cancel := context.WithTimeout(t.Context(), c.wait+c.seen)
						defer cancel()
						r := httptest.NewRequestWithContext(ctx, http.MethodGet, lookup, nil)
						r.Header.Set("X-API-KEY", srv.APIKey)
						go func() {
							defer func() { _ = recover() }() // http.ErrAbortHandler
							srv.ServeHTTP(httptest.NewRecorder(), r)
						}()
						synctest.Wait()
					}
					time.Sleep(time.Minute)
					assert.Equal(t, c.want, attempts(srv))
					if name == "seen later" {
						assert.Greater(t, srv.Requests()[1].Rev, srv.Requests()[0].Rev, "a reader of changes learns of it")
					}
				})
			})
		}
	}
}

// A validation that is refused before anybody needs its body is repeated as any other.
func TestRetriesOfAValidationThatWasNotRead(t *testing.T) {
	for name, step := range map[string]mockserver.Step{"a 503": mockserver.Status(503), "a 429": mockserver.Throttle429, "the quota": mockserver.OK} {
		t.Run(name, func(t *testing.T) {
			quota := 9
			if name == "the quota" {
				quota = 0
			}
			srv, api := start(t, mockserver.WithQuota(quota))
			srv.Fault(mockserver.Match{}, step.(interface{ Uncharged() mockserver.Effect }).Uncharged())
			for _, body := range []string{cpe(t), cpe(t, "numero", "124"), cpe(t)} {
				api.validar(body)
			}
			assert.Equal(t, []string{"1", "1", "2 of 1"}, attempts(srv))
		})
	}
}

// A client that sends its body only once it may, or a large one, is refused without it.
func TestWhatIsRefusedIsNotWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		length int64
		expect string
	}{"a client that asks before": {200, "100-continue"}, "a large body": {1 << 20, ""}} {
		t.Run(name, func(t *testing.T) {
			srv := mockserver.New(t, mockserver.WithQuota(0))
			body, stop := io.Pipe()
			defer stop.Close()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/api/cpe/validar", body)
			require.NoError(t, err)
			req.ContentLength = c.length
			req.Header.Set("X-API-KEY", srv.APIKey)
			req.Header.Set("Content-Type", "application/json")
			if c.expect != "" {
				req.Header.Set("Expect", c.expect)
			}
			resp, err := (&http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: time.Hour}).RoundTrip(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
		})
	}
}
