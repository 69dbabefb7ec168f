package admin

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// What is listed leaves as HAR, with the filters of the list and without secrets.
func TestExportAsHAR(t *testing.T) {
	r := start(t)
	r.mock.Fault(mockserver.Match{Op: mockserver.OpBuscar, Times: 1}, mockserver.Status(503))
	for range 2 {
		r.call("/api/contribuyentes/search?razonSocial=a%26b+%C3%B1%3D1&limit=5&limite=9", "s3creta")
	}
	r.validate("s3creta", "canario-4711")
	r.mock.Fault(mockserver.Match{}, mockserver.RedirectElsewhere)
	r.call("/api/tipocambio?fecha=2024-02-29", r.mock.APIKey)
	var got struct {
		Log struct {
			Version string
			Creator struct{ Name, Version string }
			Entries []struct {
				StartedDateTime string
				Time            float64
				Request         struct {
					Method, URL, HTTPVersion string
					QueryString, Headers     []struct{ Name, Value string }
					PostData                 *struct{ MimeType, Text string }
				}
				Response struct {
					Status      int
					RedirectURL string
					Content     struct {
						Size           int
						MimeType, Text string
					}
				}
				Comment string
			}
		}
	}
	r.ok(&got, "GET", "requests.har", "")
	assert.Equal(t, "1.2", got.Log.Version)
	assert.NotEmpty(t, got.Log.Creator.Version)
	require.Len(t, got.Log.Entries, 4)
	search, again, receipt, rate := got.Log.Entries[0], got.Log.Entries[1], got.Log.Entries[2], got.Log.Entries[3]
	assert.Equal(t, "http://127.0.0.1/api/contribuyentes/search?limit=5&razonSocial=a%26b+%C3%B1%3D1", search.Request.URL)
	assert.Equal(t, []struct{ Name, Value string }{{"razonSocial", "a&b ñ=1"}, {"limit", "5"}}, search.Request.QueryString)
	assert.Equal(t, 503, search.Response.Status)
	assert.Equal(t, "application/json", search.Response.Content.MimeType)
	assert.Contains(t, search.Response.Content.Text, "MOCK_FAULT")
	assert.Equal(t, "llamada 1, costo 1; falla fault-1", search.Comment)
	assert.Equal(t, "llamada 2, costo 1; intento 2 de la llamada 1", again.Comment)
	assert.Contains(t, receipt.Request.PostData.Text, `"serie":"F001"`)
	assert.Equal(t, "application/json", receipt.Request.PostData.MimeType)
	assert.Equal(t, "https://otro.invalid/api", rate.Response.RedirectURL)
	for _, e := range got.Log.Entries {
		assert.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*-05:00$`, e.StartedDateTime)
		assert.NotEmpty(t, e.Request.Headers)
	}
	text := r.do("GET", "requests.har", "").body
	assert.NotContains(t, text, "s3creta")
	assert.NotContains(t, text, "canario")

	r.ok(&got, "GET", "requests.har?op=validar", "")
	assert.Len(t, got.Log.Entries, 1)
	r.ok(&got, "GET", "requests.har?limit=1", "", "X-API-KEY", "s3creta")
	assert.Equal(t, receipt.Comment, got.Log.Entries[0].Comment)
	r.do("GET", "requests.har?op=nada", "").isProblem(t, 400, codeInvalid, "operación")
}
