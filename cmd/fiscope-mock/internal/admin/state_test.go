package admin

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
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
	d, err := mockserver.Control{}.ReadData(strings.NewReader(export), "export")
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
	r.ok(&c, "PUT", "clock", `{"now": "2026-11-20T21:59:00Z"}`)
	assert.True(t, c.Frozen, "as it was")
	assert.Equal(t, 404, r.call("/api/tipocambio", "s3creta"))
	r.ok(&c, "POST", "clock/advance", `{"by": "1m"}`)
	assert.Equal(t, 200, r.call("/api/tipocambio", "s3creta"))
	r.ok(&c, "POST", "clock/advance", `{"by": "-1m"}`)
	r.ok(&c, "GET", "clock", "")
	assert.Equal(t, "2026-11-20T16:59:00-05:00", c.Now.Format(time.RFC3339Nano), "it stands still")
	r.ok(&c, "PUT", "clock", `{"frozen": false}`)
	assert.False(t, c.Frozen)
	assert.WithinDuration(t, time.Date(2026, 11, 20, 21, 59, 0, 0, time.UTC), r.mock.Now(), time.Minute, "it runs on from there")
	r.do("PUT", "clock", `{"now": "9999-12-31T23:59:59Z"}`).isProblem(t, 400, codeInvalid, "9000-01-01")
	for _, body := range []string{``, `{"by": "1"}`, `{"by": 60}`} {
		r.do("POST", "clock/advance", body).isProblem(t, 400, codeInvalid, `{"by": "24h"}`)
	}
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
	assert.False(t, r.mock.Control().Frozen())
	assert.Len(t, r.mock.Control().Faults(""), 1, "another part")

	dirty()
	r.ok(nil, "POST", "reset", "", "X-API-KEY", "s3creta")
	assert.Zero(t, used("s3creta"))
	assert.NotZero(t, used(r.mock.APIKey), "another tenant")
	assert.Len(t, r.mock.Requests(), 1)

	r.ok(nil, "POST", "reset", "")
	assert.Zero(t, used(r.mock.APIKey))
	assert.Empty(t, r.mock.Control().Faults(""))
}

func TestSUNAT(t *testing.T) {
	r := start(t)
	down := func() (s sunat) {
		r.ok(&s, "GET", "sunat", "")
		assert.Equal(t, r.mock.Control().SUNATDown(), s.Down)
		return s
	}
	assert.False(t, down().Down)
	r.ok(nil, "PUT", "sunat", `{"down": true}`)
	assert.True(t, down().Down)
	r.ok(nil, "PUT", "sunat", `{"down": false}`)
	assert.False(t, down().Down)
	r.do("PUT", "sunat", "").isProblem(t, 400, codeInvalid, "down")
}
