package mockserver_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each form of a reset, at midnight and in the middle of a second, raw and as the SDK reads it.
func TestResetForms(t *testing.T) {
	for form, c := range map[mockserver.ResetForm]struct{ midnight, rolling string }{
		mockserver.ResetSeconds:        {"2026-11-21T05:00:00Z", "2026-11-21T17:00:01Z"},
		mockserver.ResetFraction:       {"2026-11-21T05:00:00.000Z", "2026-11-21T17:00:00.124Z"},
		mockserver.ResetOffset:         {"2026-11-21T05:00:00+00:00", "2026-11-21T17:00:01+00:00"},
		mockserver.ResetFractionOffset: {"2026-11-21T05:00:00.000+00:00", "2026-11-21T17:00:00.124+00:00"},
	} {
		for rolling, want := range map[bool]string{false: c.midnight, true: c.rolling} {
			t.Run(fmt.Sprint(form, " ", rolling), func(t *testing.T) {
				a := mockserver.DefaultAssumptions()
				a.ResetForm, a.ResetRolling = form, rolling
				srv, api := start(t, mockserver.WithAssumptions(a), mockserver.WithNow(at(t, "2026-11-20T17:00:00.1234Z")), mockserver.WithFrozenClock())
				assert.Equal(t, want, api.get(lookup).header.Get("X-RateLimit-Reset"))
				var seen fiscope.Response
				_, err := srv.Client().Contribuyentes.Consultar(t.Context(), "20131312955", fiscope.WithResponse(&seen))
				require.NoError(t, err)
				assert.Empty(t, seen.Warnings)
				assert.Equal(t, at(t, want).UTC(), seen.RateLimit.Reset)
				q, _ := srv.Quota(srv.APIKey)
				assert.False(t, at(t, want).Before(q.Reset), "at the instant that is told the quota has begun anew")
			})
		}
	}
}

func TestRetryAfterOfASpentQuota(t *testing.T) {
	for form, c := range map[mockserver.RetryAfterForm]struct {
		raw  []string
		wait time.Duration // that the SDK sees
	}{
		mockserver.RetryAfterNone:    {nil, 0},
		mockserver.RetryAfterSeconds: {[]string{"43200"}, 12 * time.Hour},
		mockserver.RetryAfterInstant: {[]string{"Sat, 21 Nov 2026 05:00:00 GMT"}, 12 * time.Hour},
	} {
		for _, headers := range []bool{true, false} {
			t.Run(fmt.Sprint(form, " ", headers), func(t *testing.T) {
				a := mockserver.DefaultAssumptions()
				a.QuotaRetryAfter, a.HeadersOnErrors = form, headers
				srv, api := start(t, mockserver.WithAssumptions(a), mockserver.WithQuota(1), mockserver.WithNow(at(t, "2026-11-20T12:00:00.5-05:00")), mockserver.WithFrozenClock())
				assert.Empty(t, api.get(lookup).header["Retry-After"], "one that is answered")
				for op, ask := range four(t, api) {
					assert.Equal(t, c.raw, ask().header["Retry-After"], op)
				}
				assert.Empty(t, api.withKey("x").get(lookup).header["Retry-After"])
				before := len(srv.Requests())
				_, err := srv.Client().Contribuyentes.Consultar(t.Context(), "20131312955")
				require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.InDelta(t, c.wait, e.RetryAfter, float64(time.Second))
				assert.Len(t, srv.Requests(), before+1, "it is not tried again")
			})
		}
	}
}

// A rolling quota begins with the first call, whether it is answered or not, and lasts 24 hours.
func TestResetRolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := mockserver.DefaultAssumptions()
		a.ResetRolling = true
		srv, api := start(t, mockserver.WithAssumptions(a), mockserver.WithQuota(2))
		waitUntil(t, "2026-11-20T23:59:59-05:00")
		unused, _ := srv.Quota(srv.APIKey)
		assert.Equal(t, time.Now().Add(24*time.Hour).UTC(), unused.Reset)
		time.Sleep(time.Hour)
		first := api.get(lookup)
		assert.Equal(t, "2026-11-22T05:59:59Z", first.header.Get("X-RateLimit-Reset"), "it did not begin with a look at it")
		time.Sleep(23 * time.Hour) // past midnight
		assert.Equal(t, "0", remaining(api.get(lookup)))
		time.Sleep(time.Hour - time.Nanosecond)
		assert.Equal(t, 429, api.get(lookup).status)
		time.Sleep(time.Nanosecond)
		again := api.get(lookup)
		assert.Equal(t, "1", remaining(again))
		assert.Equal(t, "2026-11-23T05:59:59Z", again.header.Get("X-RateLimit-Reset"))
		require.NoError(t, srv.SetQuotaUsed(srv.APIKey, 2))
		assert.Equal(t, 429, api.get(lookup).status)
		time.Sleep(72 * time.Hour)
		late := api.get(lookup)
		assert.Equal(t, "2026-11-26T05:59:59Z", late.header.Get("X-RateLimit-Reset"), "with the call, not 24 hours after the last")
		q, _ := srv.Quota(srv.APIKey)
		assert.Equal(t, 4, q.Spent)
	})
}

// A clock that was set back, or a call that read it late, counts in the 24 hours that began already.
func TestResetRollingWithAClockThatIsSetBack(t *testing.T) {
	a := mockserver.DefaultAssumptions()
	a.ResetRolling = true
	srv, api := start(t, mockserver.WithAssumptions(a), mockserver.WithQuota(5), mockserver.WithNow(at(t, "2026-11-20T12:00:00Z")), mockserver.WithFrozenClock())
	api.get(lookup)
	require.NoError(t, srv.SetNow(at(t, "2026-11-20T11:59:59Z")))
	r := api.get(lookup)
	assert.Equal(t, "3", remaining(r))
	assert.Equal(t, "2026-11-21T12:00:00Z", r.header.Get("X-RateLimit-Reset"))
	require.NoError(t, srv.SetNow(at(t, "2026-11-21T13:00:00Z")))
	assert.Equal(t, "4", remaining(api.get(lookup)))
	require.NoError(t, srv.SetNow(at(t, "2026-11-21T11:59:59Z")))
	assert.Equal(t, "2", remaining(api.get(lookup)), "the first 24 hours are in force again")
}

// A date has whole seconds: of a reset within one it is the next, at which there are calls again.
func TestRetryAfterDateIsNoEarlierThanTheReset(t *testing.T) {
	a := mockserver.DefaultAssumptions()
	a.ResetRolling, a.QuotaRetryAfter = true, mockserver.RetryAfterInstant
	srv, api := start(t, mockserver.WithAssumptions(a), mockserver.WithQuota(1), mockserver.WithNow(at(t, "2026-11-20T12:00:00.5Z")), mockserver.WithFrozenClock())
	api.get(lookup)
	assert.Equal(t, "Sat, 21 Nov 2026 12:00:01 GMT", api.get(lookup).header.Get("Retry-After"))
	require.NoError(t, srv.SetNow(at(t, "2026-11-21T12:00:01Z")))
	assert.Equal(t, 200, api.get(lookup).status)
}
