package admin

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// validate asks about a receipt with a clave, and returns the status.
func (r remote) validate(key, clave string) int {
	r.t.Helper()
	hc := &http.Client{Transport: r.mock.Transport()}
	defer hc.CloseIdleConnections()
	req, err := http.NewRequest(http.MethodPost, r.mock.URL+"/api/cpe/validar", strings.NewReader(`{"rucEmisor": "20100070970", "tipoComprobante": "01",
		"serie": "F001", "numero": 123, "rucSolicitante": "20131312955", "usuarioSol": "MIUSER01", "claveSol": "`+clave+`"}`))
	require.NoError(r.t, err)
	req.Header.Set("X-API-KEY", key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := hc.Do(req)
	require.NoError(r.t, err)
	_, _ = io.Copy(io.Discard, resp.Body)
	require.NoError(r.t, resp.Body.Close())
	return resp.StatusCode
}

func TestRequests(t *testing.T) {
	r := start(t)
	r.call(lookup, "s3creta")
	r.call("/api/contribuyentes/20999999999", "s3creta")
	r.call("/api/tipocambio?fecha=ayer", r.mock.APIKey)
	r.call("/api/nada", "otra")
	r.validate("s3creta", mockserver.ClaveSOL)
	for name, c := range map[string]struct {
		query, key string
		want       []int64
	}{
		"all":        {"", "", []int64{1, 2, 3, 4, 5}},
		"op":         {"?op=consultar", "", []int64{1, 2}},
		"status":     {"?status=404", "", []int64{2, 4}},
		"code":       {"?code=INVALID_DATE", "", []int64{3}},
		"ruc":        {"?ruc=20100070970", "", []int64{5}},
		"text":       {"?text=f001-12", "", []int64{5}},
		"path":       {"?path=/api/nada", "", []int64{4}},
		"unmatched":  {"?unmatched=true", "", []int64{4}},
		"after":      {"?after=3", "", []int64{4, 5}},
		"limit":      {"?limit=2", "", []int64{4, 5}},
		"a tenant's": {"", "s3creta", []int64{1, 2, 5}},
		"several":    {"?op=consultar&status=200", "s3creta", []int64{1}},
		"none":       {"?fault=x", "", []int64{}},
	} {
		t.Run(name, func(t *testing.T) {
			var j journal
			r.ok(&j, "GET", "requests"+c.query, "", "X-API-KEY", c.key)
			got := []int64{}
			for _, request := range j.Requests {
				got = append(got, request.N)
			}
			assert.Equal(t, c.want, got)
		})
	}
	for query, says := range map[string]string{
		"?operacion=consultar": "los parámetros son", "?op=nada": "las operaciones son", "?status=x": "status", "?limit=-1": "limit",
		"?unmatched=si": "true o false", "?unmatched=T": "true o false", "?unmatched=1": "true o false", "?timeout=1": "10s", "?timeout=10m": "5m", "?op=%zz": "%",
	} {
		r.do("GET", "requests"+query, "").isProblem(t, 400, codeInvalid, says)
	}
	r.do("GET", "requests", "", "X-API-KEY", "otra").isProblem(t, 404, codeNotFound, "X-API-KEY")

	r.ok(nil, "DELETE", "requests", "", "X-API-KEY", "s3creta")
	assert.Len(t, r.mock.Requests(), 2)
	r.ok(nil, "DELETE", "requests", "")
	assert.Contains(t, r.do("GET", "requests", "").body, `"requests": []`)
}

func TestWaitForMoreThanTheJournalHolds(t *testing.T) {
	r := start(t, mockserver.WithJournal(2))
	r.do("GET", "requests/wait?count=3&timeout=5m", "", "X-API-KEY", "s3creta").isProblem(t, 400, codeInvalid, "-journal 3")
	for range 3 {
		r.call(lookup, "s3creta")
		r.call(lookup, r.mock.APIKey)
	}
	var j journal
	r.ok(&j, "GET", "requests/wait?count=4&timeout=5m", "")
	assert.Len(t, j.Requests, 4)
}

func TestWait(t *testing.T) {
	for name, c := range map[string]struct {
		query  string
		calls  int // after a second each
		end    bool
		status int
		takes  time.Duration
	}{
		"the first":      {"?op=consultar", 1, false, 200, time.Second},
		"the third":      {"?count=3&timeout=1m", 3, false, 200, 3 * time.Second},
		"too few":        {"?count=3&timeout=4s", 2, false, 409, 4 * time.Second},
		"none":           {"", 0, false, 409, 10 * time.Second},
		"at once":        {"?count=0", 0, false, 200, 0},
		"the server end": {"?timeout=1m", 0, true, 503, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t)
				got := make(chan reply, 1)
				began := time.Now()
				go func() { got <- r.do("GET", "requests/wait"+c.query, "") }()
				for range c.calls {
					time.Sleep(time.Second)
					r.call(lookup, "s3creta")
				}
				if c.end {
					time.Sleep(time.Second)
					r.end()
				}
				answer := <-got
				assert.Equal(t, c.status, answer.status, answer.body)
				assert.Equal(t, c.takes, time.Since(began))
				switch c.status {
				case 409:
					answer.isProblem(t, 409, codeTimeout, "llegaron")
				case 503:
					answer.isProblem(t, 503, codeEnding, "cerrando")
				}
			})
		})
	}
}

// The requests of a key are asked for by its fingerprint too: a key has no place in an address.
func TestRequestsOfAFingerprint(t *testing.T) {
	r := start(t, mockserver.WithJournal(1))
	r.call(lookup, "s3creta")
	r.call(lookup, "s3creta")
	r.call(lookup, r.mock.APIKey)
	for _, path := range []string{"requests", "requests/wait"} {
		var j journal
		r.ok(&j, "GET", path+"?key="+fingerprint("s3creta"), "")
		require.Len(t, j.Requests, 1)
		assert.EqualValues(t, 2, j.Requests[0].N)
		assert.Equal(t, 1, j.Dropped)
		r.do("GET", path+"?key=s3creta", "").isProblem(t, 400, codeInvalid, "k_ y 8 dígitos")
	}
}
