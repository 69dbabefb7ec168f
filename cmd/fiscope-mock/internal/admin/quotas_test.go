package admin

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

func TestQuotas(t *testing.T) {
	r := start(t)
	assert.Equal(t, 200, r.call(lookup, "s3creta"))
	var all, own []quota
	r.ok(&all, "GET", "quotas", "")
	require.Len(t, all, 2)
	r.ok(&own, "GET", "quotas", "", "X-API-KEY", "s3creta")
	require.Len(t, own, 1)
	assert.Equal(t, 4, own[0].Remaining)
	assert.Equal(t, r.mock.Requests()[0].Key, own[0].Key, "the journal's fingerprint")

	var q quota
	r.ok(&q, "PUT", "quotas", `{"limit": 10, "used": 10}`, "X-API-KEY", "s3creta")
	assert.Equal(t, 0, q.Remaining)
	assert.Equal(t, 429, r.call(lookup, "s3creta"))
	r.ok(&q, "PUT", "quotas", `{"used": 0}`, "X-API-KEY", "s3creta")
	assert.Equal(t, 200, r.call(lookup, "s3creta"))
	r.ok(&q, "PUT", "quotas", `{"limit": -1}`)
	assert.Equal(t, mockserver.Unlimited, q.Remaining, "without the header: the server's own key")
	for _, body := range []string{``, `{"limit": -2}`, `{"used": -1}`, `{"limit": "10"}`} {
		r.do("PUT", "quotas", body).isProblem(t, 400, codeInvalid, "limit")
	}
	r.do("PUT", "quotas", `{"used": 0}`, "X-API-KEY", "otra").isProblem(t, 404, codeNotFound, "X-API-KEY")
}

// Without X-API-KEY a quota is that of the own key, or of nobody once data took that away.
func TestTheOwnKeyThatDataTookAway(t *testing.T) {
	r := start(t)
	r.ok(nil, "PUT", "data", `{"deleted": {"defaultKey": true}, "keys": [{"key": "zeta-clave", "quota": 9}]}`)
	r.do("PUT", "quotas", `{"limit": 3, "used": 1}`).isProblem(t, 404, codeNotFound, "X-API-KEY")
	assert.Equal(t, 401, r.call(lookup, mockserver.DefaultAPIKey))
}

func TestQuotaOfAFingerprint(t *testing.T) {
	r := start(t)
	var q quota
	r.ok(&q, "PUT", "quotas/"+fingerprint("s3creta"), `{"limit": 7, "used": 6}`)
	assert.Equal(t, quota{Key: fingerprint("s3creta"), Limit: 7, Used: 6, Remaining: 1, Reset: q.Reset}, q)
	assert.Equal(t, 200, r.call(lookup, "s3creta"))
	assert.Equal(t, 429, r.call(lookup, "s3creta"))
	own, _ := r.mock.Quota(r.mock.APIKey)
	assert.Equal(t, 1000, own.Limit, "another key")
	r.ok(&q, "PUT", "quotas/"+fingerprint("s3creta"), `{"used": 0}`, "X-API-KEY", r.mock.APIKey)
	assert.Equal(t, fingerprint("s3creta"), q.Key, "the path says whose")
	for _, path := range []string{"k_00000000", "s3creta", "nadie"} { // a key has no place in an address
		r.do("PUT", "quotas/"+path, `{"used": 0}`).isProblem(t, 404, codeNotFound, "GET /_mock/keys")
	}
	r.do("PUT", "quotas/"+fingerprint("s3creta"), `{}`).isProblem(t, 400, codeInvalid, "no dice ninguna cuota")
	r.do("PUT", "quotas/"+fingerprint("s3creta"), `{"limit": 3, "used": -1}`).isProblem(t, 400, codeInvalid, "used")
	after, _ := r.mock.Quota("s3creta")
	assert.Equal(t, 7, after.Limit)
}
