package mockserver_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fiscope/fiscope/mockserver"
)

// bare is a handler that writes a fixed answer, of the size of the mock's: what net/http itself costs.
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

// lean is a client that costs next to nothing, on one connection, so that the servers are compared and
// not their client.
type lean struct {
	conn net.Conn
	r    *bufio.Reader
}

var leanRequest = []byte("GET " + lookup + " HTTP/1.1\r\nHost: mock\r\nX-API-KEY: " + mockserver.DefaultAPIKey + "\r\nUser-Agent: bench\r\n\r\n")

func (c lean) get() error {
	if _, err := c.conn.Write(leanRequest); err != nil {
		return err
	}
	size := 0
	for first := true; ; first = false {
		line, err := c.r.ReadSlice('\n')
		switch {
		case err != nil:
			return err
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")):
			return fmt.Errorf("answer %q", line)
		case len(line) == 2:
			_, err := c.r.Discard(size)
			return err
		}
		if n, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			size, _ = strconv.Atoi(string(bytes.TrimSpace(n)))
		}
	}
}

// contender is one server under load.
type contender struct {
	name    string
	clients []lean
	rounds  []time.Duration // how long each took
	each    []time.Duration // each request
}

func contend(b *testing.B, name, url string, connections int) *contender {
	b.Helper()
	c := &contender{name: name}
	for range connections {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		c.clients = append(c.clients, lean{conn, bufio.NewReader(conn)})
	}
	return c
}

// round sends n requests on each connection.
func (c *contender) round(b *testing.B, n int) {
	times := make([][]time.Duration, len(c.clients))
	begin := time.Now()
	var wg sync.WaitGroup
	for i, client := range c.clients {
		wg.Go(func() {
			for range n {
				sent := time.Now()
				if err := client.get(); err != nil {
					b.Error(err)
					return
				}
				times[i] = append(times[i], time.Since(sent))
			}
		})
	}
	wg.Wait()
	c.rounds = append(c.rounds, time.Since(begin))
	c.each = append(c.each, slices.Concat(times...)...)
}

// ratio is the throughput beside another contender's, in the median of the rounds.
func (c *contender) ratio(to *contender) float64 {
	var ratios []float64
	for i, took := range c.rounds {
		ratios = append(ratios, float64(to.rounds[i])/float64(took))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// took is the median of the rounds.
func (c *contender) took() time.Duration {
	rounds := slices.Sorted(slices.Values(c.rounds))
	return rounds[len(rounds)/2]
}

func (c *contender) p99() time.Duration {
	slices.Sort(c.each)
	return c.each[len(c.each)*99/100]
}

// BenchmarkLookup compares a lookup, with quota and journal on and on 64 connections, with a bare handler: the
// servers take turns in short rounds, so that a busy machine slows all of them alike. In the median of the
// rounds rps-ratio is at least 0.85 by our own promise, with 100 faults of which none matches 0.65, and
// p99-ratio at most 1.5: go test ./mockserver -run - -bench Lookup$ -benchtime 100x
func BenchmarkLookup(b *testing.B) {
	srv := mockserver.New(b, mockserver.WithQuota(1_000_000_000))
	rules := mockserver.New(b, mockserver.WithQuota(1_000_000_000))
	for i := range 100 {
		rules.Fault([]mockserver.Match{
			{RUC: fmt.Sprintf("2000000%04d", i)}, {Op: mockserver.OpValidar}, {Key: fmt.Sprint("otra-", i)},
			{Op: mockserver.OpConsultar, Nth: 2_000_000_000 + i}, {UserAgent: "otro"},
		}[i%5], mockserver.Status(503))
	}
	req := httptest.NewRequest(http.MethodGet, lookup, nil)
	req.Header.Set("X-API-KEY", srv.APIKey)
	rec := httptest.NewRecorder()
	srv.ServeHTTP(rec, req)
	base := httptest.NewServer(bare(rec.Body.Bytes()))
	b.Cleanup(base.Close)

	const connections, perRound = 64, 25
	bareOne := contend(b, "bare", base.URL, connections)
	mock := contend(b, "mock", srv.URL, connections)
	with100 := contend(b, "100-rules", rules.URL, connections)
	all := []*contender{bareOne, mock, with100}
	for b.Loop() {
		for _, c := range all {
			c.round(b, perRound)
		}
		slices.Reverse(all) // no one always comes after the same
	}
	b.ReportMetric(mock.ratio(bareOne), "rps-ratio")
	b.ReportMetric(with100.ratio(bareOne), "rps-ratio-100-rules")
	b.ReportMetric(float64(mock.p99())/float64(bareOne.p99()), "p99-ratio")
	b.ReportMetric(float64(time.Second)/float64(mock.took())*connections*perRound, "mock-rps")
}

// The allocations of the server's own part of a lookup, with quota and journal on; encoding a record anew, as
// for the first lookup of it, makes three more.
func TestALookupMakesAtMostTenAllocations(t *testing.T) {
	if !countsAllocations {
		t.Skip("allocations are counted with Go 1.26, without the race detector")
	}
	srv, _ := start(t, mockserver.WithQuota(1_000_000_000), mockserver.WithJournal(10))
	req := httptest.NewRequest(http.MethodGet, lookup, nil)
	req.Header.Set("X-API-KEY", srv.APIKey)
	header := http.Header{}
	got := testing.AllocsPerRun(100, func() {
		clear(header)
		srv.ServeHTTP(discard{header}, req)
	})
	if t.Logf("%v allocations", got); got > 10 {
		t.Errorf("%v allocations: want at most 10", got)
	}
}
