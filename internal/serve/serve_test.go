package serve_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/internal/serve"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func listen(t *testing.T, addr string) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	require.NoError(t, err)
	return ln
}

// get returns the status of an answer, 0 for none, on a connection of its own.
func get(url string) int {
	rt := &http.Transport{DisableKeepAlives: true}
	req, _ := http.NewRequest(http.MethodGet, url, nil)
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

func TestCloseLetsAnAnswerInFlightFinish(t *testing.T) {
	for name, c := range map[string]struct {
		finishes bool
		status   int
	}{"it finishes": {true, http.StatusNoContent}, "it is cut when the wait is over": {false, 0}} {
		t.Run(name, func(t *testing.T) {
			asked, finish := make(chan struct{}), make(chan struct{})
			ln := listen(t, "127.0.0.1:0")
			s := serve.Start(ln, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(asked)
				select {
				case <-finish:
				case <-r.Context().Done():
				}
				w.WriteHeader(http.StatusNoContent)
			})})
			got := make(chan int, 1)
			go func() { got <- get("http://" + serve.Host(ln)) }()
			<-asked
			ctx, end := context.WithCancel(t.Context())
			defer end()
			closed := make(chan error, 1)
			go func() { closed <- s.Close(ctx) }()
			if c.finishes {
				close(finish)
			} else {
				end()
			}
			require.NoError(t, <-closed)
			assert.Equal(t, c.status, <-got)
			_, err := net.Dial("tcp", serve.Host(ln))
			assert.Error(t, err, "nothing is accepted any more")
		})
	}
}

// pipes is a listener in memory.
type pipes struct {
	context.Context
	end   context.CancelFunc
	conns chan net.Conn
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.Done():
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error { p.end(); return nil }

func (p pipes) Addr() net.Addr { return nil }

func TestCloseWaitsForAnAnswerInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		ln := pipes{ctx, end, make(chan net.Conn, 2)}
		s := serve.Start(ln, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Minute)
			w.WriteHeader(http.StatusNoContent)
		})})
		client, conn := net.Pipe()
		_, unused := net.Pipe()
		ln.conns <- conn
		ln.conns <- unused
		_, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		synctest.Wait()
		closed := make(chan error)
		go func() { closed <- s.Close(t.Context()) }()
		answer, err := io.ReadAll(client)
		require.NoError(t, err)
		assert.Regexp(t, `(?s)^HTTP/1.1 204 .*Connection: close`, string(answer))
		require.NoError(t, <-closed)
	})
}

func TestCloseDoesNotWaitForUnusedConnections(t *testing.T) {
	ln := listen(t, "127.0.0.1:0")
	s := serve.Start(ln, &http.Server{Handler: http.NotFoundHandler()})
	unused, err := net.Dial("tcp", serve.Host(ln))
	require.NoError(t, err)
	defer unused.Close()
	require.Equal(t, http.StatusNotFound, get("http://"+serve.Host(ln)), "the first connection was accepted, too")
	begun := time.Now()
	require.NoError(t, s.Close(t.Context()))
	assert.Less(t, time.Since(begun), 4*time.Second, "http.Server.Shutdown waits for five")
}

type failing struct{ net.Listener }

func (f failing) Close() error { return errors.Join(f.Listener.Close(), io.ErrShortWrite) }

func TestCloseReportsTheListener(t *testing.T) {
	s := serve.Start(failing{listen(t, "127.0.0.1:0")}, &http.Server{})
	assert.ErrorIs(t, s.Close(t.Context()), io.ErrShortWrite)
}

func TestServerKeepsWhatItWasGiven(t *testing.T) {
	type key struct{}
	ln := listen(t, "127.0.0.1:0")
	var logged strings.Builder
	s := serve.Start(ln, &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodOptions {
				w.WriteHeader(http.StatusTeapot)
				return
			}
			w.WriteHeader(r.Context().Value(key{}).(int))
			w.WriteHeader(http.StatusOK) // net/http logs the second one
		}),
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, key{}, http.StatusAccepted)
		},
		ErrorLog: log.New(&logged, "", 0),
	})
	assert.Equal(t, http.StatusAccepted, get("http://"+serve.Host(ln)))
	conn, err := net.Dial("tcp", serve.Host(ln))
	require.NoError(t, err)
	_, err = io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	require.NoError(t, err)
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Contains(t, string(answer), "418", "the handler's, not net/http's own")
	require.NoError(t, conn.Close())
	require.NoError(t, s.Close(t.Context()))
	assert.Contains(t, logged.String(), "superfluous")
}

// A client that does not send what it began, or nothing more, does not keep its connection for ever; an
// answer may take as long as it wants.
func TestConnectionsThatStall(t *testing.T) {
	const short = 20 * time.Millisecond
	answer := func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		if err == nil && r.URL.Path == "/slow" {
			select { // longer than a request may take to arrive
			case <-time.After(3 * short):
			case <-r.Context().Done():
				err = r.Context().Err()
			}
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}
	for name, c := range map[string]struct {
		server *http.Server
		send   string
		status string
	}{
		"no whole header":      {&http.Server{ReadHeaderTimeout: short}, "GET / HTTP/1.1\r\n", ""},
		"no whole body":        {&http.Server{ReadTimeout: short}, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf", "400"},
		"nothing more":         {&http.Server{IdleTimeout: short}, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "200"},
		"an answer that waits": {&http.Server{ReadTimeout: short, IdleTimeout: short}, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n", "200"},
	} {
		t.Run(name, func(t *testing.T) {
			ln := listen(t, "127.0.0.1:0")
			c.server.Handler = http.HandlerFunc(answer)
			s := serve.Start(ln, c.server)
			defer func() { require.NoError(t, s.Close(t.Context())) }()
			conn, err := net.Dial("tcp", serve.Host(ln))
			require.NoError(t, err)
			defer conn.Close()
			_, err = io.WriteString(conn, c.send)
			require.NoError(t, err)
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
			got, err := io.ReadAll(conn) // ends when the server closes the connection
			require.NoError(t, err)
			assert.Contains(t, string(got), c.status)
		})
	}
}

func TestHost(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:0": `^127\.0\.0\.1:[1-9]`, ":0": `^127\.0\.0\.1:[1-9]`, "0.0.0.0:0": `^127\.0\.0\.1:[1-9]`,
	} {
		ln := listen(t, addr)
		assert.Regexp(t, want, serve.Host(ln), addr)
		require.NoError(t, ln.Close())
	}
}
