package mockserver_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBodies(t *testing.T) {
	rate := "/api/tipocambio?fecha=2024-02-29"
	for name, c := range map[string]struct {
		step mockserver.Step
		path string
		body string
	}{
		"null":            {mockserver.Null200, lookup, "null\n"},
		"empty":           {mockserver.Empty200, lookup, ""},
		"numbers":         {mockserver.NumbersAsStrings, rate, `{"compra":"3.460","venta":"3.470","moneda":"USD","fecha":"2024-02-29","origen":"SBS"}` + "\n"},
		"other date":      {mockserver.OtherDate, rate, `{"compra":3.460,"venta":3.470,"moneda":"USD","fecha":"2024-02-28","origen":"SBS"}` + "\n"},
		"trailing":        {mockserver.TrailingData, rate, `{"compra":3.460,"venta":3.470,"moneda":"USD","fecha":"2024-02-29","origen":"SBS"}` + "\n{}\n"},
		"any":             {mockserver.Answer(200, "a\x00\xff"), rate, "a\x00\xff"},
		"contradictory":   {mockserver.ContradictoryCPE, "", `{"codigo":"0","mensaje":"El comprobante existe y está aceptado.","estado":"Aceptado","esValido":false}` + "\n"},
		"booleans":        {mockserver.NumbersAsStrings, "", `{"codigo":"0","mensaje":"El comprobante existe y está aceptado.","estado":"Aceptado","esValido":"true"}` + "\n"},
		"nothing of it":   {mockserver.OtherRUC, rate, `{"compra":3.460,"venta":3.470,"moneda":"USD","fecha":"2024-02-29","origen":"SBS"}` + "\n"},
		"a status's own":  {mockserver.Status(503), lookup, `{"error":"falla simulada: 503 Service Unavailable","code":"MOCK_FAULT"}` + "\n"},
		"success's own":   {mockserver.Status(201), rate, `{"compra":3.460,"venta":3.470,"moneda":"USD","fecha":"2024-02-29","origen":"SBS"}` + "\n"},
		"ambiguous":       {mockserver.Ambiguous401, lookup, `{"error":"No autorizado"}` + "\n"},
		"redirect's body": {mockserver.RedirectElsewhere, lookup, ""},
	} {
		t.Run(name, func(t *testing.T) {
			srv, api := start(t)
			srv.Fault(mockserver.Match{}, c.step)
			call := func() reply { return api.get(c.path) }
			if c.path == "" {
				call = func() reply { return api.validar(cpe(t)) }
			}
			assert.Equal(t, c.body, call().body)
		})
	}
	srv, api := start(t)
	srv.Fault(mockserver.Match{}, mockserver.OtherRUC, mockserver.Latin1, mockserver.Truncated, mockserver.RedirectElsewhere)
	assert.Contains(t, api.get(lookup).body, `{"ruc":"20100070970","razonSocial":"SUPERINTENDENCIA`)
	assert.Contains(t, api.get("/api/contribuyentes/20999990011").body, "\xd1")
	require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20000000001", RazonSocial: `5" x 1 \`, Estado: "2"}))
	quoted := srv.Fault(mockserver.Match{RUC: "20000000001"}, mockserver.NumbersAsStrings)
	assert.Contains(t, func() string { // asked before the sequence's next step
		srv.Control().FindFault("", "other-ruc-1").Remove()
		return api.get("/api/contribuyentes/20000000001").body
	}(), `{"ruc":"20000000001","razonSocial":"5\" x 1 \\","estado":"2",`)
	quoted.Remove()
	srv.Fault(mockserver.Match{}, mockserver.Truncated, mockserver.RedirectElsewhere)
	half := api.get(lookup)
	assert.Equal(t, fmt.Sprint(len(half.body)), half.header.Get("Content-Length"))
	assert.False(t, json.Valid([]byte(half.body)))
	assert.Equal(t, "https://otro.invalid/api", api.get(lookup).header.Get("Location"))
}

func TestHeaders(t *testing.T) {
	srv, api := start(t, frozen(t, "2026-11-21T12:00:00-05:00"))
	srv.Fault(mockserver.Match{}, mockserver.NoRateLimit, mockserver.EpochReset, mockserver.StrangeQuota,
		mockserver.RetryAfter("Sun, 22 Nov 2026 05:00:00 GMT"), mockserver.Header("Date", ""), mockserver.Header("Content-Type", ""))
	r := api.get(lookup)
	assert.Empty(t, r.header.Get("X-RateLimit-Limit")+r.header.Get("X-RateLimit-Remaining")+r.header.Get("X-RateLimit-Reset"))
	r = api.get(lookup)
	assert.Equal(t, "1795323600", r.header.Get("X-RateLimit-Reset"))
	assert.Equal(t, "998", remaining(r))
	assert.Equal(t, "muchas", remaining(api.get(lookup)))
	assert.Equal(t, "Sun, 22 Nov 2026 05:00:00 GMT", api.get(lookup).header.Get("Retry-After"))
	assert.NotContains(t, api.get(lookup).header, "Date")
	assert.NotContains(t, api.get(lookup).header, "Content-Type")
}

func TestGzipBomb(t *testing.T) {
	srv, api := start(t)
	srv.Fault(mockserver.Match{}, mockserver.GzipBomb)
	r := api.send("GET", lookup, "", "Accept-Encoding", "gzip") // net/http leaves it packed then
	assert.Less(t, len(r.body), 100_000)
	z, err := gzip.NewReader(strings.NewReader(r.body))
	require.NoError(t, err)
	n, err := io.Copy(io.Discard, z)
	require.NoError(t, err)
	assert.EqualValues(t, 16<<20, n)
	assert.LessOrEqual(t, len(srv.Requests()[0].Answer), 4<<10, "the journal keeps the beginning")
}
