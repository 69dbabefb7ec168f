package mockserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/internal/serve"
	"github.com/fiscope/fiscope/mockserver/internal/memorynet"
)

// closeWait is how long Close waits for an answer in flight.
const closeWait = time.Second

// T is the part of [testing.TB] that [New] needs.
type T interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// outside is the T of a server outside tests: errors are returned, or panic if they cannot be.
type outside struct{}

func (outside) Helper()                           {}
func (outside) Cleanup(func())                    {}
func (outside) Errorf(string, ...any)             {}
func (outside) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (outside) Logf(string, ...any)               {}

// Server is one mock of the whole service. It is safe for concurrent use.
type Server struct {
	URL    string // base address without a final slash, such as "http://127.0.0.1:34567"
	APIKey string `json:"-"` // a key that this server accepts: from WithAPIKey, the data, or DefaultAPIKey

	assume atomic.Pointer[Assumptions]
	config *config // the initial state, for Reset

	clock     clock
	keys      keyring
	data      atomic.Pointer[dataset]
	writing   sync.Mutex // of data: a setter must not write into a dataset that a reset drops
	faults    faults
	journal   journal
	conns     atomic.Int64
	recording *recording    // from WithRecording or WithUpstream; nil without them
	closing   chan struct{} // closed when Close begins, which ends all waits

	t       T // outside, if made by Start
	mu      sync.Mutex
	socket  *serve.Server
	memory  *serve.Server
	network *memorynet.Listener // in memory
	closed  bool
}

// Format implements [fmt.Formatter]: it prints the URL.
func (s *Server) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, s.URL) }

// New starts a Server for one test, and closes it when the test ends.
func New(t T, opts ...Option) *Server {
	t.Helper()
	s, err := Start(opts...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	s.t = t
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("mockserver: close: %v", err)
		}
	})
	return s
}

// Start starts a Server outside tests. Call [Server.Close] when done.
func Start(opts ...Option) (*Server, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	s := &Server{
		URL:     "http://127.0.0.1",
		APIKey:  c.apiKey(),
		config:  c,
		clock:   clock{source: c.now},
		keys:    keyring{own: c.apiKey(), accounts: map[string]*account{}},
		journal: journal{limit: c.journal, strays: map[string]int{}},
		closing: make(chan struct{}),
		t:       outside{},
	}
	s.journal.known = &s.keys.searched
	s.faults.server = s
	var last time.Time
	if s.recording, last, err = newRecording(c.upstream, c.now); err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	if c.at.IsZero() {
		c.at = last // "today" is what it was
	}
	s.clock.start(c.at, c.frozen)
	if err := s.loadData(); err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	if c.withoutSocket {
		return s, nil
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	s.URL = "http://" + serve.Host(ln)
	s.socket = serve.Start(ln, &http.Server{Handler: s, ConnContext: s.connContext, ReadHeaderTimeout: 30 * time.Second})
	return s, nil
}

// loadData sets the data, the keys and the readings to those of the options, over the default data. Existing keys keep their
// usage.
func (s *Server) loadData() error {
	s.t.Helper()
	s.writing.Lock()
	defer s.writing.Unlock()
	d, err := s.config.dataset()
	if err != nil {
		return err
	}
	keys := s.config.keys()
	s.keys.put(keys...)
	for _, k := range s.keys.all() {
		if !slices.ContainsFunc(keys, func(kept Key) bool { return kept.Key == k.Key }) {
			s.forgetKey(k.Key, s.keys.account(k.Key))
		}
	}
	s.data.Store(d)
	s.assume.Store(&s.config.assume)
	return nil
}

// Part is a part of a server's state, for [Server.Reset].
type Part string

// The parts.
const (
	PartJournal Part = "journal" // no requests
	PartFaults  Part = "faults"  // no faults; calls that they hold are released
	PartQuotas  Part = "quotas"  // no usage
	PartClock   Part = "clock"   // the initial time
	PartData    Part = "data"    // the initial data, keys, limits and readings; no user is blocked
	PartLocks   Part = "locks"   // no SOL user is blocked or has attempts
)

// allParts are all parts, in the order of their reset.
var allParts = []Part{PartFaults, PartClock, PartData, PartLocks, PartQuotas, PartJournal}

// Reset restores some parts to their initial state; without any, all.
func (s *Server) Reset(only ...Part) error {
	s.t.Helper()
	for _, part := range only {
		if !slices.Contains(allParts, part) {
			return s.checked("Reset", fmt.Errorf("no existe la parte %q: las partes son %v", string(part), allParts))
		}
	}
	if len(only) == 0 {
		only = allParts
	}
	for _, part := range only {
		switch part {
		case PartFaults:
			s.faults.clear("")
		case PartClock:
			s.clock.start(s.config.at, s.config.frozen)
		case PartData:
			if err := s.loadData(); err != nil {
				return s.checked("Reset", err)
			}
		case PartLocks:
			s.data.Load().sol.unblockAll()
		case PartQuotas:
			for _, k := range s.keys.all() {
				if a := s.keys.account(k.Key); a != nil {
					a.usage.reset()
				}
			}
		case PartJournal:
			s.journal.clear()
		}
	}
	return nil
}

// connContext numbers connections.
func (s *Server) connContext(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{number: s.conns.Add(1)})
}

// Now returns the server's time.
func (s *Server) Now() time.Time { return s.clock.now() }

// Close stops the server. It waits at most one second for answers in flight and leaves no goroutine. It may be called twice.
// ServeHTTP still answers.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.closed {
		close(s.closing)
	}
	open := [...]*serve.Server{s.socket, s.memory}
	s.socket, s.memory, s.closed = nil, nil, true
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	var err error
	for _, server := range open {
		if server != nil {
			err = errors.Join(err, server.Close(ctx))
		}
	}
	return errors.Join(err, s.recording.close())
}

// checked reports a setter's error to the test as well: tests rarely check it, and a rejected value must not go unnoticed.
func (s *Server) checked(setter string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("mockserver: %s: %w", setter, err)
	s.t.Helper()
	s.t.Errorf("%v", err)
	return err
}

// forgetKey removes a key, with its faults and requests.
func (s *Server) forgetKey(key string, a *account) {
	s.keys.remove(key)
	s.faults.clear(key)
	s.journal.forget(&a.seen, a.id, true)
}
