package admin

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFaults(t *testing.T) {
	r := start(t)
	var f faultStatus
	r.ok(&f, "POST", "faults", `{"name": "caído", "match": {"op": "consultar", "for": "1h"}, "steps": [{"status": 500}, {}]}`)
	assert.Equal(t, "caído", f.Name)
	assert.True(t, f.Active)
	assert.Equal(t, time.Hour, r.mock.Control().Faults("")[0].Match.For)
	assert.Equal(t, 500, r.call(lookup, "s3creta"))
	assert.Equal(t, 200, r.call(lookup, "s3creta"))
	var list []faultStatus
	r.ok(&list, "GET", "faults", "")
	require.Len(t, list, 1)
	assert.Equal(t, 2, list[0].Hits)
	assert.False(t, list[0].Active)
	r.ok(nil, "DELETE", "faults/ca%C3%ADdo", "")
	r.ok(&list, "GET", "faults", "")
	assert.Empty(t, list)
	r.do("DELETE", "faults/otra", "").isProblem(t, 404, codeNotFound, "GET /_mock/faults")
	r.do("POST", "faults/otra/release", "").isProblem(t, 404, codeNotFound, "GET /_mock/faults")
	r.do("POST", "faults", `{"match": {"key": "otra"}, "steps": [{"status": 500}]}`).isProblem(t, 400, codeInvalid, "match.key")
	r.do("POST", "faults", `{"steps": [{"header": {"X Y": "1"}}]}`).isProblem(t, 400, codeInvalid, "encabezado")
}

// What GET shows can be posted.
func TestAFaultInJSON(t *testing.T) {
	const text = `{"name":"lenta","match":{"op":"validar","ruc":"20100070970","times":2,"for":"30m0s"},"steps":[{"preset":"sunat-down"},{"preset":"latin-1+reset-inside","latency":"1.5s"}]}`
	r := start(t)
	assert.JSONEq(t, strings.TrimSuffix(text, "}")+`,"seen":0,"hits":0,"active":true}`, r.do("POST", "faults", text).body)
	assert.Equal(t, 1500*time.Millisecond, r.mock.Control().Faults("")[0].Steps[1].Latency)
}

func TestFaultsOfATenant(t *testing.T) {
	r := start(t)
	var f faultStatus
	r.ok(&f, "POST", "faults", `{"name": "suya", "steps": [{"status": 503}]}`, "X-API-KEY", "s3creta")
	assert.Equal(t, fingerprint("s3creta"), f.Match.Key, "never the key")
	assert.Equal(t, 503, r.call(lookup, "s3creta"))
	assert.Equal(t, 200, r.call(lookup, r.mock.APIKey))
	var list []faultStatus
	r.ok(&list, "GET", "faults", "", "X-API-KEY", r.mock.APIKey)
	assert.Empty(t, list)
	r.ok(&list, "GET", "faults", "", "X-API-KEY", "s3creta")
	assert.Len(t, list, 1)
	r.do("DELETE", "faults/suya", "", "X-API-KEY", r.mock.APIKey).isProblem(t, 404, codeNotFound, "faults")
	r.ok(nil, "DELETE", "faults", "", "X-API-KEY", r.mock.APIKey)
	assert.Len(t, r.mock.Control().Faults(""), 1, "another tenant's")
	r.ok(nil, "DELETE", "faults", "", "X-API-KEY", "s3creta")
	assert.Empty(t, r.mock.Control().Faults(""))

	// What GET shows can be posted again: the fingerprint stands for the key.
	r.ok(&f, "POST", "faults", `{"match": {"key": "`+fingerprint("s3creta")+`"}, "steps": [{"status": 503}]}`)
	assert.Equal(t, 503, r.call(lookup, "s3creta"))
	r.ok(nil, "DELETE", "faults", "")
	assert.Empty(t, r.mock.Control().Faults(""))
}

func TestHoldAndRelease(t *testing.T) {
	r := start(t)
	r.ok(new(any), "POST", "faults", `{"name": "espera", "steps": [{"hold": true}]}`)
	status := make(chan int, 1)
	go func() { status <- r.call(lookup, "s3creta") }()
	var j journal
	r.ok(&j, "GET", "requests/wait", "")
	assert.Zero(t, j.Requests[0].Status, "it waits")
	r.ok(nil, "POST", "faults/espera/release", "")
	assert.Equal(t, 200, <-status)
}
