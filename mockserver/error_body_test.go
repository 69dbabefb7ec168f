package mockserver_test

import (
	"net/http"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each form of the answers to a missing key, an unknown one and a spent quota, on every operation.
func TestErrorBodies(t *testing.T) {
	_, usual := start(t)
	json := usual.get(lookup).header["Content-Type"]
	for form, c := range map[mockserver.ErrorBody]struct {
		contentType []string
		body        string // a pattern of the whole
	}{
		mockserver.ErrorBodyContract: {json, `^\{"error":"[^"]+","code":"CODIGO"\}\n$`},
		mockserver.ErrorBodyNoCode:   {json, `^\{"error":"[^"]+"\}\n$`},
		mockserver.ErrorBodyMessage:  {json, `^\{"message":"[^"]+"\}\n$`},
		mockserver.ErrorBodyPage:     {[]string{"text/html; charset=utf-8"}, `^<!DOCTYPE html>\n<html>.*418 I'm a teapot.*</html>\n$`},
		mockserver.ErrorBodyEmpty:    {nil, `^$`},
	} {
		t.Run(string(form), func(t *testing.T) {
			a := mockserver.DefaultAssumptions()
			refusal := mockserver.Refusal{Status: 418, Code: "CODIGO"}
			a.MissingKey, a.InvalidKey, a.QuotaExceeded, a.KeyBody, a.QuotaBody = refusal, refusal, refusal, form, form
			srv, right := start(t, mockserver.WithAssumptions(a), mockserver.WithQuota(0))
			for who, api := range map[string]api{"missing": right.withKey(""), "unknown": right.withKey("x"), "spent": right} {
				for op, ask := range four(t, api) {
					r := ask()
					assert.Equal(t, 418, r.status, "%s %s", who, op)
					assert.Equal(t, c.contentType, r.header["Content-Type"], "%s %s", who, op)
					assert.Regexp(t, c.body, r.body, "%s %s", who, op)
				}
			}
			for _, r := range srv.Requests() {
				assert.Equal(t, form == mockserver.ErrorBodyContract, r.Code == "CODIGO", "the journal has the code that was sent")
			}
			right.get("/api/contribuyentes").isError(t, 404, "MOCK_NO_ROUTE") // only what the contract does not show
		})
	}
}

func TestAnEmptyCode(t *testing.T) {
	a := mockserver.DefaultAssumptions()
	a.MissingKey.Code, a.InvalidKey.Code, a.QuotaExceeded.Code, a.UnknownSOL.Code = "", "", "", ""
	srv, api := start(t, mockserver.WithAssumptions(a))
	const empty = `^\{"error":"[^"]+","code":""\}\n$`
	assert.Regexp(t, empty, api.withKey("").get(lookup).body)
	assert.Regexp(t, empty, api.withKey("x").get(lookup).body)
	assert.Regexp(t, empty, api.validar(cpe(t, "usuarioSol", `"NADIE"`)).body)
	require.NoError(t, srv.PutKey(srv.APIKey, 0))
	assert.Regexp(t, empty, api.get(lookup).body)
}

// The form is of the answer: a fault that puts its own in its place has nothing of it.
func TestFaultsReplaceAnErrorBody(t *testing.T) {
	a := mockserver.DefaultAssumptions()
	a.QuotaBody, a.QuotaRetryAfter = mockserver.ErrorBodyPage, mockserver.RetryAfterSeconds
	srv, api := start(t, mockserver.WithAssumptions(a), mockserver.WithQuota(0))
	for name, c := range map[string]struct {
		step   mockserver.Step
		status int
		body   string
		retry  bool
	}{
		"a status":            {mockserver.Status(http.StatusBadGateway), 502, "MOCK_FAULT", false},
		"a status and a body": {mockserver.Answer(200, `{"a":1}`), 200, `^\{"a":1\}$`, false},
		"a header":            {mockserver.Header("X-A", "1"), 429, "<h1>429", true},
		"latency":             {mockserver.Latency(1), 429, "<h1>429", true},
	} {
		t.Run(name, func(t *testing.T) {
			defer srv.ClearFaults()
			srv.Fault(mockserver.Match{}, c.step)
			r := api.get(lookup)
			assert.Equal(t, c.status, r.status)
			assert.Regexp(t, c.body, r.body)
			assert.Equal(t, c.status == 429, r.header.Get("Content-Type") == "text/html; charset=utf-8")
			assert.Equal(t, c.retry, r.header.Get("Retry-After") != "")
		})
	}
	for _, p := range mockserver.Presets() { // none stumbles over a body that is no JSON
		if e := p.Effect; e.Break != mockserver.BreakHang && e.Break != mockserver.BreakHangInside && e.Latency == 0 && !e.Hold && e.Every == 0 {
			srv.Fault(mockserver.Match{Times: 1}, p.Name)
			_, _ = api.try("GET", lookup, "")
			srv.ClearFaults()
		}
	}
}
