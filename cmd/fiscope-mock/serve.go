package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/serve"
	"github.com/fiscope/fiscope/mockserver"
)

// running is the mock server on its address.
type running struct {
	settings
	url      string
	caFile   string    // where the CA to trust lies; "" unless -tls made one
	registro *registro // of -padron; nil without it
	mock     *mockserver.Server
	ln       net.Listener
	server   *serve.Server   // on ln, answering
	ending   context.Context // ends when it begins to close
	end      context.CancelFunc
	undo     []func()
}

// start makes the server that the settings say, and answers on its address when it returns.
func start(s settings, log *slog.Logger) (_ *running, err error) {
	r := &running{settings: s}
	r.ending, r.end = context.WithCancel(context.Background())
	defer func() {
		if err == nil {
			return
		}
		r.takeAway()
		if r.ln != nil {
			_ = r.ln.Close()
		}
		_ = r.registro.close()
	}()
	opts, err := s.options()
	if err != nil {
		return nil, err
	}
	if s.padron != "" {
		if r.registro, err = openRegistro(s.padron, log); err != nil {
			return nil, fmt.Errorf("-padron: %w (fiscope-mock padron import makes an index)", err)
		}
		opts = append(opts, mockserver.WithRegistro(r.registro))
	}
	if r.mock, err = mockserver.Start(opts...); err != nil {
		return nil, err
	}
	var stale []byte // what the server that is gone has left there
	if s.urlFile != "" {
		if stale, err = checkURLFile(s.urlFile); err != nil {
			return nil, err
		}
	}
	https, ca, err := s.tlsConfig()
	if err != nil {
		return nil, err
	}
	if r.ln, r.url, err = listen(s.addr, https); err != nil {
		return nil, err
	}
	var file *urlFile
	if s.urlFile != "" { // before the CA: a start that comes too late writes nothing
		if file, err = takeURLFile(s.urlFile, stale, r.url); err != nil {
			return nil, err
		}
		r.undo = append(r.undo, file.remove)
	}
	if ca != nil {
		var remove func()
		if r.caFile, remove, err = writeCA(s.caFile, ca); err != nil {
			return nil, err
		}
		r.undo = append(r.undo, remove)
	}
	if file != nil { // after the CA: who reads the URL finds it
		if err := file.write(r.url); err != nil {
			return nil, err
		}
	}
	r.server = serve.Start(r.ln, r.config(r.handler(s.door(r.ln.Addr(), https), ca, log), log))
	return r, nil
}

// config is how it serves: a connection that stalls is cut.
func (r *running) config(answering http.Handler, log *slog.Logger) serve.Config {
	return serve.Config{
		Handler:     answering,
		ConnContext: r.mock.ConnContext,
		ReadTimeout: time.Minute, // the headers have as long: one timer less for each request
		IdleTimeout: 5 * time.Minute,
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// options are the server's, from the flags. What a flag says of a key wins over a data file.
func (s settings) options() ([]mockserver.Option, error) {
	opts := []mockserver.Option{mockserver.WithoutSocket(), mockserver.WithAssumptions(s.assume), mockserver.WithJournal(s.journal), mockserver.WithHoldLimit(s.hold)}
	if len(s.keys) > 0 {
		opts = append(opts, mockserver.WithAPIKey(s.keys[0].key))
	}
	var alike []string
	for _, k := range s.keys {
		if k.quota == nil {
			alike = append(alike, k.key)
		}
	}
	opts = append(opts, mockserver.WithKeys(alike...))
	for _, name := range s.data {
		d, err := mockserver.LoadData(name)
		if err != nil {
			return nil, err
		}
		opts = append(opts, mockserver.WithData(d))
	}
	if s.quota != nil || s.assumed {
		opts = append(opts, mockserver.WithQuota(s.assume.Quota), mockserver.WithKeys(alike...))
	}
	for _, k := range s.keys {
		if k.quota != nil {
			opts = append(opts, mockserver.WithKey(k.key, *k.quota))
		}
	}
	if !s.now.IsZero() {
		opts = append(opts, mockserver.WithNow(s.now))
	}
	if s.frozen {
		opts = append(opts, mockserver.WithFrozenClock())
	}
	return opts, nil
}

// close finishes what is in flight, cuts what takes longer than -shutdown-timeout, and removes its files.
func (r *running) close() error {
	r.takeAway()
	_ = r.mock.Reset(mockserver.PartFaults) // what they hold back is let go
	ctx, cancel := context.WithTimeout(context.Background(), r.drain)
	defer cancel()
	err := r.server.Close(ctx)
	return errors.Join(err, r.mock.Close(), r.registro.close())
}

// takeAway removes the files, and ends what waits.
func (r *running) takeAway() {
	r.end()
	for _, undo := range r.undo {
		undo()
	}
}

// byFlags says in the words of the flags what package mockserver says in those of Go.
var byFlags = strings.NewReplacer("WithNow: ", "-now: ", "Assumptions.", "-assume ", " (begin with DefaultAssumptions)", "",
	": begin with DefaultAssumptions", ": give a value", "below Unlimited (-1)", "below -1, which is unlimited")

// startError tells an address that cannot be listened on (1) from a value that can never work (2).
func startError(s settings, err error, stderr io.Writer) int {
	text := byFlags.Replace(strings.TrimPrefix(err.Error(), "mockserver: "))
	if failed := (*net.OpError)(nil); errors.As(err, &failed) {
		if _, bad := net.ResolveTCPAddr("tcp", s.addr); bad == nil {
			_, _ = fmt.Fprintf(stderr, "fiscope-mock: cannot serve on %s: %v\nchoose another address with -addr or FISCOPE_MOCK_ADDR; port 0 takes a free one\n", s.addr, failed.Err)
			return 1
		}
		text = fmt.Sprintf("address %q of -addr or FISCOPE_MOCK_ADDR: %v", s.addr, failed.Err)
	}
	_, _ = fmt.Fprintf(stderr, "fiscope-mock: %s\nrun fiscope-mock help for the flags\n", text)
	return 2
}
