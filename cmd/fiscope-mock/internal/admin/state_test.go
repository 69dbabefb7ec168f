package admin

import (
	"strings"
	"testing"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestData(t *testing.T) {
	r := start(t)
	const file = `{"contribuyentes": [{"ruc": "20700000001", "razonSocial": "PRUEBA & S.A.C."}],
		"usuarios": [{"ruc": "20700000001", "usuario": "OTROUSER", "clave": "otra-clave"}],
		"deleted": {"contribuyentes": ["20100070970"]}}`
	r.ok(nil, "PUT", "data", file)
	assert.Equal(t, 200, r.call("/api/contribuyentes/20700000001", "s3creta"))
	assert.Equal(t, 404, r.call("/api/contribuyentes/20100070970", "s3creta"))

	export := r.do("GET", "data", "").body
	for _, part := range []string{"PRUEBA & S.A.C.", "otra-clave", "s3creta", "20100070970"} {
		assert.Contains(t, export, part, "an export is a fixture: a server must be able to start with it")
	}
	d, err := mockserver.ReadData(strings.NewReader(export), "export")
	require.NoError(t, err)
	again := start(t, mockserver.WithData(d))
	assert.Equal(t, 200, again.call("/api/contribuyentes/20700000001", "s3creta"))
	assert.Equal(t, export, again.do("GET", "data", "").body)

	r.do("PUT", "data", "{\n\"contribuyentes\": [{\"ruc\": \"1\"}]}").isProblem(t, 400, codeInvalid, "cuerpo:2: ")
	r.do("PUT", "data", "").isProblem(t, 400, codeInvalid, "cuerpo:1: ")
	r.ok(nil, "DELETE", "data", "")
	assert.Equal(t, 404, r.call("/api/contribuyentes/20700000001", "s3creta"))
	assert.Equal(t, 200, r.call("/api/contribuyentes/20100070970", "s3creta"))
}

func TestClock(t *testing.T) {
	r := start(t)
	var c clock
	r.ok(&c, "PUT", "clock", `{"now": "2026-11-20T21:59:00Z", "frozen": true}`)
	assert.Equal(t, "2026-11-20T16:59:00-05:00", c.Now.Format(time.RFC3339), "in Lima")
	assert.True(t, c.Frozen)
	assert.Equal(t, 404, r.call("/api/tipocambio", "s3creta"))
	r.ok(&c, "POST", "clock/advance", `{"by": "1m"}`)
	assert.Equal(t, 200, r.call("/api/tipocambio", "s3creta"))
	r.ok(&c, "POST", "clock/advance", `{"by": "-1m"}`)
	r.ok(&c, "GET", "clock", "")
	assert.Equal(t, "2026-11-20T16:59:00-05:00", c.Now.Format(time.RFC3339Nano), "it stands still")
	r.ok(&c, "PUT", "clock", `{"frozen": false}`)
	assert.False(t, c.Frozen)
	assert.WithinDuration(t, time.Date(2026, 11, 20, 21, 59, 0, 0, time.UTC), r.mock.Now(), time.Minute, "it runs on from there")
	for _, body := range []string{``, `{"by": "1"}`, `{"by": 60}`} {
		r.do("POST", "clock/advance", body).isProblem(t, 400, codeInvalid, `{"by": "24h"}`)
	}
}

func TestSOL(t *testing.T) {
	r := start(t)
	r.ok(nil, "PUT", "data", `{"usuarios": [{"ruc": "20600000005", "usuario": "OTROUSER", "clave": "otra-clave"}]}`)
	var users []solUser
	r.ok(&users, "GET", "sol", "")
	require.Len(t, users, 3)
	assert.Equal(t, solUser{RUC: "20131312955", Usuario: "PRINCIP1", Principal: true}, users[1])
	assert.Equal(t, solUser{RUC: "20600000005", Usuario: "OTROUSER"}, users[2])

	r.ok(nil, "PUT", "data", `{"usuarios": [{"ruc": "20131312955", "usuario": "PRINCIP1", "clave": "otra-clave", "principal": false}]}`)
	r.ok(&users, "GET", "sol", "")
	require.Len(t, users, 3, "put again, not twice")
	assert.False(t, users[1].Principal)

	for range 3 {
		assert.Equal(t, 401, r.validate("s3creta", "no es la clave"))
	}
	r.ok(&users, "GET", "sol", "")
	assert.Equal(t, 3, users[0].Attempts)
	assert.True(t, users[0].Blocked)
	require.NotNil(t, users[0].BlockedUntil)
	assert.Contains(t, r.do("GET", "sol", "").body, `-05:00"`, "in Lima")
	assert.Equal(t, 401, r.validate("s3creta", mockserver.ClaveSOL), "blocked: the right one is refused, too")
	r.ok(nil, "DELETE", "sol/20131312955/MIUSER01/block", "")
	assert.Equal(t, 200, r.validate("s3creta", mockserver.ClaveSOL))
	r.do("DELETE", "sol/20131312955/NADIE/block", "").isProblem(t, 404, codeNotFound, "GET /_mock/sol")

	r.ok(nil, "PUT", "sunat", `{"down": true}`)
	assert.True(t, r.mock.SUNATDown())
	r.ok(nil, "PUT", "sunat", `{"down": false}`)
	assert.False(t, r.mock.SUNATDown())
	r.do("PUT", "sunat", "").isProblem(t, 400, codeInvalid, "down")
}

func TestReset(t *testing.T) {
	r := start(t)
	dirty := func() {
		r.ok(new(clock), "PUT", "clock", `{"frozen": true}`)
		r.ok(new(any), "POST", "faults", `{"steps": [{"preset": "null-200"}]}`)
		assert.Equal(t, 200, r.call(lookup, "s3creta"))
		assert.Equal(t, 200, r.call(lookup, r.mock.APIKey))
	}
	used := func(key string) int {
		q, _ := r.mock.Quota(key)
		return q.Used
	}
	dirty()
	r.ok(nil, "POST", "reset", `{"parts": ["journal", "clock"]}`)
	assert.Empty(t, r.mock.Requests())
	assert.False(t, r.mock.Frozen())
	assert.Len(t, r.mock.Faults(), 1, "another part")

	dirty()
	r.ok(nil, "POST", "reset", "", "X-API-KEY", "s3creta")
	assert.Zero(t, used("s3creta"))
	assert.NotZero(t, used(r.mock.APIKey), "another tenant")
	assert.Len(t, r.mock.Requests(), 1)

	r.ok(nil, "POST", "reset", "")
	assert.Zero(t, used(r.mock.APIKey))
	assert.Empty(t, r.mock.Faults())
}

func TestATenantWhoseKeyLooksLikeAFingerprint(t *testing.T) {
	const key = "k_produccion"
	r := start(t, mockserver.WithKey(key, 5))
	assert.Equal(t, 200, r.call(lookup, key))
	var j journal
	r.ok(&j, "GET", "requests", "", "X-API-KEY", key)
	require.Len(t, j.Requests, 1)
	assert.Equal(t, fingerprint(key), j.Requests[0].Key)
	var f mockserver.FaultStatus
	r.ok(&f, "POST", "faults", `{"match": {"key": "`+key+`"}, "steps": [{"status": 503}]}`)
	assert.Equal(t, fingerprint(key), f.Match.Key)
	for _, path := range []string{"requests", "quotas", "faults"} {
		assert.NotContains(t, r.do("GET", path, "").body, key)
	}
	// A key may even be another one's fingerprint: it is a key all the same.
	odd := fingerprint("s3creta")
	require.NoError(t, r.mock.PutKey(odd, 5))
	r.ok(&f, "POST", "faults", `{"match": {"key": "`+odd+`"}, "steps": [{"status": 503}]}`)
	assert.Equal(t, 503, r.call(lookup, odd))
	assert.Equal(t, 200, r.call(lookup, "s3creta"))
}

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

// What the clock does not take moves nothing, and whatever it takes it shows.
func TestClockTakesOrRefuses(t *testing.T) {
	r := start(t)
	const noon = `{"now": "2026-11-20T12:00:00-05:00", "frozen": true}`
	for name, c := range map[string]struct {
		method, path, body string
		shows              string // "": refused
	}{
		"with fractions":    {"PUT", "clock", `{"now": "2026-11-20T17:00:00.123456789-05:00"}`, "2026-11-20T17:00:00.123456789-05:00"},
		"another zone":      {"PUT", "clock", `{"now": "2026-11-20T17:00:00+09:30"}`, "2026-11-20T02:30:00-05:00"},
		"in centuries":      {"PUT", "clock", `{"now": "2900-01-01T00:00:00Z"}`, "2899-12-31T19:00:00-05:00"},
		"the last":          {"PUT", "clock", `{"now": "9000-01-01T00:00:00Z"}`, "8999-12-31T19:00:00-05:00"},
		"after the last":    {"PUT", "clock", `{"now": "9999-12-31T23:59:59Z"}`, ""},
		"... and to run":    {"PUT", "clock", `{"now": "9999-12-31T23:59:59Z", "frozen": false}`, ""},
		"zero":              {"PUT", "clock", `{"now": "0001-01-01T00:00:00Z"}`, ""},
		"before 1970":       {"PUT", "clock", `{"now": "1969-12-31T23:59:59Z"}`, ""},
		"advanced far":      {"POST", "clock/advance", `{"by": "2562047h47m16s"}`, "2319-03-02T11:47:16-05:00"},
		"back too far":      {"POST", "clock/advance", `{"by": "-2562047h47m16s"}`, ""},
		"no such duration":  {"POST", "clock/advance", `{"by": "9999999h"}`, ""},
		"no hour 24":        {"PUT", "clock", `{"now": "2026-11-20T24:00:00-05:00"}`, ""},
		"no 30 of February": {"PUT", "clock", `{"now": "2026-02-30T12:00:00-05:00"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got clock
			r.ok(&got, "PUT", "clock", noon)
			if c.shows == "" {
				assert.Equal(t, 400, r.do(c.method, c.path, c.body).status)
				c.shows = "2026-11-20T12:00:00-05:00"
			} else {
				r.ok(&got, c.method, c.path, c.body)
				assert.Equal(t, c.shows, got.Now.Format(time.RFC3339Nano))
			}
			r.ok(&got, "GET", "clock", "")
			assert.Equal(t, c.shows, got.Now.Format(time.RFC3339Nano))
			assert.True(t, got.Frozen)
		})
	}
	for range 50 { // as often as it likes: it never ends in a time that cannot be shown
		assert.Less(t, r.do("POST", "clock/advance", `{"by": "2562047h"}`).status, 500)
		assert.Equal(t, 200, r.do("GET", "clock", "").status)
		assert.Less(t, r.do("GET", "quotas/s3creta", "").status, 500)
	}
}

// A key that data took away stays away: without X-API-KEY a quota is that of the own key, which is the first of
// those data, or of nobody.
func TestTheOwnKeyThatDataTookAway(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		own  string // "" for none
	}{
		"another one": {`{"deleted": {"defaultKey": true}, "keys": [{"key": "zeta-clave", "quota": 9}, {"key": "alfa-clave", "quota": 9}]}`, "zeta-clave"},
		"none":        {`{"deleted": {"defaultKey": true}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			r.ok(nil, "PUT", "data", c.data)
			for _, body := range []string{`{"limit": 3}`, `{"used": 1}`, `{"limit": 3, "used": 1}`} {
				if c.own == "" {
					r.do("PUT", "quotas", body).isProblem(t, 404, codeNotFound, "X-API-KEY")
				} else {
					var q quota
					r.ok(&q, "PUT", "quotas", body)
					assert.Equal(t, fingerprint(c.own), q.Key)
				}
				assert.Equal(t, 401, r.call(lookup, mockserver.DefaultAPIKey))
			}
			if c.own != "" {
				q, _ := r.mock.Quota(c.own)
				assert.Equal(t, mockserver.Quota{Limit: 3, Used: 1, Remaining: 2, Reset: q.Reset}, q)
				r.ok(new(any), "PUT", "assumptions", `{"Quota": 6}`)
				q, _ = r.mock.Quota(c.own)
				assert.Equal(t, 6, q.Limit)
			}
		})
	}
}
