package otelfiscope_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheQuotaIsThatOfTheLastAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		headers []string
		want    []string
	}{
		"no header": {nil, nil},
		"all of them": {[]string{"X-RateLimit-Limit: 1000", "X-RateLimit-Remaining: 995", "X-RateLimit-Reset: 2000-01-01T05:00:00Z"}, []string{
			"fiscope.quota.limit gauge {query} {} 1000",
			"fiscope.quota.remaining gauge {query} {} 995",
			"fiscope.quota.reset.timestamp gauge s {} 946702800",
		}},
		"nothing left": {[]string{"X-RateLimit-Remaining: 0"}, []string{"fiscope.quota.remaining gauge {query} {} 0"}},
		"unreadable":   {[]string{"X-RateLimit-Limit: many", "X-RateLimit-Remaining: few", "X-RateLimit-Reset: soon"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecorder(t)
				tel := r.telemetry(t)
				client := connect(t, tel, contract(t, 200, "consultar_200.json", test.headers...))
				registration, err := tel.ObserveQuota(client)
				require.NoError(t, err)
				_, err = tel.ObserveQuota(nil)
				require.ErrorContains(t, err, "the client is nil")
				assert.Empty(t, r.measured(t), "before the first answer")
				consult(t.Context(), client)
				assert.Empty(t, cmp.Diff(test.want, quotaOf(r, t)))
				time.Sleep(6 * time.Hour)
				assert.Empty(t, cmp.Diff(test.want, quotaOf(r, t)), "the reset shows that it is of the day before")
				require.NoError(t, registration.Unregister())
				assert.Empty(t, quotaOf(r, t))
			})
		})
	}
}

func quotaOf(r *recorder, t *testing.T) (lines []string) {
	for _, s := range r.measured(t) {
		if s.kind == "gauge" {
			lines = append(lines, s.String())
		}
	}
	return lines
}
