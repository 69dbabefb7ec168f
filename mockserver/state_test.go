package mockserver_test

import (
	"testing"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQuotaState(t *testing.T) {
	srv, api := start(t, mockserver.WithQuota(3), frozen(t, "2026-11-21T12:00:00-05:00"), mockserver.WithKey("sin", mockserver.Unlimited))
	state := func(key string) mockserver.Quota {
		q, ok := srv.Quota(key)
		require.True(t, ok)
		return q
	}
	reset := at(t, "2026-11-22T05:00:00Z").UTC()
	assert.Equal(t, mockserver.Quota{Limit: 3, Remaining: 3, Reset: reset}, state(srv.APIKey))
	api.get(lookup)
	assert.Equal(t, mockserver.Quota{Limit: 3, Used: 1, Remaining: 2, Reset: reset, Spent: 1}, state(srv.APIKey))
	require.NoError(t, srv.SetQuotaUsed(srv.APIKey, 3))
	api.get(lookup).isError(t, 429, "QUOTA_EXCEEDED")
	assert.Equal(t, mockserver.Quota{Limit: 3, Used: 3, Reset: reset, Spent: 1}, state(srv.APIKey))
	srv.Advance(12 * time.Hour)
	assert.Equal(t, "2", remaining(api.get(lookup)))
	assert.Equal(t, 2, state(srv.APIKey).Spent, "on all days")
	api.withKey("sin").get(lookup)
	assert.Equal(t, mockserver.Unlimited, state("sin").Remaining)
	_, ok := srv.Quota("nadie")
	assert.False(t, ok)

	never := mockserver.DefaultAssumptions()
	never.ChargeFailures = false
	free, api := start(t, mockserver.WithAssumptions(never))
	api.get("/api/contribuyentes/1")
	q, _ := free.Quota(free.APIKey)
	assert.Zero(t, q.Spent+q.Used, "given back")
	free.AssertSpent(t, mockserver.Filter{}, 0)
}

func TestSOLState(t *testing.T) {
	srv, api := start(t, mockserver.WithNow(at(t, "2026-11-21T12:00:00Z")), mockserver.WithFrozenClock())
	state := func() mockserver.SOLState {
		s, ok := srv.SOLState(mockserver.RUCSolicitante, mockserver.UsuarioSOL)
		require.True(t, ok)
		return s
	}
	api.validar(cpe(t))
	for range 3 {
		api.validar(cpe(t, "claveSol", `"mala"`))
	}
	api.validar(cpe(t))
	assert.Equal(t, mockserver.SOLState{Attempts: 5, Fails: 3, Blocked: true, BlockedUntil: srv.Now().Add(30 * time.Minute)}, state())
	require.NoError(t, srv.UnblockSOL(mockserver.RUCSolicitante, mockserver.UsuarioSOL))
	assert.Equal(t, mockserver.SOLState{Attempts: 5}, state())
	assert.Equal(t, 200, api.validar(cpe(t)).status)
	for range 3 {
		api.validar(cpe(t, "claveSol", `"mala"`))
	}
	srv.Advance(time.Hour)
	assert.Equal(t, mockserver.SOLState{Attempts: 9}, state(), "the block is over")
	_, ok := srv.SOLState("20100070970", "NADIE")
	assert.False(t, ok)
	srv.AssertSOLAttempts(t, mockserver.RUCSolicitante, mockserver.UsuarioSOL, 9)
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
		return state{srv.Data(), q.Used, sol.Blocked, len(srv.Faults()), len(srv.Requests()) > 0, srv.Now().Year() == 2026, srv.SUNATDown()}
	}
	begin := func(t *testing.T) (*mockserver.Server, state, state) {
		srv, api := start(t, mockserver.WithNow(at(t, "2026-11-21T12:00:00Z")), mockserver.WithFrozenClock(), mockserver.WithData(readData(t, `{"contribuyentes": [{"ruc": "20000000001"}], "keys": [{"key": "k", "quota": 5}]}`)))
		fresh := see(srv)
		srv.SetNow(at(t, "2027-01-02T12:00:00Z"))
		for range 3 {
			api.validar(cpe(t, "claveSol", `"mala"`))
		}
		srv.Fault(mockserver.Match{}, mockserver.OK)
		require.NoError(t, srv.PutData(readData(t, fixture)))
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
	assert.Len(t, mockserver.Parts(), 6)
}
