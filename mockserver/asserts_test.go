package mockserver_test

import (
	"fmt"
	"strings"
	"testing"

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
}
