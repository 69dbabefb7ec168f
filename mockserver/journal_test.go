package mockserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

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
	for i := range got {
		assert.Positive(t, got[i].Ms)
		got[i].Ms = 0                                            // no two are the same
		got[i].RequestHeaders, got[i].ResponseHeaders = nil, nil // see TestJournalKeepsHeaders
	}
	want := []mockserver.Request{
		{
			N: 1, Rev: 1, Time: at(t, "2026-11-21T12:00:00-05:00"), Op: mockserver.OpBuscar, Matched: true, Method: "GET", Path: "/api/contribuyentes/search",
			Query: "razonSocial=no hay&limit=5&(no leídos: otra)", Key: key, Agent: "Go-http-client/1.1", Status: 200, Answer: "[]\n", Cost: 1, Left: 9, Conn: 1,
		},
		{
			N: 2, Rev: 2, Time: at(t, "2026-11-21T12:00:00-05:00"), Op: mockserver.OpValidar, Matched: true, Method: "POST", Path: "/api/cpe/validar",
			Key: key, Agent: "Go-http-client/1.1", RUC: "20100070970",
			Body:   `{"rucEmisor":"20100070970","tipoComprobante":"01","serie":"F001","numero":123,"rucSolicitante":"20131312955","usuarioSol":"***01","claveSol":"***"}`,
			Status: 200, Answer: `{"codigo":"0","mensaje":"El comprobante existe y está aceptado.","estado":"Aceptado","esValido":true}` + "\n",
			Cost: 1, Left: 8, Conn: 1, Reused: true, SOL: mockserver.SOLAccepted,
		},
	}
	assert.Empty(t, cmp.Diff(want, got))
}

func TestJournalKeepsHeaders(t *testing.T) {
	srv, api := start(t, frozen(t, "2026-11-21T12:00:00-05:00"), mockserver.WithQuota(10))
	srv.Fault(mockserver.Match{Nth: 2}, mockserver.Status(503).And(mockserver.RetryAfter("3")).And(mockserver.Header("Date", "")))
	srv.Fault(mockserver.Match{Nth: 3}, mockserver.ResetBefore)
	api.send("GET", lookup, "", "X-Prueba", "a", "Authorization", "Bearer canario-4711", "Cookie", "a=canario-4711", "X-Otra", "antes "+api.key)
	api.get(lookup)
	_, _ = api.try("POST", "/api/cpe/validar", cpe(t))
	api.send("POST", "/api/cpe/validar", cpe(t, "claveSol", `"canario-4711"`), "Content-Type", "application/json", "X-Clv", "canario-4711")
	got := srv.Requests()
	require.Len(t, got, 4)
	sent, answered := got[0].RequestHeaders, got[0].ResponseHeaders
	assert.Equal(t, []string{"a"}, sent["X-Prueba"])
	assert.Equal(t, []string{got[0].Key}, sent["X-Api-Key"])
	assert.Equal(t, []string{"antes " + got[0].Key}, sent["X-Otra"])
	assert.Equal(t, []string{"127.0.0.1"}, sent["Host"])
	assert.Equal(t, map[string][]string{
		"Content-Type": {"application/json"}, "Content-Length": {fmt.Sprint(len(got[0].Answer))}, "Date": {"Sat, 21 Nov 2026 17:00:00 GMT"},
		"X-Ratelimit-Limit": {"10"}, "X-Ratelimit-Remaining": {"9"}, "X-Ratelimit-Reset": {"2026-11-22T05:00:00Z"},
	}, answered)
	assert.Equal(t, []string{"3"}, got[1].ResponseHeaders["Retry-After"])
	assert.NotContains(t, got[1].ResponseHeaders, "Date")
	assert.Nil(t, got[2].ResponseHeaders, "nothing was sent")
	text, err := json.Marshal(got[0])
	require.NoError(t, err)
	assert.Contains(t, string(text), `"requestHeaders":{`)
	assert.Contains(t, string(text), `"responseHeaders":{`)
	srv.AssertNoSecrets(t, "canario-4711")
	require.NoError(t, srv.PutKey("Go-http-client", 10))
	assert.NotContains(t, fmt.Sprint(srv.Requests()[0].RequestHeaders), "Go-http", "a key that became known later")
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
	assert.Contains(t, got[0].Answer, "¿Quiso decir GET /api/contribuyentes/{ruc}?")
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
	assert.Equal(t, 2, srv.Control().Dropped(""))
	assert.Equal(t, 2, srv.Control().Dropped(srv.APIKey))
	assert.Zero(t, srv.Control().Dropped("otra")+srv.Control().Dropped("nadie"))

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
		assert.ErrorContains(t, err, "llegaron 3 de 4 requests with op=consultar")
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

// A key of the server is in no text of the journal and in no answer, whichever client sent it and however it is
// written; see internal/redact for the writings.
func TestNoTextHoldsAKeyOfTheServer(t *testing.T) {
	const key = `llave"con%41\de-otro`
	long := strings.Repeat("a", 55)
	for name, c := range map[string]struct{ method, path, agent string }{
		"lookup":             {"GET", "/api/contribuyentes/" + url.PathEscape(key), ""},
		"no route":           {"GET", "/api/" + url.PathEscape(key), ""},
		"escaped twice":      {"GET", "/api/" + url.PathEscape(url.PathEscape(key)), ""},
		"escaped in full":    {"GET", "/api/%6cl%61ve%22con%2541%5cde-otro", ""},
		"where it is cut":    {"GET", "/api/contribuyentes/" + long + url.PathEscape(key), ""},
		"cut without route":  {"GET", "/api/" + long + url.PathEscape(key), ""},
		"beyond the bound":   {"GET", "/api/" + strings.Repeat(long, 5) + long[:15] + url.PathEscape(key), ""},
		"search":             {"GET", "/api/contribuyentes/search?razonSocial=" + url.QueryEscape(key), ""},
		"limit":              {"GET", "/api/contribuyentes/search?razonSocial=sunat&limit=" + url.QueryEscape(key), ""},
		"date":               {"GET", "/api/tipocambio?fecha=" + url.QueryEscape(key), ""},
		"date, cut":          {"GET", "/api/tipocambio?fecha=" + long + url.QueryEscape(key), ""},
		"another parameter":  {"GET", "/api/tipocambio?api_key=" + url.QueryEscape(key), ""},
		"method":             {"llave-segunda", "/api/tipocambio", ""},
		"User-Agent":         {"GET", "/api/tipocambio", "curl " + key},
		"User-Agent escaped": {"GET", "/api/tipocambio", "curl " + url.QueryEscape(key)},
	} {
		for _, sender := range []string{mockserver.DefaultAPIKey, key, "desconocida", ""} {
			t.Run(name+" by "+sender, func(t *testing.T) {
				srv, api := start(t, mockserver.WithKey(key, 10), mockserver.WithKey("llave-segunda", 10))
				answer := api.withKey(sender).send(c.method, c.path, "", "User-Agent", c.agent)
				entries, err := json.Marshal(srv.Requests())
				require.NoError(t, err)
				require.Len(t, srv.Requests(), 1)
				for _, shown := range []string{answer.body, string(entries), srv.JournalTable(), fmt.Sprintf("%+v", srv.Requests())} {
					for _, part := range []string{`llave"c`, `llave\"c`, "llave%22c", "llave%2522c", "%6cl%61", "llave-segunda", "llave-s"} {
						assert.NotContains(t, shown, part)
					}
				}
				srv.AssertNoSecrets(t)
			})
		}
	}
}

// What a fault answers goes out as it was given; the journal does not keep it so.
func TestAnAnswerWithAKeyIsNotKept(t *testing.T) {
	srv, api := start(t, mockserver.WithKey("llave-de-otro", 10))
	srv.Fault(mockserver.Match{}, mockserver.Answer(500, `{"error":"llave-de-otro \u006clave-de-otro","code":"X"}`))
	assert.Contains(t, api.get(lookup).body, "llave-de-otro", "the test's own text")
	answer := srv.Requests()[0].Answer
	assert.Equal(t, 2, strings.Count(answer, "k_"), answer)
	srv.AssertNoSecrets(t)
	require.NoError(t, srv.DeleteKey("llave-de-otro"))
	require.NoError(t, srv.PutKey("llave-nueva", 1))
	api.get("/api/contribuyentes/llave-nueva")
	srv.AssertNoSecrets(t)
}

// A RUC that is a key is nobody's RUC: nothing shows it to any caller.
func TestAKeyOfDigitsIsKeptNowhere(t *testing.T) {
	const key, number = "20777777777", "87654321"
	quote := func(s string) string { return `"` + s + `"` }
	for name, c := range map[string]struct{ path, body string }{
		"lookup":             {path: "/api/contribuyentes/" + key},
		"lookup, escaped":    {path: "/api/contribuyentes/%32%30777777777"},
		"lookup of more":     {path: "/api/contribuyentes/" + number + "000"},
		"search":             {path: "/api/contribuyentes/search?razonSocial=" + key},
		"limit":              {path: "/api/contribuyentes/search?razonSocial=sunat&limit=" + key},
		"date":               {path: "/api/tipocambio?fecha=" + key},
		"issuer":             {body: cpe(t, "rucEmisor", quote(key))},
		"issuer, with SOL":   {body: cpe(t, "rucEmisor", quote(key), "claveSol", quote("otra"))},
		"issuer, escaped":    {body: cpe(t, "rucEmisor", `"\u00320777777777"`)},
		"caller":             {body: cpe(t, "rucSolicitante", quote(key))},
		"number":             {body: cpe(t, "numero", number)},
		"number as text":     {body: cpe(t, "numero", quote(number))},
		"user":               {body: cpe(t, "usuarioSol", quote(number))},
		"what is no receipt": {body: quote(key)},
	} {
		for _, sender := range []string{mockserver.DefaultAPIKey, key, number, "desconocida", ""} {
			t.Run(name+" by "+sender, func(t *testing.T) {
				srv, api := start(t, mockserver.WithKey(key, 10), mockserver.WithKey(number, 10))
				api = api.withKey(sender)
				var answer reply
				if c.body != "" {
					answer = api.validar(c.body)
				} else {
					answer = api.get(c.path)
				}
				text, err := json.Marshal(srv.Requests())
				require.NoError(t, err)
				for _, shown := range []string{answer.body, string(text), srv.JournalTable(), fmt.Sprintf("%+v", srv.Requests())} {
					assert.NotContains(t, shown, key)
					assert.NotContains(t, shown, number)
				}
				srv.AssertNoSecrets(t)
			})
		}
	}
	srv, api := start(t, mockserver.WithKey(key, 10))
	api.get("/api/contribuyentes/" + key)
	srv.AssertCalls(t, mockserver.Filter{RUC: key}, 1)
}

// A key that the server does not know is the request's own, and no more to be kept.
func TestTheRequestsOwnKeyIsNotKept(t *testing.T) {
	srv, api := start(t)
	api.withKey("llave-desconocida").send("GET", "/api/contribuyentes/llave-desconocida", "", "User-Agent", "llave-desconocida")
	srv.AssertNoSecrets(t, "llave-desconocida")
}

// What a rewrite cuts or tears apart is no key any more that could be found.
func TestNoRewriteLeavesAPartOfAKey(t *testing.T) {
	const key = "llave-SECRETA-de-otro-2026"
	head := `{"error":"clave ` + key[:len(key)-1]
	atTheCut := head + key[len(key)-1:] + strings.Repeat(" ", len(head)-3) + `"}`
	for name, body := range map[string]string{
		"cut":          atTheCut,
		"cut, escaped": strings.ReplaceAll(atTheCut, "-SEC", `\u002dSEC`),
		"a long one":   `{"error":"` + strings.Repeat("x", 9000) + key + strings.Repeat("x", 9000),
		"no JSON":      "clave " + key,
	} {
		for _, rewrite := range []mockserver.Preset{mockserver.Truncated, mockserver.Latin1, mockserver.TrailingData} {
			t.Run(name+" "+string(rewrite), func(t *testing.T) {
				srv, api := start(t, mockserver.WithKey(key, 10))
				srv.Fault(mockserver.Match{}, mockserver.Answer(403, body).And(rewrite))
				sent := api.get(lookup).body
				if rewrite == mockserver.Truncated {
					assert.Equal(t, body[:len(body)/2], sent, "the answer itself is as it was asked for")
				}
				for _, part := range []string{"SECRET", "ECRETA", "de-otro"} {
					assert.NotContains(t, srv.Requests()[0].Answer, part)
				}
			})
		}
	}
}

// What came before the server knew a key is shown without it too, also by a request that was under way.
func TestAKeyThatIsAddedLaterIsTakenOut(t *testing.T) {
	const key = "20777777777"
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t, mockserver.WithQuota(mockserver.Unlimited))
		api.send("GET", "/api/contribuyentes/"+key, "", "User-Agent", "curl "+key)
		api.get("/api/contribuyentes/search?razonSocial=" + key)
		api.get("/api/" + key)
		api.validar(cpe(t, "rucEmisor", `"`+key+`"`))
		srv.Fault(mockserver.Match{}, mockserver.Answer(500, key), mockserver.Latency(time.Minute))
		api.get(lookup)
		done := make(chan struct{})
		go func() {
			defer close(done)
			api.get("/api/contribuyentes/" + key)
		}()
		synctest.Wait()
		require.Contains(t, srv.JournalTable(), key)
		require.NoError(t, srv.PutKey(key, 5))
		srv.AssertNoSecrets(t)
		<-done
		srv.AssertNoSecrets(t)
		assert.NotContains(t, srv.JournalTable(), key)
		srv.AssertCalls(t, mockserver.Filter{RUC: key}, 3)
		srv.AssertCalls(t, mockserver.Filter{Path: lookup}, 1)
	})
}

// A fault may have a key as its name, and more that a terminal would act on.
func TestAFaultsNameIsShownWithoutKeys(t *testing.T) {
	const name = "llave-de-otro"
	srv, api := start(t, mockserver.WithKey(name, 10))
	_, err := srv.Control().AddFault(mockserver.Fault{Name: name, Steps: []mockserver.Effect{mockserver.Status(500)}})
	require.NoError(t, err)
	api.get(lookup)
	srv.AssertNoSecrets(t)
	srv.AssertCalls(t, mockserver.Filter{Fault: name}, 1)
	assert.NotContains(t, srv.JournalTable(), name)
}

func TestAShortKeyManglesNothing(t *testing.T) {
	for _, key := range []string{"a", "api", "apico"} {
		srv, api := start(t, mockserver.WithAPIKey(key))
		got := api.send("GET", "/api/contribuyentes/apico", "", "User-Agent", "api/1.0 apico")
		assert.Contains(t, got.body, "«apico»")
		r := srv.Requests()[0]
		assert.Equal(t, "/api/contribuyentes/apico", r.Path)
		assert.Equal(t, "api/1.0 apico", r.Agent)
		assert.Equal(t, got.body, r.Answer)
		assert.Equal(t, "sin api", srv.Control().WithoutKeys("sin api"))
	}
}

func TestWithoutKeys(t *testing.T) {
	srv, api := start(t, mockserver.WithKey("llave-de-otro", 10))
	api.withKey("llave-de-otro").get(lookup)
	id := srv.Requests()[0].Key
	assert.Equal(t, "a "+id+" b "+id, srv.Control().WithoutKeys("a llave-de-otro b %6Clave-de-otro"))
	assert.NotContains(t, srv.Control().WithoutKeys("una tercera", "tercera"), "tercera")
}

// A path cannot move the cursor of the terminal on which a test's log is read, nor hide a line of it.
func TestNoControlCharacterReachesTheTestLog(t *testing.T) {
	srv, api := start(t)
	api.get("/api/%1b%5b2J%0aPASS%0d%00%7f%c2%9b31m%e2%80%ae%c2%85%ff")
	api.get("/api/contribuyentes/search?razonSocial=%1b%5b2J%0aPASS")
	var said fakeTB
	assert.False(t, srv.AssertCalls(&said, mockserver.Filter{Path: "/otra"}, 1))
	lines := strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
	assert.Len(t, lines, 6, "two lines each, after two of its own")
	for _, shown := range append(lines, strings.Split(srv.JournalTable(), "\n")...) {
		assert.Equal(t, -1, strings.IndexFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", shown)
	}
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

// Once a caller has an answer, the request is in the journal.
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

// What is under way when the journal is cleared is in it when it goes on, with its end, and with its cost where
// the quota has that too.
func TestWhatIsUnderWayWhenTheJournalIsCleared(t *testing.T) {
	type parts = []mockserver.Part
	journal, quotas := mockserver.PartJournal, mockserver.PartQuotas
	hold := mockserver.Hold()
	for name, c := range map[string]struct {
		step   mockserver.Step
		reset  parts
		tenant bool
		spent  int // by the quota, and by the journal
	}{
		"not charged yet":            {hold.Uncharged(), parts{journal}, false, 3},
		"not charged yet, both":      {hold.Uncharged(), parts{journal, quotas}, false, 3},
		"charged":                    {hold, parts{journal}, false, 3},
		"charged, both":              {hold, parts{journal, quotas}, false, 0},
		"charged, the other order":   {hold, parts{quotas, journal}, false, 0},
		"of a tenant":                {hold.Uncharged(), parts{journal, quotas}, true, 3},
		"of a tenant, charged":       {hold, nil, true, 0},
		"cut in the end":             {hold.And(mockserver.CloseInside), parts{journal}, false, 3},
		"held, and latency":          {hold.And(mockserver.Latency(time.Second)), parts{journal, quotas}, false, 0},
		"held, and latency, charged": {hold.And(mockserver.Latency(time.Second)), parts{journal}, false, 3},
	} {
		for _, kept := range []int{1000, 2} {
			t.Run(fmt.Sprint(name, ", journal of ", kept), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv, api := start(t, mockserver.WithJournal(kept))
					gate := srv.Fault(mockserver.Match{}, c.step)
					var wg sync.WaitGroup
					for range 3 {
						wg.Go(func() { _, _ = api.try("GET", lookup, "") })
					}
					synctest.Wait()
					if c.tenant {
						require.NoError(t, srv.Control().ResetKey(srv.APIKey, quotas, journal))
					} else {
						require.NoError(t, srv.Reset(c.reset...))
					}
					gate.Release()
					wg.Wait()
					q, _ := srv.Quota(srv.APIKey)
					assert.Equal(t, c.spent, q.Spent)
					calls, _ := srv.Totals()
					assert.Equal(t, 3, calls, "each once")
					var said fakeTB
					if kept == 2 {
						assert.Equal(t, 1, srv.Control().Dropped(""))
						assert.False(t, srv.AssertSpent(&said, mockserver.Filter{}, 0))
						return
					}
					srv.AssertSpent(t, mockserver.Filter{}, c.spent)
					srv.AssertCalls(t, mockserver.Filter{Status: 200}, 3)
					assert.Zero(t, srv.Control().Dropped(""))
					ns := map[int64]bool{}
					for _, r := range srv.Requests() {
						ns[r.N] = true
					}
					assert.Len(t, ns, 3, "numbers of their own")
				})
			})
		}
	}
}

// A key that is taken away leaves nothing of its requests, however it was taken, and whether it comes back or not.
func TestAKeyThatIsTakenAwayTakesItsJournal(t *testing.T) {
	const key = "otra-clave"
	for name, take := range map[string]func(*mockserver.Server) error{
		"DeleteKey": func(s *mockserver.Server) error { return s.DeleteKey(key) },
		"a reset":   func(s *mockserver.Server) error { return s.Reset(mockserver.PartData) },
		"its own reset": func(s *mockserver.Server) error {
			return s.Control().ResetKey(key, mockserver.PartJournal)
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv, api := start(t, mockserver.WithJournal(2))
			api = api.withKey(key)
			nothing := func(when string) {
				assert.Empty(t, srv.Requests(), when)
				assert.Zero(t, srv.Control().Dropped(key)+srv.Control().Dropped(""), when)
				srv.AssertCalls(t, mockserver.Filter{Key: key}, 0)
			}
			for range 5 { // as an unknown key
				api.get(lookup)
			}
			require.NoError(t, srv.PutKey(key, 50))
			for range 4 {
				api.get(lookup)
			}
			assert.Equal(t, 5, srv.Control().Dropped(key))
			require.NoError(t, take(srv))
			nothing("it is gone")
			require.NoError(t, srv.PutKey(key, 50))
			nothing("it is back")
			api.get(lookup)
			srv.AssertCalls(t, mockserver.Filter{Key: key}, 1)
			require.NoError(t, srv.Control().ResetKey(key))
			nothing("it begins anew")
		})
	}
}

// A call under way whose key is taken away ends among the requests without a known key.
func TestACallWhoseKeyIsTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t, mockserver.WithKey("otra-clave", 5))
		gate := srv.Fault(mockserver.Match{}, mockserver.Hold())
		got := make(chan reply)
		go func() { got <- api.withKey("otra-clave").get(lookup) }()
		synctest.Wait()
		require.NoError(t, srv.DeleteKey("otra-clave"))
		gate.Release()
		assert.Equal(t, 200, (<-got).status)
		srv.AssertCalls(t, mockserver.Filter{Key: "otra-clave", Status: 200}, 1)
		require.NoError(t, srv.PutKey("otra-clave", 5))
		require.NoError(t, srv.Control().ResetKey("otra-clave", mockserver.PartJournal))
		assert.Empty(t, srv.Requests())
	})
}

// What the server knows neither as a key nor as a fingerprint of a request is a key, and is not shown.
func TestAnUnknownKeyThatLooksLikeAFingerprint(t *testing.T) {
	const key = "k_0badf00d"
	srv, api := start(t, mockserver.WithJournal(3))
	srv.AssertCalls(t, mockserver.Filter{Key: key}, 0)
	api.withKey(key).get(lookup)
	api.withKey(key).get(lookup)
	srv.AssertCalls(t, mockserver.Filter{Key: key}, 2)
	srv.AssertCalls(t, mockserver.Filter{Key: srv.Requests()[0].Key}, 2)
	var said fakeTB
	assert.False(t, srv.AssertCalls(&said, mockserver.Filter{Key: key}, 0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := srv.WaitRequests(ctx, mockserver.Filter{Key: key}, 3)
	said.Errorf("%v", err)
	api.withKey(key).get(lookup)
	api.withKey(key).get(lookup)
	assert.Equal(t, 1, srv.Control().Dropped(key))
	assert.False(t, srv.AssertCalls(&said, mockserver.Filter{Key: key}, 3))
	assert.NotContains(t, said.String(), key)
}

// A wait that no request can end fails at once.
func TestAWaitWithoutRoomAmongStrays(t *testing.T) {
	srv, api := start(t, mockserver.WithJournal(5), mockserver.WithKey("otra-clave", 50))
	api.withKey("desconocida").get(lookup)
	for name, f := range map[string]mockserver.Filter{
		"what no stray is":  {Status: 200, Key: srv.APIKey},
		"of an unknown key": {Key: "desconocida"},
	} {
		_, err := srv.WaitRequests(t.Context(), f, 6)
		assert.ErrorIs(t, err, mockserver.ErrJournalTooSmall, name)
	}
	_, err := srv.WaitRequests(t.Context(), mockserver.Filter{Op: mockserver.OpConsultar, Status: 200}, 11)
	assert.ErrorIs(t, err, mockserver.ErrJournalTooSmall, "two keys have room for 10")
}

// The journal has the status of an answer that was not sent in one piece, or not in full.
func TestTheStatusOfAnAnswerInPieces(t *testing.T) {
	for name, step := range map[string]mockserver.Step{
		"reset inside": mockserver.ResetInside, "closed inside": mockserver.CloseInside,
	} {
		t.Run(name, func(t *testing.T) {
			srv, api := start(t)
			srv.Fault(mockserver.Match{}, step)
			_, _ = api.try("GET", lookup, "")
			require.Len(t, srv.Requests(), 1)
			assert.Equal(t, 200, srv.Requests()[0].Status)
			assert.Equal(t, 1, srv.Requests()[0].Cost)
			assert.Empty(t, srv.Requests()[0].Body, "it had none")
		})
	}
}

// What was hidden when a request came stays hidden after its key is gone.
func TestADeletedKeyStaysHidden(t *testing.T) {
	const key = "canario-4711"
	srv, api := start(t, mockserver.WithKey(key, 5))
	api.send("GET", "/api/contribuyentes/"+key, "", "X-Otro", "es "+key)
	require.NoError(t, srv.DeleteKey(key))
	require.Len(t, srv.Requests(), 1)
	assert.NotContains(t, fmt.Sprintf("%+v", srv.Requests()), key)
}
