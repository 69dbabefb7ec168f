//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

// bare is a handler that writes a fixed answer with the headers of a lookup: what net/http itself costs.
func bare(body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("Content-Length", strconv.Itoa(len(body)))
		h.Set("X-RateLimit-Limit", "1000000000")
		h.Set("X-RateLimit-Remaining", "999999999")
		h.Set("X-RateLimit-Reset", "2026-11-22T05:00:00Z")
		_, _ = w.Write(body)
	})
}

const connections = 64

func dial(b *testing.B, url string) (clients []lean) {
	b.Helper()
	for range connections {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		require.NoError(b, err)
		b.Cleanup(func() { _ = conn.Close() })
		clients = append(clients, lean{conn, bufio.NewReader(conn)})
	}
	return clients
}

// compare lets two servers take turns in short rounds, so that a busy machine slows both alike, and reports the
// throughput of the first one beside that of the second, and their work of the processor, in the median of the rounds.
// The taxpayers that are asked for come in turn. What a server has still to do after a round of so many calls on each
// connection is its work until rest has passed, and slows nobody.
func compare(b *testing.B, served, fixed []lean, asked []string, perRound int, rest time.Duration) {
	b.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent)) // as in the program, for both
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
		took = time.Since(began)
		time.Sleep(rest)
		return took, cpuTime(b) - before
	}
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
	b.ReportMetric(float64(connections*perRound)/median(took), "mock-rps")
}

// cpuTime returns how long the processor has worked for this process.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
