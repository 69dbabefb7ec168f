package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/admin"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/cmd/internal/wholefile"
	"github.com/fiscope/fiscope/internal/filewatch"
	"github.com/fiscope/fiscope/internal/serve"
	"github.com/fiscope/fiscope/mockserver"
)

// running is the mock server on its address.
type running struct {
	settings
	url       string
	caFile    string // the CA's file; "" unless -tls made one
	access    admin.Access
	registro  *registro // from -padron; nil without it
	mock      *mockserver.Server
	ln        net.Listener
	server    *serve.Server   // serves on ln
	ending    context.Context // ends when the server begins to close
	end       context.CancelFunc
	removeCA  func()
	followers sync.WaitGroup // goroutines that end with ending
	logged    sync.WaitGroup // the goroutine that logs calls, which ends after endLog
	endLog    context.CancelFunc
}

// start makes the server from the settings. When it returns, the server answers.
func start(s settings, log *slog.Logger) (_ *running, err error) {
	r := &running{settings: s}
	r.ending, r.end = context.WithCancel(context.Background())
	defer func() {
		if err == nil {
			return
		}
		r.removeFiles()
		if r.ln != nil {
			_ = r.ln.Close()
		}
		_ = r.registro.close()
	}()
	upstream := mockserver.Upstream{URL: s.upstream, File: s.record, Again: s.again}
	if s.record != "" {
		if err = checkRecord(s.record); err != nil {
			return nil, fmt.Errorf("-record: %w", err)
		}
		upstream.Save = func(write func(io.Writer) error) error {
			err := wholefile.Write(s.record, forAll, write)
			if err != nil {
				log.Warn("no se pudo escribir -record", "error", terminal.InSpanish(err))
			}
			return err
		}
	}
	data := filewatch.Of(s.data...) // read before the files
	opts, err := r.options()
	if err != nil {
		return nil, err
	}
	switch {
	case s.upstream != "":
		opts = append(opts, mockserver.WithUpstream(upstream))
	case s.replay != "":
		opts = append(opts, mockserver.WithRecording(s.replay))
	}
	if s.padron != "" {
		if r.registro, err = openRegistro(s.padron, log); err != nil {
			return nil, fmt.Errorf("-padron: %s (un índice lo hace fiscope-mock padron import)", registryInSpanish(terminal.InSpanish(err)))
		}
		opts = append(opts, mockserver.WithPadron(r.registro))
	}
	if r.mock, err = mockserver.Start(opts...); err != nil {
		return nil, err
	}
	https, ca, err := s.tlsConfig()
	if err != nil {
		return nil, err
	}
	if r.ln, r.url, err = listen(s.addr, https); err != nil {
		return nil, err
	}
	if ca != nil {
		if r.caFile, r.removeCA, err = writeCA(s.caFile, ca); err != nil {
			return nil, err
		}
	}
	r.access = s.access(r.ln.Addr(), https)
	if s.replay != "" {
		log.Warn("responde lo grabado: su reloj empieza a la hora de la última respuesta, o a la de -now; para un cliente con otro reloj, las X-RateLimit-Reset que no se editaron ya pasaron",
			"replay", s.replay, "reloj", r.mock.Now().In(fiscope.Lima).Format(time.RFC3339))
	}
	if each := s.log == logText || s.log == logJSON; each || s.replay != "" {
		logged := mockserver.Filter{}
		if !each {
			logged.Code = "MOCK_NOT_RECORDED"
		}
		ctx, end := context.WithCancel(context.Background())
		r.endLog = end
		r.logged.Go(func() { logCalls(ctx, r.mock, logged, log) })
	}
	if len(s.data) > 0 {
		r.followers.Go(func() { r.followData(r.ending, data, log) })
	}
	r.server = serve.Start(r.ln, r.config(r.handler(ca, log), log))
	return r, nil
}

// config returns a server with timeouts: a stalled connection is closed.
func (r *running) config(answering http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:     answering,
		ConnContext: r.mock.Control().ConnContext,
		ReadTimeout: time.Minute, // for the headers too: one timer less per request
		IdleTimeout: 5 * time.Minute,
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// options returns the server's options. A key without its own quota gets the one of -quota, or of the data.
func (r *running) options() ([]mockserver.Option, error) {
	opts := []mockserver.Option{mockserver.WithoutSocket(), mockserver.WithAssumptions(r.assume), mockserver.WithJournal(r.journal)}
	if len(r.keys) > 0 {
		opts = append(opts, mockserver.WithAPIKey(r.keys[0].key))
	}
	for _, k := range r.keys {
		opts = append(opts, mockserver.WithKey(k.key, r.assume.Quota))
	}
	for _, name := range r.data {
		d, err := mockserver.LoadData(name)
		if err != nil {
			return nil, err
		}
		opts = append(opts, mockserver.WithData(d))
	}
	quotaGiven := r.quota != nil || r.assumed
	if quotaGiven {
		opts = append(opts, mockserver.WithQuota(r.assume.Quota))
	}
	for _, k := range r.keys {
		if k.quota != nil {
			opts = append(opts, mockserver.WithKey(k.key, *k.quota))
		} else if quotaGiven {
			opts = append(opts, mockserver.WithKey(k.key, r.assume.Quota))
		}
	}
	if !r.now.IsZero() {
		opts = append(opts, mockserver.WithNow(r.now))
	}
	if r.frozen {
		opts = append(opts, mockserver.WithFrozenClock())
	}
	return opts, nil
}

// close finishes the requests in flight, closes slow ones, and removes its files.
func (r *running) close() error {
	r.removeFiles()
	r.followers.Wait()
	_ = r.mock.Reset(mockserver.PartFaults) // release calls that they hold
	ctx, cancel := context.WithTimeout(context.Background(), r.drain)
	defer cancel()
	err := r.server.Close(ctx)
	if r.endLog != nil {
		r.endLog()
		r.logged.Wait()
	}
	return errors.Join(err, r.mock.Close(), r.registro.close())
}

// removeFiles removes the files and ends the goroutines.
func (r *running) removeFiles() {
	r.end()
	if r.removeCA != nil {
		r.removeCA()
	}
}

// listen listens on the address, and returns the URL. Connections queue until the server answers.
func listen(addr string, https *tls.Config) (ln net.Listener, url string, err error) {
	if addr == "" {
		return nil, "", errors.New("la dirección de -addr está vacía") // net.Listen would use any port of any interface
	}
	if ln, err = net.Listen("tcp", addr); err != nil {
		return nil, "", err
	}
	if https == nil {
		return ln, "http://" + serve.Host(ln), nil
	}
	return tls.NewListener(ln, https), "https://" + serve.Host(ln), nil
}

// startError distinguishes an address that cannot be used (1) from an invalid value (2).
func startError(s settings, err error, stderr io.Writer) error {
	if refused := (*net.OpError)(nil); errors.As(err, &refused) {
		if _, bad := net.ResolveTCPAddr("tcp", s.addr); bad == nil {
			return failed(stderr, 1, fmt.Errorf("no puede atender en %s: %w\nelija otra dirección con -addr o FISCOPE_MOCK_ADDR; el puerto 0 es uno libre", s.addr, refused.Err))
		}
		if wrong := (*net.AddrError)(nil); errors.As(refused, &wrong) {
			refused.Err = errors.New(wrong.Err) // without the address, which is shown
		}
		err = fmt.Errorf("la dirección %q de -addr o FISCOPE_MOCK_ADDR no sirve: %w", s.addr, refused.Err)
	}
	return failed(stderr, 2, err)
}
