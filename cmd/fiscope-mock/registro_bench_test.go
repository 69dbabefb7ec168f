//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/padron"
)

// lean is a client that costs next to nothing, on one connection, so that the servers are compared and not their client.
type lean struct {
	conn net.Conn
	r    *bufio.Reader
}

func (c lean) get(ruc string) error {
	if _, err := io.WriteString(c.conn, "GET /api/contribuyentes/"+ruc+" HTTP/1.1\r\nHost: mock\r\nX-API-KEY: clave-de-prueba\r\n\r\n"); err != nil {
		return err
	}
	size := 0
	for first := true; ; first = false {
		line, err := c.r.ReadSlice('\n')
		switch {
		case err != nil:
			return err
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")):
			return fmt.Errorf("answer %q to %s", line, ruc)
		case len(line) == 2:
			_, err := c.r.Discard(size)
			return err
		}
		if n, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			size, _ = strconv.Atoi(string(bytes.TrimSpace(n)))
		}
	}
}

// BenchmarkServedLookup compares lookups in an index of 200 000 taxpayers, on 64 connections, with a handler that writes
// a fixed answer of the same size. Of one taxpayer rps-ratio is at least 0.8 by our own promise, in the median of rounds
// in which both take turns; of another one each time it shows what looking up and encoding cost, some 3 us. cpu-ratio
// is what a machine that others use can tell:
// go test ./cmd/fiscope-mock -run - -bench ServedLookup -benchtime 100x
func BenchmarkServedLookup(b *testing.B) {
	folder := b.TempDir()
	var text bytes.Buffer
	require.NoError(b, padron.Generate(&text, 200_000, 1))
	rucs := regexp.MustCompile(`(?m)^[0-9]{11}`).FindAllString(text.String(), -1)
	// In no order: each request touches other pages, and none is among the answers that are kept.
	slices.SortFunc(rucs, func(a, b string) int { return strings.Compare(a[7:]+a, b[7:]+b) })
	rucs = rucs[:len(rucs)*9/10]
	file, index := filepath.Join(folder, "padron.txt"), filepath.Join(folder, "padron.idx")
	require.NoError(b, os.WriteFile(file, text.Bytes(), 0o600))
	_, err := padron.Import(b.Context(), file, index, padron.ImportOptions{})
	require.NoError(b, err)

	s := defaultSettings()
	s.addr, s.padron, s.assume.Quota = "127.0.0.1:0", index, 1_000_000_000
	r, err := start(s, newLogger(s.log, io.Discard))
	require.NoError(b, err)
	defer func() { require.NoError(b, r.close()) }()
	rucs = slices.DeleteFunc(rucs, func(ruc string) bool { // rows that are not taken
		_, ok, err := r.registro.PorRUC(b.Context(), ruc)
		return err != nil || !ok
	})
	rec := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodGet, "/api/contribuyentes/"+rucs[0], nil)
	req.Header.Set("X-API-KEY", "clave-de-prueba")
	r.mock.ServeHTTP(rec, req)
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("Content-Length", strconv.Itoa(rec.Body.Len()))
		h.Set("X-RateLimit-Limit", "1000000000")
		h.Set("X-RateLimit-Remaining", "999999999")
		h.Set("X-RateLimit-Reset", "2026-11-22T05:00:00Z")
		_, _ = w.Write(rec.Body.Bytes())
	}))
	defer bare.Close()

	const connections, perRound = 64, 25
	dial := func(url string) (clients []lean) {
		for range connections {
			conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			require.NoError(b, err)
			b.Cleanup(func() { _ = conn.Close() })
			clients = append(clients, lean{conn, bufio.NewReader(conn)})
		}
		return clients
	}
	for name, asked := range map[string][]string{"one": rucs[:1], "many": rucs} {
		b.Run(name, func(b *testing.B) {
			at := 0
			round := func(clients []lean) (took, worked time.Duration) {
				began, before := time.Now(), cpuTime(b)
				var all sync.WaitGroup
				for i, c := range clients {
					all.Go(func() {
						for n := range perRound {
							if err := c.get(asked[(at+i*perRound+n)%len(asked)]); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				at += connections * perRound
				return time.Since(began), cpuTime(b) - before
			}
			served, fixed := dial(r.url), dial(bare.URL)
			var ratios, cpuRatios, took []float64
			for b.Loop() {
				first, second := served, fixed
				if len(took)%2 == 1 { // neither always comes after the other
					first, second = fixed, served
				}
				ours, ourWork := round(first)
				theirs, theirWork := round(second)
				if len(took)%2 == 1 {
					ours, ourWork, theirs, theirWork = theirs, theirWork, ours, ourWork
				}
				ratios = append(ratios, float64(theirs)/float64(ours))
				cpuRatios = append(cpuRatios, float64(theirWork)/float64(ourWork))
				took = append(took, ours.Seconds())
			}
			median := func(list []float64) float64 {
				slices.Sort(list)
				return list[len(list)/2]
			}
			b.ReportMetric(median(ratios), "rps-ratio")
			b.ReportMetric(median(cpuRatios), "cpu-ratio")
			b.ReportMetric(connections*perRound/median(took), "mock-rps")
		})
	}
}

// cpuTime returns how long the processor has worked for this process.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
