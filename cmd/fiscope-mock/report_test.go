package main

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// The report is read on a terminal, and stays in the log of a build.
func TestTheReportShowsNoKeyAndMovesNoCursor(t *testing.T) {
	const key = "llave-secreta"
	for name, c := range map[string]struct {
		path, fault string
		want        string
	}{
		"a name that is a key":           {"/api/tipocambio", key, "falla k_"},
		"a name that moves the cursor":   {"/api/tipocambio", "cae\x1b[2J\nnada", "falla cae\ufffd[2J\ufffdnada"},
		"a path that moves the cursor":   {"/api/%1b[2J%0anada", "cae", "GET /api/\ufffd[2J\ufffdnada"},
		"a path that is a key":           {"/api/" + key, "cae", "GET /api/k_"},
		"a name that writes from behind": {"/api/tipocambio", "cae\u202enada", "falla cae\ufffdnada"},
	} {
		t.Run(name, func(t *testing.T) {
			mock, err := mockserver.Start(mockserver.WithoutSocket(), mockserver.WithAPIKey(key))
			require.NoError(t, err)
			defer mock.Close()
			_, err = mock.Control().AddFault(mockserver.Fault{Name: c.fault, Steps: []mockserver.Effect{mockserver.Status(500)}})
			require.NoError(t, err)
			q, err := http.NewRequest(http.MethodGet, mock.URL+c.path, nil)
			require.NoError(t, err)
			q.Header.Set("X-API-KEY", key)
			resp, err := (&http.Client{Transport: mock.Transport()}).Do(q)
			require.NoError(t, err)
			_, _ = io.Copy(io.Discard, resp.Body)
			require.NoError(t, resp.Body.Close())
			var out bytes.Buffer
			report(&out, mock)
			assert.Contains(t, out.String(), c.want)
			assert.NotContains(t, out.String(), key)
			assert.Equal(t, 2, bytes.Count(out.Bytes(), []byte("\n")), "a line for each kind, below the first")
		})
	}
}
