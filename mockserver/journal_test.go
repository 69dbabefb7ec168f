package mockserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJournalEntry(t *testing.T) {
	srv, api := start(t, frozen(t, "2026-11-21T12:00:00-05:00"), mockserver.WithQuota(10))
	api.get("/api/contribuyentes/search?razonSocial=no+hay&limit=5&otra=1")
	api.validar(cpe(t))
	got := srv.Requests()
	require.Len(t, got, 2)
	key := got[0].Key
	assert.Regexp(t, `^k_[0-9a-f]{8}$`, key)
	want := []mockserver.Request{
		{
			N: 1, Time: at(t, "2026-11-21T12:00:00-05:00"), Op: mockserver.OpBuscar, Matched: true, Method: "GET", Path: "/api/contribuyentes/search",
			Query: "razonSocial=no hay&limit=5&(1 more)", Key: key, Agent: "Go-http-client/1.1", Status: 200, Answer: "[]\n", Cost: 1, Left: 9, Conn: 1,
		},
		{
			N: 2, Time: at(t, "2026-11-21T12:00:00-05:00"), Op: mockserver.OpValidar, Matched: true, Method: "POST", Path: "/api/cpe/validar",
			Key: key, Agent: "Go-http-client/1.1", RUC: "20100070970",
			Body:   `{"rucEmisor":"20100070970","tipoComprobante":"01","serie":"F001","numero":123,"rucSolicitante":"20131312955","usuarioSol":"***01","claveSol":"***"}`,
			Status: 200, Answer: `{"codigo":"0","mensaje":"El comprobante existe y está aceptado.","estado":"Aceptado","esValido":true}` + "\n",
			Cost: 1, Left: 8, Conn: 1, Reused: true, SOL: mockserver.SOLAccepted,
		},
	}
	assert.Empty(t, cmp.Diff(want, got))
}

func TestJournalOfWhatReachesNoOperation(t *testing.T) {
	srv, api := start(t)
	api.get("/api/contribuyente/20131312955")
	api.send("POST", lookup, "")
	api.withKey("canario-4711").get(lookup)
	api.withKey("").get(lookup)
	api.get(lookup)
	got := srv.Requests(mockserver.Filter{Unmatched: true})
	require.Len(t, got, 4)
	for i, code := range []string{"MOCK_NO_ROUTE", "MOCK_METHOD", "UNAUTHORIZED", "UNAUTHORIZED"} {
		assert.Equal(t, code, got[i].Code)
		assert.False(t, got[i].Matched)
		assert.Zero(t, got[i].Cost)
	}
	assert.Contains(t, got[0].Answer, "¿quiso decir GET /api/contribuyentes/{ruc}?")
	assert.Equal(t, got[0].Key, srv.Requests()[4].Key)
	assert.NotEqual(t, got[0].Key, got[2].Key, "an unknown key has a fingerprint too")
	assert.Empty(t, got[3].Key)
	srv.AssertNoSecrets(t, "canario-4711")
}

func TestJournalIsARing(t *testing.T) {
	srv, api := start(t, mockserver.WithJournal(3), mockserver.WithKey("otra", 10))
	api.withKey("otra").get(lookup)
	for range 5 {
		api.get(lookup)
	}
	ns := []int64{}
	for _, r := range srv.Requests() {
		ns = append(ns, r.N)
	}
	assert.Equal(t, []int64{1, 4, 5, 6}, ns, "a busy key pushes out its own requests only")
	assert.Equal(t, 2, srv.Dropped(""))
	assert.Equal(t, 2, srv.Dropped(srv.APIKey))
	assert.Zero(t, srv.Dropped("otra")+srv.Dropped("nadie"))

	var f fakeTB
	assert.False(t, srv.AssertCalls(&f, mockserver.Filter{}, 4))
	assert.Contains(t, f.String(), "the journal has dropped 2 requests")
	assert.True(t, srv.AssertCalls(t, mockserver.Filter{Key: "otra"}, 1), "nothing of this key was dropped")
	require.NoError(t, srv.Reset(mockserver.PartJournal))
	api.get(lookup)
	srv.AssertCalls(t, mockserver.Filter{}, 1)

	off, api := start(t, mockserver.WithJournal(0))
	api.get(lookup)
	assert.Empty(t, off.Requests())
	_, err := mockserver.Start(mockserver.WithJournal(-1))
	assert.ErrorContains(t, err, "WithJournal")
}

func TestWaitRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t)
		go func() {
			for range 3 {
				time.Sleep(time.Second)
				api.get("/api/nada")
				api.get(lookup)
			}
		}()
		begin := time.Now()
		got, err := srv.WaitRequests(t.Context(), mockserver.Filter{Op: mockserver.OpConsultar}, 2)
		require.NoError(t, err)
		assert.Len(t, got, 2)
		assert.Equal(t, 2*time.Second, time.Since(begin), "at once when it comes")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		got, err = srv.WaitRequests(ctx, mockserver.Filter{Op: mockserver.OpConsultar}, 4)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "3 of 4 requests with op=consultar")
		assert.Len(t, got, 3)
	})
}

// The clave and the keys are in no stored byte, wherever they were put, and whatever is wrong.
func TestJournalKeepsNoSecrets(t *testing.T) {
	const clave = "canario-4711"
	srv, api := start(t, mockserver.WithQuota(mockserver.Unlimited), frozen(t, "2026-11-21T12:00:00-05:00"))
	value := `"` + clave + `"`
	bodies := []string{
		cpe(t, "claveSol", value), cpe(t, "claveSol", value)[:150], "[" + value + "]", value, clave, "claveSol=" + clave,
		`{"claveSol":` + value + `}`, `{"x":{"claveSol":` + value + `}}`, `{` + value + `:1}`, cpe(t, "claveSol", `["`+clave+`"]`),
		cpe(t, "claveSol", value) + clave, cpe(t, "claveSol", "\"\xff"+clave+"\""), cpe(t, "claveSol", `"canario-47\u0031\u0031"`, "usuarioSol", value),
		cpe(t, "claveSol", `"90210471"`, "numero", "90210471", "serie", `"90210471"`, "rucEmisor", `"90210471"`),
	}
	for _, field := range []string{"rucEmisor", "tipoComprobante", "serie", "numero", "rucSolicitante", "usuarioSol"} {
		bodies = append(bodies, cpe(t, field, value), cpe(t, field, value, "claveSol", value))
	}
	for _, body := range bodies {
		for _, media := range []string{"application/json", "text/plain", "application/json; x=" + clave} {
			api.send("POST", "/api/cpe/validar", body, "Content-Type", media)
		}
	}
	api.send("GET", "/api/contribuyentes/"+api.key, "", "User-Agent", "curl "+api.key)
	api.get("/api/tipocambio?apiKey=" + api.key + "&" + clave + "=" + clave + "&fecha=" + api.key)
	srv.Fault(mockserver.Match{Key: api.key, RUC: "20100070970"}, mockserver.ResetInside)
	_, _ = api.try("POST", "/api/cpe/validar", cpe(t, "claveSol", value))
	srv.AssertNoSecrets(t, clave, "90210471")
	text, err := json.Marshal(srv.Requests())
	require.NoError(t, err)
	for _, secret := range []string{clave, "90210471", api.key} {
		assert.False(t, strings.Contains(string(text)+srv.JournalTable()+fmt.Sprintf("%+v", srv.Requests()), secret), secret)
	}
	assert.Len(t, srv.Requests(), 3*len(bodies)+3)
}

// watched is a ResponseWriter that looks at the journal when the answer comes.
type watched struct {
	discard
	srv  *mockserver.Server
	seen *[]mockserver.Request
}

func (w watched) Write(b []byte) (int, error) {
	*w.seen = w.srv.Requests()
	return len(b), nil
}

func TestJournalIsWrittenFirst(t *testing.T) {
	srv, _ := start(t)
	for range 2 { // without a fault, and with one
		var seen []mockserver.Request
		req, err := http.NewRequest(http.MethodGet, lookup, nil)
		require.NoError(t, err)
		req.Header.Set("X-API-KEY", srv.APIKey)
		srv.ServeHTTP(watched{discard{http.Header{}}, srv, &seen}, req)
		require.Len(t, seen, 1)
		assert.Equal(t, 200, seen[0].Status)
		require.NoError(t, srv.Reset(mockserver.PartJournal))
		srv.Fault(mockserver.Match{}, mockserver.Null200)
	}
}

// Who has an answer finds the request in the journal.
func TestJournalComesBeforeTheAnswer(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithQuota(mockserver.Unlimited))
	api := plain(t, srv)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			path := fmt.Sprintf("/api/contribuyentes/200000000%02d", i)
			for n := range 10 {
				api.get(path)
				assert.Len(t, srv.Requests(mockserver.Filter{Path: path}), n+1)
			}
		})
	}
	wg.Wait()
	srv.AssertCalls(t, mockserver.Filter{}, 200)
}
