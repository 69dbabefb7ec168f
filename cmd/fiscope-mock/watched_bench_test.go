//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkWatchedLookup compares lookups while five viewers have a stream of all calls open with a handler that writes
// a fixed answer: rps-ratio is at least 0.55 by our own promise. Rounds are long beside the pauses of a stream.
// go test ./cmd/fiscope-mock -run - -bench WatchedLookup -benchtime 10x
func BenchmarkWatchedLookup(b *testing.B) {
	const ruc = "20131312955"
	s := defaultSettings()
	s.addr, s.assume.Quota = "127.0.0.1:0", 1_000_000_000
	r, err := start(s, newLogger(s.log, io.Discard))
	require.NoError(b, err)
	defer func() { require.NoError(b, r.close()) }()
	rec := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodGet, "/api/contribuyentes/"+ruc, nil)
	req.Header.Set("X-API-KEY", r.mock.APIKey)
	r.mock.ServeHTTP(rec, req)
	bare := httptest.NewServer(bare(rec.Body.Bytes()))
	defer bare.Close()
	for _, viewers := range []int{0, 5} {
		b.Run(fmt.Sprint(viewers, " viewers"), func(b *testing.B) {
			for range viewers {
				conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
				require.NoError(b, err)
				b.Cleanup(func() { _ = conn.Close() })
				_, err = io.WriteString(conn, "GET /_mock/requests/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
				require.NoError(b, err)
				go func() { _, _ = io.Copy(io.Discard, conn) }() // what a browser does with it is not the server's work
			}
			compare(b, dial(b, r.url), dial(b, bare.URL), []string{ruc}, 500, 500*time.Millisecond)
		})
	}
}
