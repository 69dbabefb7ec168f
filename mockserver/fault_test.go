package mockserver_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && errors.Is(err, syscall.ECONNRESET)
}

// try sends a request that may fail, and returns the status, the body and the error of either.
func (a api) try(method, path, body string) (reply, error) {
	req, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("X-API-KEY", a.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := a.hc.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(raw)}, err
}

func statuses(a api, n int) (got []int) {
	for range n {
		got = append(got, a.get(lookup).status)
	}
	return got
}

func TestMatch(t *testing.T) {
	for name, c := range map[string]struct {
		match mockserver.Match
		meets string // of the calls below
	}{
		"all":                {mockserver.Match{}, "lookup search cpe rate other"},
		"operation":          {mockserver.Match{Op: mockserver.OpBuscar}, "search"},
		"key":                {mockserver.Match{Key: "otra"}, "other"},
		"unknown key":        {mockserver.Match{Key: "nadie"}, ""},
		"RUC":                {mockserver.Match{RUC: "20131312955"}, "lookup cpe other"},
		"RUC of the issuer":  {mockserver.Match{RUC: "20100070970"}, "cpe"},
		"operation and RUC":  {mockserver.Match{Op: mockserver.OpConsultar, RUC: "20131312955"}, "lookup other"},
		"user agent":         {mockserver.Match{UserAgent: "go-HTTP"}, "lookup search cpe rate other"},
		"another user agent": {mockserver.Match{UserAgent: "curl"}, ""},
		"first":              {mockserver.Match{Nth: 1}, "lookup"},
		"third":              {mockserver.Match{Nth: 3}, "cpe"},
		"second of a RUC":    {mockserver.Match{RUC: "20131312955", Nth: 2}, "cpe"},
		"once":               {mockserver.Match{Times: 1}, "lookup"},
		"twice of a RUC":     {mockserver.Match{RUC: "20131312955", Times: 2}, "lookup cpe"},
		"probability 1":      {mockserver.Match{Probability: 1}, "lookup search cpe rate other"},
	} {
		t.Run(name, func(t *testing.T) {
			srv, api := start(t, mockserver.WithKey("otra", 10))
			fault := srv.Fault(c.match, mockserver.Status(503))
			var met []string
			for _, call := range []struct {
				name string
				do   func() reply
			}{
				{"lookup", func() reply { return api.get(lookup) }},
				{"search", func() reply { return api.get("/api/contribuyentes/search?razonSocial=sunat") }},
				{"cpe", func() reply { return api.validar(cpe(t)) }},
				{"rate", func() reply { return api.get("/api/tipocambio?fecha=2024-02-29") }},
				{"other", func() reply { return api.withKey("otra").get(lookup) }},
			} {
				if call.do().status == 503 {
					met = append(met, call.name)
				}
			}
			assert.Equal(t, c.meets, strings.Join(met, " "))
			assert.Equal(t, len(met), fault.Hits())
			// What reaches no operation is nobody's call.
			before := fault.Status().Seen
			api.get("/api/nada").isError(t, 404, "MOCK_NO_ROUTE")
			api.withKey("x").get(lookup).isError(t, 401, "UNAUTHORIZED")
			assert.Equal(t, before, fault.Status().Seen)
		})
	}
}

func TestProbabilityIsDrawnFromTheSeed(t *testing.T) {
	draw := func(seed uint64, others ...mockserver.Match) []int {
		srv, api := start(t)
		for _, m := range others {
			srv.Fault(m, mockserver.OK)
		}
		srv.Fault(mockserver.Match{Probability: 0.3, Seed: seed}, mockserver.Status(500))
		return statuses(api, 60)
	}
	first := draw(7)
	assert.Equal(t, first, draw(7), "the same seed, the same calls")
	assert.NotEqual(t, first, draw(8))
	failed := strings.Count(fmt.Sprint(first), "500")
	assert.True(t, failed > 8 && failed < 30, "%d of 60 at 0.3", failed)
}

func TestSequencesAndOrder(t *testing.T) {
	srv, api := start(t)
	srv.Fault(mockserver.Match{}, mockserver.Status(500), mockserver.OK, mockserver.Status(502))
	assert.Equal(t, []int{500, 200, 502, 200, 200}, statuses(api, 5))
	assert.False(t, srv.Faults()[0].Active)
	srv.ClearFaults()
	srv.Fault(mockserver.Match{Times: 5}, mockserver.Status(500), mockserver.OK)
	assert.Equal(t, []int{500, 200, 500, 200, 500, 200}, statuses(api, 6), "again from the start")
	srv.ClearFaults()
	srv.Fault(mockserver.Match{Nth: 2}, mockserver.Status(502))
	srv.Fault(mockserver.Match{Nth: 3}, mockserver.Status(503))
	srv.Fault(mockserver.Match{}, mockserver.Status(500))
	assert.Equal(t, []int{500, 502, 503, 500}, statuses(api, 4), "each counts every call, the first that is due meets it")
}

func TestFaultsAreNamedReplacedAndRemoved(t *testing.T) {
	srv, api := start(t)
	assert.Empty(t, srv.Faults())
	html := srv.Fault(mockserver.Match{}, mockserver.HTML200)
	assert.Equal(t, "html-200-1", html.Name())
	_, err := srv.AddFault(mockserver.Fault{Name: "mía", Steps: []mockserver.Effect{mockserver.Status(500)}})
	require.NoError(t, err)
	assert.Equal(t, "text/html; charset=utf-8", api.get(lookup).header.Get("Content-Type"))
	html.Remove()
	assert.Equal(t, 500, api.get(lookup).status)
	_, err = srv.AddFault(mockserver.Fault{Name: "mía", Steps: []mockserver.Effect{mockserver.Status(502)}})
	require.NoError(t, err)
	assert.Equal(t, 502, api.get(lookup).status, "replaced")
	require.Len(t, srv.Faults(), 1)
	assert.Equal(t, 1, srv.FindFault("mía").Hits())
	assert.Nil(t, srv.FindFault("otra"))
	require.NoError(t, srv.Reset(mockserver.PartFaults))
	assert.Equal(t, 200, api.get(lookup).status)
	assert.Equal(t, []string{"html-200-1", "mía", "mía", ""}, func() (names []string) {
		for _, r := range srv.Requests() {
			names = append(names, r.Fault)
		}
		return names
	}())
}

func TestFaultsThatCannotBe(t *testing.T) {
	effect := func(e mockserver.Effect) mockserver.Fault {
		return mockserver.Fault{Steps: []mockserver.Effect{e}}
	}
	match := func(m mockserver.Match) mockserver.Fault {
		return mockserver.Fault{Match: m, Steps: []mockserver.Effect{mockserver.OK}}
	}
	srv, _ := start(t)
	for name, f := range map[string]mockserver.Fault{
		"no steps":             {},
		"unknown preset":       effect(mockserver.Effect{Preset: "otro"}),
		"status 99":            effect(mockserver.Status(99)),
		"status 600":           effect(mockserver.Status(600)),
		"negative latency":     effect(mockserver.Latency(-1)),
		"sigma alone":          effect(mockserver.Effect{Sigma: 1}),
		"pause alone":          effect(mockserver.Effect{Every: 1}),
		"unknown rewrite":      effect(mockserver.Effect{Rewrite: "x"}),
		"unknown break":        effect(mockserver.Effect{Break: "x"}),
		"content length":       effect(mockserver.Header("content-length", "1")),
		"rewrite of nothing":   effect(mockserver.OtherRUC.Uncharged()),
		"header of nothing":    effect(mockserver.Header("X", "y").Uncharged()),
		"inside of nothing":    effect(mockserver.ResetInside.Uncharged()),
		"unknown operation":    match(mockserver.Match{Op: "consulta"}),
		"probability above 1":  match(mockserver.Match{Probability: 1.1}),
		"negative probability": match(mockserver.Match{Probability: -0.1}),
		"negative times":       match(mockserver.Match{Times: -1}),
		"negative life":        match(mockserver.Match{For: -1}),
	} {
		_, err := srv.AddFault(f)
		assert.Error(t, err, name)
	}
	assert.Empty(t, srv.Faults())
	var f fakeT
	mockserver.New(&f, mockserver.WithoutSocket()).Fault(mockserver.Match{})
	assert.Contains(t, f.fatal, "mockserver: Fault: ")
	started, err := mockserver.Start(mockserver.WithoutSocket())
	require.NoError(t, err)
	assert.Panics(t, func() { started.Fault(mockserver.Match{}) })
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
		srv.Fault(mockserver.Match{Seed: 3}, mockserver.LogNormal(time.Second, 0.6))
		below := 0
		distinct := map[time.Duration]bool{}
		for range 100 {
			d := took()
			distinct[d] = true
			if d < time.Second {
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
		held, err := srv.WaitRequests(t.Context(), mockserver.Filter{Fault: gate.Name()}, 3)
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
		"latency": mockserver.Latency(time.Hour), "dribble": mockserver.Dribble(1, time.Hour),
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

func TestBodies(t *testing.T) {
	rate := "/api/tipocambio?fecha=2024-02-29"
	for name, c := range map[string]struct {
		step mockserver.Step
		path string
		body string
	}{
		"null":            {mockserver.Null200, lookup, "null\n"},
		"empty":           {mockserver.Empty200, lookup, ""},
		"numbers":         {mockserver.NumbersAsStrings, rate, `{"compra":"3.460","venta":"3.470","moneda":"USD","fecha":"2024-02-29","origen":"SBS"}` + "\n"},
		"other date":      {mockserver.OtherDate, rate, `{"compra":3.460,"venta":3.470,"moneda":"USD","fecha":"2024-02-28","origen":"SBS"}` + "\n"},
		"trailing":        {mockserver.TrailingData, rate, `{"compra":3.460,"venta":3.470,"moneda":"USD","fecha":"2024-02-29","origen":"SBS"}` + "\n{}\n"},
		"any":             {mockserver.Answer(200, "a\x00\xff"), rate, "a\x00\xff"},
		"contradictory":   {mockserver.ContradictoryCPE, "", `{"codigo":"0","mensaje":"El comprobante existe y está aceptado.","estado":"Aceptado","esValido":false}` + "\n"},
		"booleans":        {mockserver.NumbersAsStrings, "", `{"codigo":"0","mensaje":"El comprobante existe y está aceptado.","estado":"Aceptado","esValido":"true"}` + "\n"},
		"nothing of it":   {mockserver.OtherRUC, rate, `{"compra":3.460,"venta":3.470,"moneda":"USD","fecha":"2024-02-29","origen":"SBS"}` + "\n"},
		"a status's own":  {mockserver.Status(503), lookup, `{"error":"falla simulada: 503 Service Unavailable","code":"MOCK_FAULT"}` + "\n"},
		"success's own":   {mockserver.Status(201), rate, `{"compra":3.460,"venta":3.470,"moneda":"USD","fecha":"2024-02-29","origen":"SBS"}` + "\n"},
		"ambiguous":       {mockserver.Ambiguous401, lookup, `{"error":"No autorizado"}` + "\n"},
		"redirect's body": {mockserver.RedirectElsewhere, lookup, ""},
	} {
		t.Run(name, func(t *testing.T) {
			srv, api := start(t)
			srv.Fault(mockserver.Match{}, c.step)
			call := func() reply { return api.get(c.path) }
			if c.path == "" {
				call = func() reply { return api.validar(cpe(t)) }
			}
			assert.Equal(t, c.body, call().body)
		})
	}
	srv, api := start(t)
	srv.Fault(mockserver.Match{}, mockserver.OtherRUC, mockserver.Latin1, mockserver.Truncated, mockserver.RedirectElsewhere)
	assert.Contains(t, api.get(lookup).body, `{"ruc":"20100070970","razonSocial":"SUPERINTENDENCIA`)
	assert.Contains(t, api.get("/api/contribuyentes/20999990011").body, "\xd1")
	require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20000000001", RazonSocial: `5" x 1 \`, Estado: "2"}))
	quoted := srv.Fault(mockserver.Match{RUC: "20000000001"}, mockserver.NumbersAsStrings)
	assert.Contains(t, func() string { // asked before the sequence's next step
		srv.FindFault("other-ruc-1").Remove()
		return api.get("/api/contribuyentes/20000000001").body
	}(), `{"ruc":"20000000001","razonSocial":"5\" x 1 \\","estado":"2",`)
	quoted.Remove()
	srv.Fault(mockserver.Match{}, mockserver.Truncated, mockserver.RedirectElsewhere)
	half := api.get(lookup)
	assert.Equal(t, fmt.Sprint(len(half.body)), half.header.Get("Content-Length"))
	assert.False(t, json.Valid([]byte(half.body)))
	assert.Equal(t, "https://otro.invalid/api", api.get(lookup).header.Get("Location"))
}

func TestHeaders(t *testing.T) {
	srv, api := start(t, frozen(t, "2026-11-21T12:00:00-05:00"))
	srv.Fault(mockserver.Match{}, mockserver.NoRateLimit, mockserver.EpochReset, mockserver.StrangeQuota,
		mockserver.RetryAfterDate(at(t, "2026-11-22T05:00:00Z")), mockserver.Header("Date", ""), mockserver.Header("Content-Type", ""))
	r := api.get(lookup)
	assert.Empty(t, r.header.Get("X-RateLimit-Limit")+r.header.Get("X-RateLimit-Remaining")+r.header.Get("X-RateLimit-Reset"))
	r = api.get(lookup)
	assert.Equal(t, "1795323600", r.header.Get("X-RateLimit-Reset"))
	assert.Equal(t, "998", remaining(r))
	assert.Equal(t, "muchas", remaining(api.get(lookup)))
	assert.Equal(t, "Sun, 22 Nov 2026 05:00:00 GMT", api.get(lookup).header.Get("Retry-After"))
	assert.NotContains(t, api.get(lookup).header, "Date")
	assert.NotContains(t, api.get(lookup).header, "Content-Type")
}

func TestGzipBomb(t *testing.T) {
	srv, api := start(t)
	srv.Fault(mockserver.Match{}, mockserver.GzipBomb)
	r := api.send("GET", lookup, "", "Accept-Encoding", "gzip") // net/http leaves it packed then
	assert.Less(t, len(r.body), 100_000)
	z, err := gzip.NewReader(strings.NewReader(r.body))
	require.NoError(t, err)
	n, err := io.Copy(io.Discard, z)
	require.NoError(t, err)
	assert.EqualValues(t, 16<<20, n)
	assert.LessOrEqual(t, len(srv.Requests()[0].Answer), 4<<10, "the journal keeps the beginning")
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

func TestFaultJSON(t *testing.T) {
	text := `{"name":"lenta","match":{"op":"validar","ruc":"20100070970","times":2,"for":"30m0s"},"steps":[{"preset":"sunat-down"},{"latency":"1.5s","sigma":0.6,"break":"reset"}]}`
	var f mockserver.Fault
	require.NoError(t, json.Unmarshal([]byte(text), &f))
	assert.Equal(t, 30*time.Minute, f.Match.For)
	assert.Equal(t, 1500*time.Millisecond, f.Steps[1].Latency)
	again, err := json.Marshal(f)
	require.NoError(t, err)
	assert.JSONEq(t, text, string(again))
	srv, api := start(t)
	_, err = srv.AddFault(f)
	require.NoError(t, err)
	api.validar(cpe(t)).isError(t, 500, "SUNAT_UNAVAILABLE")
	for name, bad := range map[string]string{
		"unknown member of a step":    `{"steps":[{"estado":500}]}`,
		"unknown member of the match": `{"match":{"operacion":"x"},"steps":[{}]}`,
		"a duration without a unit":   `{"steps":[{"latency":"15"}]}`,
		"a wrong type":                `{"steps":[{"status":"500"}]}`,
	} {
		assert.Error(t, json.Unmarshal([]byte(bad), &f), name)
	}
	for _, p := range mockserver.Presets() {
		text, err := json.Marshal(p.Effect)
		require.NoError(t, err)
		var e mockserver.Effect
		require.NoError(t, json.Unmarshal(text, &e))
		assert.Empty(t, cmp.Diff(p.Effect, e), p.Name)
		assert.NotEmpty(t, p.What)
	}
}

func TestMatchPrintsWithoutItsKey(t *testing.T) {
	m := mockserver.Match{Key: "canario-4711", Op: mockserver.OpBuscar}
	for _, v := range []any{m, &m, mockserver.Fault{Match: m}, mockserver.FaultStatus{Fault: mockserver.Fault{Match: m}}, mockserver.Filter{Key: "canario-4711"}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			assert.NotContains(t, fmt.Sprintf(verb, v), "canario-4711")
		}
	}
}

// Behind TLS, in an http.Server of one's own: a reset says no goodbye, and the journal knows the connection.
func TestResetBehindTLS(t *testing.T) {
	srv, _ := start(t)
	for _, c := range []struct {
		step  mockserver.Step
		reset bool
	}{{mockserver.ResetBefore, true}, {mockserver.CloseBefore, false}} {
		server := httptest.NewUnstartedServer(srv)
		server.Config.ConnContext = srv.ConnContext
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
