package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/serve"
	"github.com/fiscope/fiscope/mockserver"
)

// streamed is an event of a stream.
type streamed struct {
	id, name, data string
}

// watchCalls opens a stream of calls and reads its first event.
func watchCalls(t *testing.T, hc *http.Client, url string) (next func() (streamed, error)) {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/_mock/requests/stream", nil)
	require.NoError(t, err)
	resp, err := hc.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() {
		leave()
		_ = resp.Body.Close()
	})
	require.Equal(t, 200, resp.StatusCode)
	lines := bufio.NewReader(resp.Body)
	next = func() (e streamed, err error) {
		for {
			line, err := lines.ReadString('\n')
			if err != nil || line == "\n" && e.name != "" {
				return e, err
			}
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				e.data = value
			}
		}
	}
	first, err := next()
	require.NoError(t, err)
	require.Equal(t, "hello", first.name)
	return next
}

// watchUnread opens a stream on a connection of its own, of which it then reads nothing.
func watchUnread(t *testing.T, conn net.Conn) {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	_, err := io.WriteString(conn, "GET /_mock/requests/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)
}

// Viewers end nothing later than without them, also those that read nothing, and the others see a whole answer.
func TestStopsWithOpenStreams(t *testing.T) {
	p := startProgram(t, nil, "-addr", "127.0.0.1:0", "-log", "off", "-quota", "-1")
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	require.NoError(t, err)
	watchUnread(t, conn)
	var viewers []func() (streamed, error)
	for range 5 {
		viewers = append(viewers, watchCalls(t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, p.url))
	}
	const calls = 100
	for range calls {
		lookup(t, p.url, "clave-de-prueba")
	}
	for _, next := range viewers {
		for n := range calls {
			e, err := next()
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(n+1), e.id)
		}
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	for _, next := range viewers {
		_, err := next()
		assert.Equal(t, io.EOF, err, "it ends, and is not cut")
	}
	assert.NoError(t, p.cmd.Wait(), "exit status 0")
}

// inMemory serves a mock with its admin API on connections without a socket, as the program does.
func inMemory(t *testing.T) (r *running, dial func() net.Conn) {
	t.Helper()
	mock, err := mockserver.Start(mockserver.WithoutSocket(), mockserver.WithQuota(mockserver.Unlimited))
	require.NoError(t, err)
	r = &running{mock: mock}
	r.log, r.drain = logOff, time.Hour
	r.ending, r.end = context.WithCancel(context.Background())
	ln := &pipes{dialled: make(chan net.Conn, 1), closed: make(chan struct{})}
	log := slog.New(slog.DiscardHandler)
	r.ln = ln
	r.server = serve.Start(ln, r.config(r.handler(nil, log), log))
	return r, func() net.Conn {
		client, server := net.Pipe()
		ln.dialled <- server
		return client
	}
}

// A stream lives for longer than a request may take to arrive and an idle connection may stay.
func TestAStreamLivesForHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, dial := inMemory(t)
		hc := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return dial(), nil }}}
		next := watchCalls(t, hc, "http://localhost")
		for hour := range 3 {
			go func() {
				time.Sleep(time.Hour)
				req, _ := http.NewRequest(http.MethodGet, "http://localhost/api/contribuyentes/20131312955", nil)
				req.Header.Set("X-API-KEY", r.mock.APIKey)
				resp, err := hc.Do(req)
				if assert.NoError(t, err) {
					_ = resp.Body.Close()
				}
			}()
			e, err := next()
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprint(hour+1), e.id)
		}
		hc.CloseIdleConnections()
		closed := make(chan error)
		go func() { closed <- r.close() }()
		_, err := next()
		assert.Equal(t, io.EOF, err)
		require.NoError(t, <-closed)
	})
}

// A viewer that takes nothing is let go after a while, and keeps nobody waiting: neither a call nor the end.
func TestAViewerThatReadsNothing(t *testing.T) {
	call := func(r *running) {
		req, _ := http.NewRequest(http.MethodGet, "/api/contribuyentes/20131312955", http.NoBody)
		req.Header.Set("X-API-KEY", r.mock.APIKey)
		r.mock.ServeHTTP(nowhere{}, req)
	}
	t.Run("is let go", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, dial := inMemory(t)
			conn := dial()
			watchUnread(t, conn)
			time.Sleep(9 * time.Second)
			began := time.Now()
			call(r)
			assert.Zero(t, time.Since(began))
			_, err := io.WriteString(conn, "x")
			require.NoError(t, err, "it is there still")
			time.Sleep(time.Second)
			synctest.Wait()
			_, err = io.WriteString(conn, "x")
			assert.ErrorIs(t, err, io.ErrClosedPipe)
			require.NoError(t, r.close())
		})
	})
	t.Run("does not keep the end waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, dial := inMemory(t)
			watchUnread(t, dial())
			synctest.Wait()
			began := time.Now()
			require.NoError(t, r.close())
			assert.Less(t, time.Since(began), time.Second)
		})
	})
}

// nowhere takes an answer and keeps nothing.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}
