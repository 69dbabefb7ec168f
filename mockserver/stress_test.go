package mockserver_test

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// disturb does one random thing to a server.
func disturb(srv *mockserver.Server, r *rand.Rand, presets []mockserver.PresetInfo) {
	key := []string{"", srv.APIKey, "otra"}[r.IntN(3)]
	p := presets[r.IntN(len(presets))]
	switch r.IntN(8) {
	case 0, 1, 2:
		srv.Fault(mockserver.Match{Key: key, Times: 1 + r.IntN(5)}, p.Name, mockserver.OK)
	case 3:
		_, _ = srv.Control().AddFault(mockserver.Fault{Match: mockserver.Match{Times: 3, For: time.Hour}, Steps: []mockserver.Effect{p.Name.Uncharged()}}) // or it cannot be
	case 4:
		srv.Advance(time.Duration(r.IntN(72)-24) * time.Hour)
	case 5:
		_ = srv.Reset(mockserver.PartFaults, mockserver.PartLocks)
	case 6:
		_ = srv.Reset(mockserver.PartData)
	case 7:
		srv.Freeze()
		_ = srv.PutContribuyente(mockserver.Contribuyente{RUC: fmt.Sprintf("2000000%04d", r.IntN(10_000))})
		srv.Resume()
	}
}

// Whatever goes wrong, every call that was charged is in the journal as charged, and in no other way.
func stress(t *testing.T, a mockserver.Assumptions, without func(mockserver.PresetInfo) bool, opts ...mockserver.Option) {
	const connections, calls = 64, 25
	srv := mockserver.New(t, append(opts, mockserver.WithAssumptions(a), mockserver.WithJournal(20_000), mockserver.WithQuota(400), mockserver.WithKey("otra", mockserver.Unlimited))...)
	var presets []mockserver.PresetInfo
	for _, p := range mockserver.Presets() {
		if !without(p) {
			presets = append(presets, p)
		}
	}
	var wg sync.WaitGroup
	for i := range connections {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			var rt http.RoundTripper = &http.Transport{}
			if len(opts) > 0 {
				rt = srv.Transport()
			}
			defer rt.(*http.Transport).CloseIdleConnections()
			api := api{t, srv.URL, []string{srv.APIKey, "otra"}[i%2], &http.Client{Transport: rt, Timeout: time.Minute}}
			for range calls {
				switch r.IntN(5) {
				case 0:
					disturb(srv, r, presets)
				case 1:
					_, _ = api.try("POST", "/api/cpe/validar", cpe(t))
				case 2:
					_, _ = api.try("GET", "/api/contribuyentes/1", "")
				default:
					_, _ = api.try("GET", lookup, "")
				}
			}
		})
	}
	wg.Wait()
	for _, key := range []string{srv.APIKey, "otra"} {
		q, ok := srv.Quota(key)
		require.True(t, ok)
		require.Positive(t, q.Spent)
		srv.AssertSpent(t, mockserver.Filter{Key: key}, q.Spent)
		for _, r := range srv.Requests(mockserver.Filter{Key: key}) {
			assert.LessOrEqual(t, r.Cost, 1)
		}
	}
	srv.AssertNoSecrets(t)
}

func TestSixtyFourConnections(t *testing.T) {
	generous := mockserver.DefaultAssumptions()
	generous.ChargeFailures = false
	for name, a := range map[string]mockserver.Assumptions{"default": mockserver.DefaultAssumptions(), "failures are free": generous} {
		t.Run(name+", in memory", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stress(t, a, func(p mockserver.PresetInfo) bool { return p.Name == mockserver.GzipBomb }, mockserver.WithoutSocket()) // slow to unpack
			})
		})
		t.Run(name+", over sockets", func(t *testing.T) {
			stress(t, a, func(p mockserver.PresetInfo) bool { // time is real here
				return waits(p.Name) || p.Name == mockserver.GzipBomb
			})
		})
	}
}

var requests = flag.Int("requests", 30_000, "how many requests TestMemoryIsFlat makes")

// discard takes an answer and keeps nothing.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Memory does not grow with the requests: go test ./mockserver -run Flat -requests 10000000
// takes minutes, and stays below 64 MB.
func TestMemoryIsFlat(t *testing.T) {
	srv, _ := start(t, mockserver.WithQuota(mockserver.Unlimited))
	fault := srv.Fault(mockserver.Match{RUC: "20100070970"}, mockserver.Status(503))
	send := func(n int) {
		for i := range n {
			req, err := http.NewRequest(http.MethodGet, lookup, nil)
			require.NoError(t, err)
			switch i % 4 {
			case 1:
				req, err = http.NewRequest(http.MethodPost, "/api/cpe/validar", io.NopCloser(strings.NewReader(cpe(t))))
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/json")
			case 2:
				req.URL.Path = fmt.Sprint("/api/nada/", i)
			}
			req.Header.Set("X-API-KEY", []string{srv.APIKey, srv.APIKey, fmt.Sprint("desconocida-", i)}[i%3])
			srv.ServeHTTP(discard{http.Header{}}, req)
		}
	}
	send(*requests / 3)
	before := heap()
	send(*requests - *requests/3)
	after := heap()
	assert.Positive(t, fault.Status().Hits)
	assert.Less(t, after, before+2<<20, "%d bytes before, %d after", before, after)
	assert.Less(t, after, uint64(64<<20))
}
