package mockserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeTB records what an assertion says.
type fakeTB struct{ said []string }

func (f *fakeTB) Helper() {}
func (f *fakeTB) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

func (f *fakeTB) String() string { return strings.Join(f.said, "\n") }

func TestAssertionsTellWhatWentOn(t *testing.T) {
	srv, api := start(t, frozen(t, "2026-11-21T12:00:00-05:00"))
	api.get(lookup)
	api.get(lookup)
	api.get("/api/contribuyentes/20000000001")
	api.validar(cpe(t, "claveSol", `"mala"`))
	assert.True(t, srv.AssertCalls(t, mockserver.Filter{Op: mockserver.OpConsultar}, 3))
	assert.True(t, srv.AssertSpent(t, mockserver.Filter{}, 4))
	assert.True(t, srv.AssertSOLAttempts(t, mockserver.RUCSolicitante, mockserver.UsuarioSOL, 1))

	var f fakeTB
	assert.False(t, srv.AssertCalls(&f, mockserver.Filter{Op: mockserver.OpConsultar, Status: 200}, 1))
	assert.False(t, srv.AssertSpent(&f, mockserver.Filter{RUC: "20131312955"}, 1))
	assert.False(t, srv.AssertSOLAttempts(&f, mockserver.RUCSolicitante, mockserver.UsuarioSOL, 0))
	assert.False(t, srv.AssertSOLAttempts(&f, mockserver.RUCSolicitante, "OTRO", 1))
	require.Len(t, f.said, 4)
	key := srv.Requests()[0].Key
	want := strings.ReplaceAll(`mockserver: 2 requests, want 1, among requests with op=consultar, status=200
    N  time          status  cost  conn     key         request (times of Lima)
=>  1  12:00:00.000  200     1     1 new    k_12345678  GET /api/contribuyentes/20131312955
=>  2  12:00:00.000  200     1     1 again  k_12345678  GET /api/contribuyentes/20131312955
    3  12:00:00.000  404     1     1 again  k_12345678  GET /api/contribuyentes/20000000001
       NOT_FOUND; not counted: status is 404, not 200
    4  12:00:00.000  401     1     1 again  k_12345678  POST /api/cpe/validar
       INVALID_SOL_CREDENTIALS; SOL wrong; not counted: op is validar, not consultar
`, "k_12345678", key)
	assert.Equal(t, want, f.said[0])
	assert.Contains(t, f.said[1], "2 queries spent, want 1")
	assert.Contains(t, f.said[2], "1 SOL attempts, want 0")

	var none fakeTB
	empty, _ := start(t)
	empty.AssertCalls(&none, mockserver.Filter{}, 1)
	assert.Contains(t, none.String(), "The journal is empty")

	var secrets fakeTB
	assert.False(t, srv.AssertNoSecrets(&secrets, "nada", "INVALID_SOL"), "a text that is there")
	assert.Contains(t, secrets.String(), "secret 2 of")
	assert.NotContains(t, secrets.String(), "INVALID_SOL", "it is not repeated")

	var claves fakeTB
	require.NoError(t, srv.PutUsuarioSOL(mockserver.SOL{RUC: mockserver.RUCSolicitante, Usuario: "OTRO", Clave: "INVALID_SOL"}))
	assert.False(t, srv.AssertNoSecrets(&claves), "the clave of a user")
	assert.Contains(t, claves.String(), "is in the journal")
	assert.NotContains(t, claves.String(), "INVALID_SOL")
}

// The journal cannot know of a request that it has dropped, and no assertion passes on what is left.
func TestNoAssertionPassesOnWhatIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		journal int
		key     string // of the filters, "" for none
		turns   string // what becomes of that key
	}{
		"all":                  {2, "", ""},
		"a key":                {2, "clave-uno", ""},
		"an unknown key":       {2, "clave-nadie", ""},
		"a key that was known": {2, "clave-nadie", "unknown"},
		"a key known later":    {2, "clave-nadie", "known"},
		"no journal":           {0, "", ""},
		"no journal, a key":    {0, "clave-uno", ""},
		"no journal, unknown":  {0, "clave-nadie", ""},
	} {
		t.Run(name, func(t *testing.T) {
			requests := func(journal int) (*mockserver.Server, []mockserver.Filter) {
				srv, api := start(t, mockserver.WithJournal(journal), mockserver.WithKey("clave-uno", 100), mockserver.WithKey("clave-dos", 100))
				if c.turns == "unknown" {
					require.NoError(t, srv.PutKey(c.key, 1))
					require.NoError(t, srv.DeleteKey(c.key))
				}
				for range 5 {
					for _, key := range []string{"clave-uno", "clave-nadie", "otra-desconocida"} {
						api.withKey(key).get(lookup)
					}
				}
				if c.turns == "known" {
					require.NoError(t, srv.PutKey(c.key, 1))
				}
				filters := []mockserver.Filter{{Key: c.key}}
				if c.key != "" { // the same by its fingerprint
					other, api := start(t)
					api.withKey(c.key).get(lookup)
					filters = append(filters, mockserver.Filter{Key: other.Requests()[0].Key})
				}
				return srv, filters
			}
			pass := func(srv *mockserver.Server, tb mockserver.TB, f mockserver.Filter) map[string]bool {
				n := 5
				if f.Key == "" {
					n = 15
				}
				return map[string]bool{
					"calls":  srv.AssertCalls(tb, f, n),
					"spent":  srv.AssertSpent(tb, f, len(srv.Requests(mockserver.Filter{Key: f.Key, Status: 200}))),
					"order":  srv.AssertOrder(tb, slices.Repeat([]mockserver.Filter{f}, n)...),
					"pauses": srv.AssertPauses(tb, f, 0, time.Hour),
				}
			}
			srv, filters := requests(c.journal)
			var said fakeTB
			for _, f := range filters {
				for which, passed := range pass(srv, &said, f) {
					assert.False(t, passed, which)
				}
				assert.False(t, srv.AssertCalls(&said, f, 0))
				assert.Positive(t, srv.Control().Dropped(f.Key))
			}
			assert.False(t, srv.AssertNoSecrets(&said, "nada"))
			assert.False(t, srv.AssertSOLAttempts(&said, lookedUp, mockserver.UsuarioSOL, 0))
			var enough int
			for _, text := range said.said {
				_, after, ok := strings.Cut(text, "give the server WithJournal(")
				require.True(t, ok, text)
				_, err := fmt.Sscanf(after, "%d)", &enough)
				require.NoError(t, err)
			}

			srv, filters = requests(enough) // as they ask for
			for _, f := range filters {
				for which, passed := range pass(srv, t, f) {
					assert.True(t, passed, which)
				}
				assert.Zero(t, srv.Control().Dropped(f.Key))
			}
			assert.True(t, srv.AssertNoSecrets(t, "nada"))
			assert.True(t, srv.AssertSOLAttempts(t, lookedUp, mockserver.UsuarioSOL, 0))
		})
	}
}

func TestAssertFaultsMet(t *testing.T) {
	some := mockserver.Match{Op: mockserver.OpConsultar}
	for name, c := range map[string]struct {
		match mockserver.Match
		steps []mockserver.Step
		calls int
		says  string // "" where it passes
	}{
		"once":            {some, []mockserver.Step{mockserver.Null200}, 1, ""},
		"never":           {some, []mockserver.Step{mockserver.Null200}, 0, "fault null-200-1 has met 0 calls, want 1 or more"},
		"another call":    {mockserver.Match{RUC: "20100070970"}, []mockserver.Step{mockserver.Null200}, 3, "has met 0 calls"},
		"both steps":      {some, []mockserver.Step{mockserver.Status(500), mockserver.OK}, 2, ""},
		"one of two":      {some, []mockserver.Step{mockserver.Status(500), mockserver.OK}, 1, "fault-1 has met 1 calls, want 2 or more"},
		"two of three":    {mockserver.Match{Times: 3}, []mockserver.Step{mockserver.Status(500)}, 2, "has met 2 calls, want 3"},
		"more than three": {mockserver.Match{Times: 3}, []mockserver.Step{mockserver.Status(500)}, 5, ""},
		"the second":      {mockserver.Match{Nth: 2}, []mockserver.Step{mockserver.Status(500)}, 2, ""},
		"not the second":  {mockserver.Match{Nth: 2}, []mockserver.Step{mockserver.Status(500)}, 1, "has met 0 calls"},
		"of the key":      {mockserver.Match{Key: mockserver.DefaultAPIKey, Nth: 9}, []mockserver.Step{mockserver.Status(500)}, 1, "Key:k_"},
	} {
		t.Run(name, func(t *testing.T) {
			srv, api := start(t)
			srv.Fault(c.match, c.steps...)
			for range c.calls {
				api.get(lookup)
			}
			var said fakeTB
			assert.Equal(t, c.says == "", srv.AssertFaultsMet(&said), said.String())
			assert.Contains(t, said.String(), c.says)
			assert.NotContains(t, said.String(), srv.APIKey)
			assert.NotContains(t, said.String(), "=>", "no call is the one that was wanted")
			srv.ClearFaults()
			assert.True(t, srv.AssertFaultsMet(t), "what was removed is not asked for")
		})
	}
}

func TestAFaultThatWasNotMetIsShown(t *testing.T) {
	srv, _ := start(t)
	srv.Fault(mockserver.Match{Op: mockserver.OpValidar, RUC: "20100070970", UserAgent: "curl", Text: "F001-12", Times: 3, For: time.Hour},
		mockserver.SUNATDown, mockserver.Status(503).And(mockserver.RetryAfter("2")).Uncharged(), mockserver.Answer(200, "hola").And(mockserver.Latency(time.Second)), mockserver.Hold(), mockserver.OK)
	var said fakeTB
	srv.AssertFaultsMet(&said)
	assert.Contains(t, said.String(), "{Op:validar Key: RUC:20100070970 Text:F001-12 UserAgent:curl Nth:0 Times:3 For:1h0m0s}")
	assert.Contains(t, said.String(), `[{"preset":"sunat-down"},{"before":true,"status":503,"header":{"Retry-After":"2"}},`)
}

// A failure begins with one line that fits a terminal, without keys and control characters, and keeps its advice.
func TestHeadlinesOfFailures(t *testing.T) {
	const key = "llave-de-otro"
	srv, api := start(t, mockserver.WithKey(key, 10), mockserver.WithJournal(2))
	long := strings.Repeat("x", 200)
	_, err := srv.Control().AddFault(mockserver.Fault{Name: key + "\x1b[2J\n" + long, Match: mockserver.Match{RUC: key, UserAgent: key + "\n" + long}, Steps: []mockserver.Effect{mockserver.Status(500)}})
	require.NoError(t, err)
	api.get(lookup)
	for name, fail := range map[string]func(mockserver.TB) bool{
		"calls": func(tb mockserver.TB) bool { return srv.AssertCalls(tb, mockserver.Filter{Path: key + "\n" + long}, 1) },
		"code":  func(tb mockserver.TB) bool { return srv.AssertCalls(tb, mockserver.Filter{Code: key, Fault: key}, 1) },
		"order": func(tb mockserver.TB) bool {
			return srv.AssertOrder(tb, mockserver.Filter{Path: key}, mockserver.Filter{RUC: key})
		},
		"faults":  srv.AssertFaultsMet,
		"secrets": func(tb mockserver.TB) bool { return srv.AssertNoSecrets(tb, "GET") },
		"dropped": func(tb mockserver.TB) bool {
			for range 2 {
				api.get(lookup)
			}
			return srv.AssertCalls(tb, mockserver.Filter{}, 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var said fakeTB
			require.False(t, fail(&said))
			for line := range strings.Lines(said.String()) {
				head := strings.TrimRight(line, "\n")
				assert.NotContains(t, head, key)
				assert.NotContains(t, head, "\x1b")
				if strings.HasPrefix(head, "mockserver: ") {
					assert.LessOrEqual(t, utf8.RuneCountInString(head), 100, head)
				}
			}
		})
	}
	var said fakeTB
	srv.AssertFaultsMet(&said)
	assert.Contains(t, said.String(), "has met 0 calls, want 1 or more", "whatever its name")
	srv.AssertCalls(&said, mockserver.Filter{}, 3)
	assert.Contains(t, said.String(), "WithJournal(")
}

// What a failure advises is enough for what was wanted too, not only for what came.
func TestTheAdviceIsEnoughForWhatIsWanted(t *testing.T) {
	srv, api := start(t, mockserver.WithJournal(2))
	for range 3 {
		api.get(lookup)
	}
	var said fakeTB
	assert.False(t, srv.AssertCalls(&said, mockserver.Filter{}, 40))
	assert.Contains(t, said.String(), "WithJournal(40)")
}
