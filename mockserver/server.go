package mockserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/internal/serve"
	"github.com/fiscope/fiscope/mockserver/internal/clock"
	"github.com/fiscope/fiscope/mockserver/internal/memorynet"
)

// closeWait is how long Close lets an answer in flight finish.
const closeWait = time.Second

// T is the part of [testing.TB] that [New] needs. It is an interface so that this package, which also
// runs inside programs, does not import testing.
type T interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// outside is the T of a server that no test has: its errors are returned, and what cannot be returned panics.
type outside struct{}

func (outside) Helper()                           {}
func (outside) Cleanup(func())                    {}
func (outside) Errorf(string, ...any)             {}
func (outside) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (outside) Logf(string, ...any)               {}

// Server is one mock of the whole service: its own data, keys, quota, SOL users and clock, shared with
// no other Server. It is an [http.Handler]; [New] and [Start] also put it on a loopback socket. All its
// methods are safe for concurrent use while it serves.
type Server struct {
	URL string // base address without a final slash, such as "http://127.0.0.1:34567"
	// APIKey is a key this server accepts: [DefaultAPIKey], or the one given with [WithAPIKey], or the first one
	// of data that delete the default one.
	APIKey string

	assume atomic.Pointer[Assumptions]
	config *config // as it started: Reset goes back to it

	clock   clock.Clock
	keys    keyring
	data    atomic.Pointer[dataset]
	writing sync.Mutex // of data: a setter must not write into what a reset drops
	faults  faults
	journal journal
	conns   atomic.Int64
	closing chan struct{} // closed when Close begins: nothing waits any longer

	t       T // outside, when made by Start
	mu      sync.Mutex
	socket  *serve.Server
	memory  *serve.Server
	network *memorynet.Listener // of memory
	closed  bool
}

// New starts a Server for one test and closes it when the test ends. It listens on a free loopback
// port, unless [WithoutSocket] is given; an option that cannot work ends the test at once.
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

// Start starts a Server outside tests; call [Server.Close] when done. The error says which option
// cannot work, or why the address cannot be listened on.
func Start(opts ...Option) (*Server, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	s := &Server{
		URL:     "http://127.0.0.1",
		APIKey:  c.apiKey(),
		config:  c,
		clock:   clock.Clock{Source: c.now},
		journal: journal{limit: c.journal},
		closing: make(chan struct{}),
		t:       outside{},
	}
	s.journal.known = &s.keys.searched
	s.keys.journal = &s.journal
	s.clock.Start(c.at, c.frozen)
	if err := s.loadData(); err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	if c.withoutSocket {
		return s, nil
	}
	ln, err := net.Listen("tcp", c.addr)
	if err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	s.URL = "http://" + serve.Host(ln)
	s.socket = serve.Start(ln, serve.Config{Handler: s, ConnContext: s.ConnContext, HeaderTimeout: 30 * time.Second})
	return s, nil
}

// loadData makes the data, the keys and the readings what the options brought, over the default data. Keys that stay
// keep what they used.
func (s *Server) loadData() error {
	s.t.Helper()
	s.writing.Lock()
	defer s.writing.Unlock()
	d, err := s.config.dataset()
	if err != nil {
		return err
	}
	keys := s.config.keys()
	own := s.APIKey
	s.keys.own.Store(&own)
	s.keys.put(keys...)
	for _, k := range s.keys.all() {
		a := s.keys.account(k.Key)
		a.alike.Store(slices.Contains(s.config.alike, k.Key) && k.Key != own)
		if !slices.ContainsFunc(keys, func(kept Key) bool { return kept.Key == k.Key }) {
			s.forgetKey(k.Key, a)
		}
	}
	s.data.Store(d)
	s.assume.Store(&s.config.assume)
	return nil
}

// Part is a part of a server's state that [Server.Reset] can put back.
type Part string

// The parts.
const (
	PartJournal Part = "journal" // the requests seen
	PartFaults  Part = "faults"  // all of them, and what they hold is let go
	PartQuotas  Part = "quotas"  // nobody has used anything
	PartClock   Part = "clock"   // as it started
	PartData    Part = "data"    // as it started, with its keys and their limits, and its readings; nobody is blocked; a key that goes is gone as by DeleteKey
	PartLocks   Part = "locks"   // no SOL user is blocked or near it
)

// Parts returns all parts, in the order in which they are reset.
func Parts() []Part {
	return []Part{PartFaults, PartClock, PartData, PartLocks, PartQuotas, PartJournal}
}

// Reset puts the given parts of the server back to how it started, or all of them when none is given.
// A request under way may see some of the old and some of the new. It is an error for a part that there
// is not, and nothing is reset then.
func (s *Server) Reset(parts ...Part) error {
	s.t.Helper()
	for _, part := range parts {
		if !slices.Contains(Parts(), part) {
			return s.checked("Reset", cannotTake("there is no part %q: the parts are %v", "no existe la parte %q: las partes son %v", string(part), Parts()))
		}
	}
	if len(parts) == 0 {
		parts = Parts()
	}
	for _, part := range parts {
		if err := s.reset(part); err != nil {
			return s.checked("Reset", err)
		}
	}
	return nil
}

func (s *Server) reset(part Part) error {
	switch part {
	case PartFaults:
		s.faults.clear()
	case PartClock:
		s.clock.Start(s.config.at, s.config.frozen)
	case PartData:
		return s.loadData()
	case PartLocks:
		s.data.Load().sol.unblockAll()
	case PartQuotas:
		s.keys.resetUsage()
	case PartJournal:
		s.journal.clear()
	}
	return nil
}

// ConnContext numbers the connections, for the journal, in an [http.Server] of your own that serves s:
// give it as its ConnContext.
func (s *Server) ConnContext(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{number: s.conns.Add(1)})
}

// Close stops the server: it accepts nothing more, waits at most one second for the answers in flight
// and cuts what is left. It leaves no goroutine. Closing twice is fine. After Close the Server still
// answers as an [http.Handler].
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
	return err
}
