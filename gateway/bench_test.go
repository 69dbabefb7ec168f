package gateway_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/gateway"
	"github.com/fiscope/fiscope/mockserver"
)

// lean is a client that costs next to nothing, on one connection.
type lean struct {
	conn net.Conn
	r    *bufio.Reader
}

func dial(b *testing.B, handler http.Handler, connections int) (clients []lean) {
	b.Helper()
	server := httptest.NewServer(handler)
	b.Cleanup(server.Close)
	for range connections {
		conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
		require.NoError(b, err)
		b.Cleanup(func() { _ = conn.Close() })
		clients = append(clients, lean{conn, bufio.NewReader(conn)})
	}
	return clients
}

func (c lean) get(b *testing.B) {
	if _, err := io.WriteString(c.conn, "GET "+lookup+" HTTP/1.1\r\nHost: x\r\nX-API-KEY: "+tienda+"\r\n\r\n"); err != nil {
		b.Error(err)
	}
	size := 0
	for first := true; ; first = false {
		line, err := c.r.ReadSlice('\n')
		if err != nil || first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
			b.Errorf("%s%v", line, err)
			return
		}
		if n, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			size, _ = strconv.Atoi(string(bytes.TrimSpace(n)))
		}
		if len(line) == 2 {
			_, _ = c.r.Discard(size)
			return
		}
	}
}

// bare writes the bytes of a lookup: what net/http itself costs.
func bare(of *served) http.Handler {
	w := of.ask(http.MethodGet, lookup, "")
	return http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		for name, values := range w.Header() {
			to.Header()[name] = values
		}
		_, _ = to.Write(w.Body.Bytes())
	})
}

func serveForBench(b *testing.B, opts ...fiscope.Option) *served {
	b.Helper()
	mock := mockserver.New(b, mockserver.WithQuota(1_000_000_000), mockserver.WithJournal(1), mockserver.WithKey(tienda, 1_000_000_000))
	g, err := gateway.New(mock.Client(opts...), gateway.Options{Keys: keys})
	require.NoError(b, err)
	return &served{mock: mock, Gateway: g}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// A cached lookup by 64 connections, beside a bare handler that writes the same bytes. They take turns, so that a busy
// machine slows both alike.
func BenchmarkCachedLookup(b *testing.B) {
	s := serveForBench(b, fiscope.WithCache(fiscope.CachePolicy{}))
	s.ask(http.MethodGet, lookup, "")
	ours, theirs := dial(b, s, 64), dial(b, bare(s), 64)
	round := func(clients []lean) time.Duration {
		began := time.Now()
		var all sync.WaitGroup
		for _, c := range clients {
			all.Go(func() {
				for range 50 {
					c.get(b)
				}
			})
		}
		all.Wait()
		return time.Since(began)
	}
	var ratios []float64
	for b.Loop() {
		ratios = append(ratios, float64(round(theirs))/float64(round(ours)))
	}
	b.ReportMetric(median(ratios), "of-bare")
}

// An uncached lookup, beside the service's own answer, a Consultar and a bare handler. Below 1 it adds less than both to
// the service's time.
func BenchmarkUncachedLookup(b *testing.B) {
	s := serveForBench(b)
	client := s.mock.Client()
	ours, theirs, service := dial(b, s, 1)[0], dial(b, bare(s), 1)[0], dial(b, s.mock, 1)[0]
	timed := func(do func()) time.Duration {
		began := time.Now()
		for range 100 {
			do()
		}
		return time.Since(began)
	}
	var ratios []float64
	for b.Loop() {
		gatewayTime := timed(func() { ours.get(b) })
		parts := timed(func() { service.get(b) }) + timed(func() { theirs.get(b) }) + timed(func() { _, _ = client.Contribuyentes.Consultar(b.Context(), "20131312955") })
		ratios = append(ratios, float64(gatewayTime)/float64(parts))
	}
	b.ReportMetric(median(ratios), "of-all")
}
