package mockserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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
    N  time          request                             key         status  code                     cost  conn     fault  SOL    not counted, since
=>  1  12:00:00.000  GET /api/contribuyentes/20131312955  k_12345678  200     -                        1     1 new    -      -      
=>  2  12:00:00.000  GET /api/contribuyentes/20131312955  k_12345678  200     -                        1     1 again  -      -      
    3  12:00:00.000  GET /api/contribuyentes/20000000001  k_12345678  404     NOT_FOUND                1     1 again  -      -      status is 404, not 200
    4  12:00:00.000  POST /api/cpe/validar                k_12345678  401     INVALID_SOL_CREDENTIALS  1     1 again  -      wrong  op is validar, not consultar
`, "k_12345678", key)
	assert.Equal(t, strings.Replace(want, "request                             key", "request                              key", 1), f.said[0])
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
					"calls":     srv.AssertCalls(tb, f, n),
					"spent":     srv.AssertSpent(tb, f, len(srv.Requests(mockserver.Filter{Key: f.Key, Status: 200}))),
					"order":     srv.AssertOrder(tb, slices.Repeat([]mockserver.Filter{f}, n)...),
					"in flight": srv.AssertInFlight(tb, f, 1),
					"pauses":    srv.AssertPauses(tb, f, 0, time.Hour),
					"header":    srv.AssertHeader(tb, f, "User-Agent", "Go-http-client/1.1"),
				}
			}
			srv, filters := requests(c.journal)
			var said fakeTB
			for _, f := range filters {
				for which, passed := range pass(srv, &said, f) {
					assert.False(t, passed, which)
				}
				assert.False(t, srv.AssertCalls(&said, f, 0))
				assert.Positive(t, srv.Dropped(f.Key))
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

			srv, filters = requests(enough) // as they are told to
			for _, f := range filters {
				for which, passed := range pass(srv, t, f) {
					assert.True(t, passed, which)
				}
				assert.Zero(t, srv.Dropped(f.Key))
			}
			assert.True(t, srv.AssertNoSecrets(t, "nada"))
			assert.True(t, srv.AssertSOLAttempts(t, lookedUp, mockserver.UsuarioSOL, 0))
		})
	}
}
