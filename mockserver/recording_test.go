package mockserver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// realAnswer is an answer of a real service, byte by byte.
type realAnswer struct {
	status int
	body   string
	header []string // names and values
}

// realService answers the requests to a URL in turn, the last answer for good, and anything else with 404.
type realService struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string][]realAnswer
	asked   []string
	header  http.Header // of the last request
}

const (
	realKey = "clave-real-4711"
	noneYet = `{"error": "no hay", "code": "NOT_FOUND"}`
)

func newRealService(t *testing.T, answers map[string][]realAnswer) *realService {
	s := &realService{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.header = r.Header
		s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.RequestURI+" "+r.Header.Get("X-API-KEY")+" "+string(body)))
		a := realAnswer{404, noneYet, []string{"Content-Type", "application/json"}}
		if r.Header.Get("X-API-KEY") != realKey {
			a = realAnswer{403, `{"error": "quién es", "code": "KEY"}`, []string{"Www-Authenticate", "Key"}}
		} else if left := s.answers[r.RequestURI]; len(left) > 0 {
			a = left[0]
			s.answers[r.RequestURI] = left[min(1, len(left)-1):]
		}
		w.Header()["Content-Type"] = nil
		for i := 0; i < len(a.header); i += 2 {
			w.Header().Add(a.header[i], a.header[i+1])
		}
		w.WriteHeader(a.status)
		_, _ = w.Write([]byte(a.body))
	}))
	t.Cleanup(s.Close)
	return s
}

// since returns what was asked since the last time.
func (s *realService) since() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// saved keeps what a recording writes.
type saved struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (f *saved) save(write func(io.Writer) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text.Reset()
	return write(&f.text)
}

// file returns a file with it.
func (f *saved) file(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "grabado.json")
	require.NoError(t, os.WriteFile(name, f.text.Bytes(), 0o600))
	return name
}

// tokens returns a text without the blanks between JSON tokens.
func tokens(text string) string {
	var b strings.Builder
	inside := false
	for i := 0; i < len(text); i++ {
		if text[i] == '"' {
			inside = !inside
		}
		if inside || strings.IndexByte(" \t\r\n", text[i]) < 0 {
			b.WriteByte(text[i])
		}
		if inside && text[i] == '\\' {
			i++
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

var (
	realType   = []string{"Content-Type", "application/json; charset=utf-8"}
	realLimits = append([]string{"X-RateLimit-Limit", "5000", "X-RateLimit-Remaining", "41", "X-RateLimit-Reset", "2026-11-21T05:00:00Z", "X-RateLimit-Policy", "5000;w=86400"}, realType...)
)

const (
	escaped = "{\"razonSocial\":\t\"\u00d1AND\u00da & <\\u00d1> \u2028 \\/ \\ud83d \\\"x\\\" \",\r\n \"ruc\" :\"20700000001\", \"n\": 3.750, \"e\":1.50E+02,\"z\":-0,\"z\":null, \"\":[ ] }\n"
	drifted = `{"ruc": 20700000002, "nuevo": true}`
	latin1  = "{\"ruc\": \"20700000003\", \"razonSocial\": \"PER\xda\"}"
	page    = "\ufeff<html>\r\n  «caído» \x00 \u2028 </html>\n"
)

func list(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(`{"ruc": "20700000001", "razonSocial": "UNA", "estado": "ACTIVO", "condicion": "HABIDO"}, `, n), ", ") + "]"
}

// What was answered is passed on as it came, recorded, and replayed a year later to a client with another key.
func TestARecordingIsWhatWasAnswered(t *testing.T) {
	const lookup, search, rate = "/api/contribuyentes/", "/api/contribuyentes/search?", "/api/tipocambio"
	same := func(a realAnswer) []realAnswer { return []realAnswer{a} }
	service := newRealService(t, map[string][]realAnswer{
		lookup + "20700000001":                             same(realAnswer{200, escaped, realLimits}),
		lookup + "20700000002":                             same(realAnswer{200, drifted, realType}),
		lookup + "20700000003":                             same(realAnswer{200, latin1, []string{"Content-Type", "application/json; charset=ISO-8859-1"}}),
		lookup + "20700000004":                             same(realAnswer{503, page, []string{"Content-Type", "text/html", "Set-Cookie", "sid=galleta4711", "Location", "http://otro.invalid"}}),
		lookup + "20700000005":                             same(realAnswer{429, `{"error": "cuota", "code": "QUOTA"}`, append([]string{"Retry-After", "30"}, realLimits...)}),
		lookup + "20700000006":                             same(realAnswer{200, "", nil}),
		lookup + "20131312955":                             same(realAnswer{200, "null", realType}), // a sample of the mock
		lookup + "2070000000X":                             same(realAnswer{400, `{"error": "RUC", "code": "OTRO"}`, realType}),
		lookup + "a%2Fb%3F":                                same(realAnswer{400, `{"error": "RUC", "code": "BARRA"}`, realType}),
		search + "razonSocial=per%C3%BA+s.a.%26b&limit=30": same(realAnswer{200, list(30), realType}),
		search + "limit=010&razonSocial=per%C3%BA":         same(realAnswer{200, list(3), realType}),
		search + "razonSocial=per%C3%BA":                   same(realAnswer{200, list(10), realType}),
		search + "razonSocial=PER%C3%9A":                   same(realAnswer{200, "[ ]", realType}),
		search + "razonSocial=per%FA":                      same(realAnswer{200, list(1), realType}),
		search + "razonSocial=ab":                          same(realAnswer{400, `{"error": "corto", "code": "SEARCH_TOO_SHORT"}`, realType}),
		rate:                                               same(realAnswer{200, `{"venta": 3.760, "compra": 3.750, "moneda": "USD", "fecha": "2026-11-20", "origen": "SBS"}`, realType}),
		rate + "?fecha=":                                   same(realAnswer{400, `{"error": "fecha", "code": "VACIA"}`, realType}),
		rate + "?fecha=2026-11-20":                         same(realAnswer{404, noneYet, realType}),
	})
	var file saved
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	srv, recorder := start(t, mockserver.WithUpstream(mockserver.Upstream{URL: service.URL + "/", Save: file.save}), mockserver.WithClock(func() time.Time { return now }),
		mockserver.WithContribuyentes(mockserver.Empresa("20700000001")), mockserver.WithTipoCambio("2026-11-20", "1.000", "1.000"), mockserver.WithQuota(0))
	recorder = recorder.withKey(realKey)
	came := map[string]reply{}
	for path, answers := range service.answers {
		a := answers[0]
		came[path] = recorder.get(path)
		assert.Equal(t, []string{"GET " + path + " " + realKey}, service.since(), path)
		assert.Equal(t, []any{a.status, a.body}, []any{came[path].status, came[path].body}, path)
		for i := 0; i < len(a.header); i += 2 {
			want := a.header[i+1]
			if a.header[i] == "Set-Cookie" || a.header[i] == "Location" {
				want = ""
			}
			assert.Equal(t, want, came[path].header.Get(a.header[i]), path)
		}
		again := recorder.get(path)
		assert.Equal(t, tokens(a.body), tokens(again.body), path)
		if a.status == 429 || a.status == 503 {
			assert.Len(t, service.since(), 1, "it must not stick: %s", path)
		} else {
			assert.Empty(t, service.since(), path)
		}
		now = now.Add(time.Minute)
	}
	for other, same := range map[string]string{
		search + "limit=30&razonSocial=per%c3%ba%20s.a.%26b&otro=1": search + "razonSocial=per%C3%BA+s.a.%26b&limit=30",
		rate + "?otro=1": rate,
	} {
		assert.Equal(t, tokens(came[same].body), tokens(recorder.get(other).body), other)
	}
	assert.Empty(t, service.since(), "the same questions")
	require.Equal(t, 404, recorder.get(lookup+"20700000099").status)
	last := now
	require.Eventually(t, func() bool { return file.holds("20700000099") }, 10*time.Second, time.Millisecond, "it is saved while the server runs")
	assert.Contains(t, file.text.String(), `  «caído» \u0000`, "readable")
	assert.NotContains(t, file.text.String(), "\n\n", "as it is after a restart")
	for _, secret := range []string{realKey, "galleta4711", "otro.invalid"} {
		assert.NotContains(t, file.text.String(), secret)
	}

	later := time.Date(2027, 12, 1, 0, 0, 0, 0, time.UTC)
	assert.Empty(t, srv.Control().First("2", 5), "no samples, and none of the data")
	assert.NotEmpty(t, srv.Control().TipoCambio(fiscope.NewFecha(2026, time.November, 20)).Why, "nor its rates")
	srv, replay := start(t, mockserver.WithRecording(file.file(t)), mockserver.WithClock(func() time.Time { return later }), mockserver.WithQuota(1))
	assert.Equal(t, last, srv.Now().UTC(), "today is what it was")
	for path, want := range came {
		got := replay.get(path)
		assert.Equal(t, want.status, got.status, path)
		if json.Valid([]byte(want.body)) && utf8.ValidString(want.body) {
			want.body, got.body = tokens(want.body), tokens(got.body)
		}
		assert.Equal(t, want.body, got.body, path)
		for _, h := range []http.Header{want.header, got.header} {
			h.Del("Date")
			h.Del("Content-Length")
		}
		assert.Equal(t, want.header, got.header, path)
	}
	srv.AssertSpent(t, mockserver.Filter{}, 0)
	assert.True(t, srv.AssertCalls(t, mockserver.Filter{Unmatched: true}, 0))
}

// holds reports whether the text has been saved.
func (f *saved) holds(text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Contains(f.text.String(), text)
}

// Which of the answers to a question stays, and how often it is asked.
func TestWhichAnswerStays(t *testing.T) {
	const path = "/api/contribuyentes/20700000001"
	answer := func(status int, word string) realAnswer {
		return realAnswer{status, `{"code": "` + word + `"}`, realType}
	}
	for name, c := range map[string]struct {
		again    bool
		answers  []realAnswer
		came     []int // to the caller of each of five calls
		asked    int
		recorded string
	}{
		"the first 200":                     {false, []realAnswer{answer(200, "A"), answer(200, "B")}, []int{200, 200, 200, 200, 200}, 1, "A"},
		"a 404":                             {false, []realAnswer{answer(404, "A"), answer(200, "B")}, []int{404, 404, 404, 404, 404}, 1, "A"},
		"a 400":                             {false, []realAnswer{answer(400, "A"), answer(200, "B")}, []int{400, 400, 400, 400, 400}, 1, "A"},
		"a 503 passes":                      {false, []realAnswer{answer(503, "A"), answer(429, "B"), answer(404, "C"), answer(200, "D")}, []int{503, 429, 404, 404, 404}, 3, "C"},
		"the newest of what is asked again": {false, []realAnswer{answer(503, "A"), answer(500, "B"), answer(429, "C")}, []int{503, 500, 429, 429, 429}, 5, "C"},
		"a refusal of the key is none":      {false, []realAnswer{answer(503, "A"), answer(401, "B"), answer(403, "C")}, []int{503, 401, 403, 403, 403}, 5, "A"},
		"again, the newest 200":             {true, []realAnswer{answer(404, "A"), answer(200, "B"), answer(200, "C"), answer(503, "D"), answer(404, "E")}, []int{404, 200, 200, 503, 404}, 5, "C"},
		"again, the newest without a 200":   {true, []realAnswer{answer(404, "A"), answer(503, "B"), answer(429, "C")}, []int{404, 503, 429, 429, 429}, 5, "C"},
	} {
		t.Run(name, func(t *testing.T) {
			service := newRealService(t, map[string][]realAnswer{path: c.answers})
			var file saved
			srv, api := start(t, mockserver.WithUpstream(mockserver.Upstream{URL: service.URL, Again: c.again, Save: file.save}))
			var came []int
			for range c.came {
				came = append(came, api.withKey(realKey).get(path).status)
			}
			assert.Equal(t, c.came, came)
			assert.Len(t, service.since(), c.asked)
			require.NoError(t, srv.Close())
			_, replay := start(t, mockserver.WithRecording(file.file(t)))
			assert.Equal(t, c.recorded, replay.get(path).code(t))
		})
	}
}

// While the answers are saved, calls are answered. What could not be saved is saved at the end.
func TestCallsWhileARecordingIsSaved(t *testing.T) {
	const path = "/api/contribuyentes/20700000001"
	service := newRealService(t, map[string][]realAnswer{})
	var file saved
	saving, goOn := make(chan bool, 2), make(chan bool)
	srv, api := start(t, mockserver.WithUpstream(mockserver.Upstream{URL: service.URL, Save: func(write func(io.Writer) error) error {
		if saving <- true; len(saving) == 1 {
			<-goOn
			return errors.New("el disco está lleno")
		}
		return file.save(write)
	}}))
	for range 2 {
		assert.Equal(t, 404, api.withKey(realKey).get(path).status)
		require.Eventually(t, func() bool { return len(saving) == 1 }, 10*time.Second, time.Millisecond)
	}
	close(goOn)
	require.NoError(t, srv.Close())
	assert.True(t, file.holds(path))
}

// The service decides about keys that the mock does not know; a refused one gets nothing that was recorded.
func TestKeysOfTheRealService(t *testing.T) {
	const path, other = "/api/contribuyentes/20700000001", "/api/contribuyentes/20700000002"
	service := newRealService(t, map[string][]realAnswer{path: {{200, `{"a": 1}`, realType}}, "/api/cpe/validar": {{401, `{"error": "no", "code": "INVALID_SOL_CREDENTIALS"}`, realType}}})
	srv, api := start(t, mockserver.WithUpstream(mockserver.Upstream{URL: service.URL}), mockserver.WithQuota(0))
	require.Equal(t, 200, api.withKey(realKey).send("GET", path, "", "User-Agent", "cobros/1").status)
	assert.Equal(t, "cobros/1", service.header.Get("User-Agent"))
	require.Equal(t, 401, api.withKey(realKey).validar(cpe(t)).status, "of the clave, not of the key")
	assert.Equal(t, "application/json", service.header.Get("Content-Type"))
	service.since()
	for _, c := range []struct {
		key, path     string
		status, asked int
	}{
		{"", path, 401, 0},
		{api.key, path, 200, 0},
		{"clave-mala", other, 403, 1},
		{"clave-mala", path, 403, 1},
		{realKey, path, 200, 0},
	} {
		assert.Equal(t, c.status, api.withKey(c.key).get(c.path).status, "%+v", c)
		assert.Len(t, service.since(), c.asked, "%+v", c)
	}
	assert.Equal(t, "Key", api.withKey("clave-mala").get(other).header.Get("WWW-Authenticate"))
	for _, k := range srv.Control().Keys() {
		assert.Equal(t, api.key, k.Key)
	}
	srv.AssertNoSecrets(t, realKey, "clave-mala")
	srv.AssertSpent(t, mockserver.Filter{}, 5)
}

// A secret is replaced wherever it is, and the file says so; the other tokens stay.
func TestARecordingHasNoSecrets(t *testing.T) {
	const clave, lookup = "secreta-Sol9", "/api/contribuyentes/"
	service := newRealService(t, map[string][]realAnswer{
		lookup + "20700000001": {{200, `{"eco": "es \"` + realKey + `\"", "x": "\u0063lave-real-4711", "u": "?k=clave%2Dreal%2D4711", "` + realKey + `": 3.750, "y": "\u0041"}`, realType}},
		lookup + "20700000002": {{200, "<p>clave&#45;real-4711 \xd1</p>", []string{"Content-Type", "text/html; k=" + realKey}}},
		lookup + "20700000003": {{200, `{"eco": "` + clave + `"}`, realType}},
		lookup + "20700000004": {{200, `{"eco": "clave-real"}`, realType}},
		lookup + "20712345678": {{200, `{"ruc": "20712345678", "n": "7123456"}`, realType}},
		lookup + "20700000005": {{200, `{"sesion": "galleta-4711", "estado": "ACTIVO"}`, append([]string{"Set-Cookie", "sid=galleta-4711; Path=/", "Set-Cookie", "l=ACTIVO"}, realType...)}},
		lookup + realKey:       {{400, `{"error": "RUC", "code": "RUC"}`, realType}},
		"/api/cpe/validar":     {{401, `{"error": "` + clave + `", "code": "INVALID_SOL_CREDENTIALS"}`, realType}},
	})
	var file saved
	srv, api := start(t, mockserver.WithUpstream(mockserver.Upstream{URL: service.URL, Save: file.save}))
	api = api.withKey(realKey)
	validation := cpe(t, "claveSol", `"`+clave+`"`)
	require.Equal(t, 401, api.validar(validation).status, "passed on")
	require.Equal(t, 401, api.validar(validation).status)
	require.Equal(t, 401, api.validar(cpe(t, "claveSol", `"7123456"`)).status)
	assert.Equal(t, []string{"POST /api/cpe/validar " + realKey + " " + validation, "POST /api/cpe/validar " + realKey + " " + validation}, service.since()[:2], "each, as it came")
	for path := range service.answers {
		if path != "/api/cpe/validar" {
			api.get(path)
		}
	}
	require.NoError(t, srv.Close())
	text := file.text.String()
	for _, never := range []string{"real-4711", "real%2D", clave, "validar", "galleta"} {
		assert.NotContains(t, text, never)
	}
	assert.Contains(t, tokens(text), `,"estado":"ACTIVO"}`)
	assert.Regexp(t, `\{"ruc":"20712345678","n":"k_[0-9a-f]{8}"\}`, tokens(text), "a clave of digits is not a part of a number")
	assert.Equal(t, 5, strings.Count(text, `"secretReplaced": true`))
	assert.Contains(t, tokens(text), `:3.750,"y":"\u0041"}`)
	srv.AssertNoSecrets(t, realKey, clave)
	_, replay := start(t, mockserver.WithRecording(file.file(t)))
	assert.Regexp(t, `^\{"eco":"es \\"k_[0-9a-f]{8}\\"","x":"k_[0-9a-f]{8}",`, replay.get(lookup+"20700000001").body)
	assert.Regexp(t, `^<p>k_[0-9a-f]{8} \?</p>$`, strings.ReplaceAll(replay.get(lookup+"20700000002").body, "\xd1", "?"))
	assert.Equal(t, 501, replay.get(lookup+realKey).status, "a question with a key is not recorded")
}

// A replay does not know what was not recorded: a 404 would look like "no such taxpayer".
func TestAReplayOfWhatWasNotRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "grabado.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"answers": [
		{"question": "/api/tipocambio", "asked": "2026-11-20T17:30:00-05:00", "status": 200, "body": {"compra": 3.750}},
		{"question": "/api/contribuyentes/20700000001", "asked": "2026-11-20T16:00:00-05:00", "status": 404, "body": {}}]}`), 0o600))
	srv, api := start(t, mockserver.WithRecording(file), mockserver.WithFrozenClock())
	assert.Equal(t, "2026-11-20T22:30:00Z", srv.Now().UTC().Format(time.RFC3339))
	for _, path := range []string{
		"/api/contribuyentes/20131312955", "/api/contribuyentes/search?razonSocial=gloria", "/api/tipocambio?fecha=2026-11-19", "/api/tipocambio?fecha=%zz",
	} {
		api.get(path).isError(t, 501, "MOCK_NOT_RECORDED")
	}
	assert.Len(t, srv.Requests(mockserver.Filter{Unmatched: true}), 4)
	assert.False(t, srv.AssertCalls(quiet{}, mockserver.Filter{Unmatched: true}, 0))
	assert.Equal(t, mockserver.Unlimited, srv.Requests()[0].Left)
	assert.Equal(t, `{"compra":3.750}`, api.get("/api/tipocambio").body)
	assert.Empty(t, api.get("/api/tipocambio").header["Content-Type"], "none came")
	assert.Equal(t, 404, api.get("/api/contribuyentes/20700000001").status)
	srv.AssertSpent(t, mockserver.Filter{}, 0)
	assert.Equal(t, 200, api.validar(cpe(t)).status, "from the data")
	srv.AssertSpent(t, mockserver.Filter{}, 1)
	assert.Equal(t, 401, api.withKey("otra-clave").get("/api/tipocambio").status)
	srv.Fault(mockserver.Match{Times: 1}, mockserver.Status(503))
	assert.Equal(t, 503, api.get("/api/contribuyentes/20131312955").status)
	assert.Len(t, srv.Requests(mockserver.Filter{Unmatched: true}), 5, "a fault answers what is not recorded: only the refused key is one more")

	srv, _ = start(t, mockserver.WithRecording(file), mockserver.WithNow(time.Unix(1e9, 0)), mockserver.WithFrozenClock())
	assert.Equal(t, int64(1e9), srv.Now().Unix())
}

type quiet struct{}

func (quiet) Helper()               {}
func (quiet) Errorf(string, ...any) {}

// The journal marks what the service answered, and what breaks the contract.
func TestTheJournalMarksAnswersOfTheService(t *testing.T) {
	taxpayer := func(change ...string) string {
		return strings.NewReplacer(change...).Replace(`{"ruc": "20700000001", "razonSocial": "A", "estado": "ACTIVO", "condicion": "HABIDO", "direccion": "", "ubigeo": "150101",
			"departamento": "", "provincia": "", "distrito": "", "tipo": "", "actividadEconomica": "-", "fechaInscripcion": "", "fechaInicioActividades": "", "nuevo": [null]}`)
	}
	rate := `{"compra": 3.750, "venta": 3.760, "moneda": "USD", "fecha": "2026-11-20", "origen": "SBS"}`
	const lookup, search, rateOf, valid = "/api/contribuyentes/20700000001", "/api/contribuyentes/search?razonSocial=una", "/api/tipocambio?fecha=2026-11-20", "/api/cpe/validar"
	for name, c := range map[string]struct {
		path    string
		status  int
		body    string
		strange bool
	}{
		"a taxpayer":               {lookup, 200, taxpayer(), false},
		"another taxpayer":         {lookup, 200, taxpayer("20700000001", "20700000002"), true},
		"null":                     {lookup, 200, taxpayer(`"-"`, "null"), true},
		"a missing field":          {lookup, 200, taxpayer(`"tipo"`, `"tipos"`), true},
		"Latin-1":                  {lookup, 200, taxpayer(`"A"`, "\"\xd1\""), true},
		"HTML":                     {lookup, 200, "<html>", true},
		"an error":                 {lookup, 404, noneYet, false},
		"an error without a code":  {lookup, 404, `{"error": "no hay"}`, true},
		"a redirect":               {lookup, 302, "", true},
		"an outage":                {lookup, 503, "<html>", true},
		"results":                  {search, 200, list(10), false},
		"no results":               {search, 200, "[]", false},
		"too many results":         {search, 200, list(11), true},
		"a result without a state": {search, 200, strings.Replace(list(2), "estado", "estados", 1), true},
		"no list":                  {search, 200, "{}", true},
		"a limit that is none":     {search + "&limit=51", 200, list(1), true},
		"a rate":                   {rateOf, 200, rate, false},
		"a rate in quotes":         {rateOf, 200, strings.Replace(rate, "3.760", `"3.760"`, 1), true},
		"the rate of another day":  {"/api/tipocambio?fecha=2026-11-19", 200, rate, true},
		"today's rate":             {"/api/tipocambio", 200, rate, false},
		"a validation":             {valid, 200, `{"codigo": "2", "mensaje": "m", "estado": "Anulado", "esValido": false}`, false},
		"a contradiction":          {valid, 200, `{"codigo": "2", "mensaje": "m", "estado": "Anulado", "esValido": true}`, true},
		"another estado":           {valid, 200, `{"codigo": "2", "mensaje": "m", "estado": "Aceptado", "esValido": false}`, true},
		"another codigo":           {valid, 200, `{"codigo": "3", "mensaje": "m", "estado": "", "esValido": false}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			service := newRealService(t, map[string][]realAnswer{c.path: {{c.status, c.body, realType}}})
			srv, api := start(t, mockserver.WithUpstream(mockserver.Upstream{URL: service.URL}))
			if api = api.withKey(realKey); c.path == valid {
				assert.Equal(t, c.body, api.validar(cpe(t)).body)
			} else {
				assert.Equal(t, c.status, api.get(c.path).status)
			}
			want := map[bool]string{false: "asked", true: "strange"}[c.strange]
			assert.Equal(t, want, srv.Requests()[0].Upstream)
		})
	}
}

// A fault that makes the answer spares the query; one that changes it asks once.
func TestFaultsBeforeARealService(t *testing.T) {
	const path = "/api/contribuyentes/20700000001"
	service := newRealService(t, map[string][]realAnswer{})
	srv, api := start(t, mockserver.WithUpstream(mockserver.Upstream{URL: service.URL, Again: true}))
	api = api.withKey(realKey)
	srv.Fault(mockserver.Match{Times: 1}, mockserver.Status(503))
	assert.Equal(t, 503, api.get(path).status)
	srv.SetSUNATDown(true)
	assert.Equal(t, 500, api.validar(cpe(t)).status)
	srv.SetSUNATDown(false)
	assert.Equal(t, 413, api.validar(cpe(t)+strings.Repeat(" ", 64<<10)).status, "no part is passed on")
	assert.Empty(t, service.since())
	srv.Fault(mockserver.Match{Times: 1}, mockserver.Header("X-Uno", "1"))
	r := api.get(path)
	assert.Equal(t, []string{"404", "1", tokens(noneYet)}, []string{fmt.Sprint(r.status), r.header.Get("X-Uno"), tokens(r.body)})
	assert.Len(t, service.since(), 1)
	service.answers[path] = []realAnswer{{200, strings.Repeat("x", 4<<20+1), nil}}
	assert.Contains(t, api.get(path).body, "4 MiB")
	service.Close()
	api.get(path).isError(t, 502, "MOCK_UPSTREAM")
}

func TestRecordingsThatAreRefused(t *testing.T) {
	answer := `{"question": "/api/tipocambio", "asked": "2026-11-20T17:30:00-05:00", "status": 200, "body": {"a": null, "a": 1}}`
	for name, c := range map[string]struct{ text, says string }{
		"no JSON":        {"hola", ":1: "},
		"empty":          {"", ":1: "},
		"other data":     {`{"contribuyentes": []}`, `"contribuyentes"`},
		"another member": {`{"answers": [` + strings.Replace(answer, "status", "estado", 1) + `]}`, `"estado"`},
		"twice":          {"{\"answers\": [\n" + answer + ",\n" + strings.Replace(answer, "cambio", "cambio?otro=1", 1) + "\n]}", ":3: "},
		"a validation":   {`{"answers": [` + strings.Replace(answer, "tipocambio", "cpe/validar", 1) + `]}`, "question"},
		"another status": {`{"answers": [` + strings.Replace(answer, "200", "1200", 1) + `]}`, "status"},
		"no time":        {`{"answers": [{"question": "/api/tipocambio", "status": 200}]}`, "asked"},
		"two bodies":     {"{\"answers\": [\n" + strings.Replace(answer, `"body"`, `"bodyText": "a", "body"`, 1) + "]}", ":2: de body, bodyText"},
		"another header": {`{"answers": [` + strings.Replace(answer, `"body"`, `"headers": ["Set-Cookie: a"], "body"`, 1) + `]}`, "Set-Cookie"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "grabado.json")
			require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
			_, err := mockserver.Start(mockserver.WithoutSocket(), mockserver.WithRecording(file))
			require.ErrorContains(t, err, "grabado.json:")
			assert.ErrorContains(t, err, c.says)
		})
	}
	_, err := mockserver.Start(mockserver.WithRecording("no.json"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = mockserver.Start(mockserver.WithUpstream(mockserver.Upstream{URL: "http://api.ejemplo.pe"}))
	assert.ErrorContains(t, err, "https")
}
