package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
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

// watchCalls opens a stream of calls and reads its first event; each pair of header is one of the request.
func watchCalls(t *testing.T, hc *http.Client, url string, header ...string) (next func() (streamed, error), instance string) {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/_mock/requests/stream", nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
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
	var hello struct{ Instance string }
	require.NoError(t, json.Unmarshal([]byte(first.data), &hello))
	return next, hello.Instance
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
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			args := []string{"-addr", "127.0.0.1:0", "-log", "off", "-quota", "-1"}
			ca := filepath.Join(t.TempDir(), "ca.pem")
			hc := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			if scheme == "https" {
				args = append(args, "-tls", "-tls-ca-file", ca)
			}
			p := startProgram(t, nil, args...)
			if scheme == "https" {
				hc = overTLS(t, ca)
			} else {
				conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
				require.NoError(t, err)
				watchUnread(t, conn)
			}
			var viewers []func() (streamed, error)
			for range 5 {
				next, _ := watchCalls(t, hc, p.url)
				viewers = append(viewers, next)
			}
			calling := &http.Client{Transport: hc.Transport.(*http.Transport).Clone()}
			calling.Transport.(*http.Transport).DisableKeepAlives = false
			defer calling.CloseIdleConnections()
			const calls = 500
			for range calls {
				req, err := http.NewRequest(http.MethodGet, p.url+"/api/contribuyentes/20131312955", nil)
				require.NoError(t, err)
				req.Header.Set("X-API-KEY", "clave-de-prueba")
				resp, err := calling.Do(req)
				require.NoError(t, err)
				_, _ = io.Copy(io.Discard, resp.Body)
				require.NoError(t, resp.Body.Close())
			}
			for _, next := range viewers {
				for n := range calls {
					e, err := next()
					require.NoError(t, err)
					require.Equal(t, fmt.Sprint(n+1), e.id)
				}
			}
			began := time.Now()
			require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
			for _, next := range viewers {
				_, err := next()
				assert.Equal(t, io.EOF, err, "it ends, and is not cut")
			}
			assert.NoError(t, p.cmd.Wait(), "exit status 0")
			t.Logf("stopped after %v", time.Since(began).Round(time.Millisecond))
		})
	}
}

// A viewer that has seen more than there is, since the program was started again, sees all from the beginning.
func TestAStreamAfterARestart(t *testing.T) {
	flags := []string{"-log", "off", "-admin-token", "t0ken"}
	p := startProgram(t, nil, append(flags, "-addr", "127.0.0.1:0")...)
	for range 3 {
		lookup(t, p.url, "clave-de-prueba")
	}
	resp, err := http.Post(p.url+"/_mock/session", "application/json", strings.NewReader(`{"token": "t0ken"}`))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 204, resp.StatusCode)
	cookie := resp.Cookies()[0]
	admitted := []string{"Cookie", cookie.Name + "=" + cookie.Value}
	next, instance := watchCalls(t, http.DefaultClient, p.url, admitted...)
	var last streamed
	for range 3 {
		last, err = next()
		require.NoError(t, err)
	}
	require.Equal(t, "3", last.id)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.cmd.Wait())

	again := startProgram(t, nil, append(flags, "-addr", strings.TrimPrefix(p.url, "http://"))...)
	require.Equal(t, p.url, again.url)
	lookup(t, again.url, "clave-de-prueba")
	next, other := watchCalls(t, http.DefaultClient, again.url, append(admitted, "Last-Event-ID", last.id)...)
	assert.NotEqual(t, instance, other)
	e, err := next()
	require.NoError(t, err)
	assert.Equal(t, streamed{"0", "cleared", "{}"}, e)
	e, err = next()
	require.NoError(t, err)
	assert.Equal(t, "1", e.id)
	require.NoError(t, again.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, again.cmd.Wait())
}

// Five viewers see each call exactly to its end, and no call notices them.
func TestFiveViewersUnderLoad(t *testing.T) {
	const connections, each, viewers = 16, 250, 5
	url := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-quota", "-1", "-journal", "10000")
	status, body := ask(t, "POST", url+"/_mock/faults", `{"match": {"times": 4000}, "steps": [{"latency": "1ms"}, {}, {}, {}, {}]}`)
	require.Equal(t, 200, status, body)
	var calling, viewing sync.WaitGroup
	seen := make([]map[int64]json.RawMessage, viewers)
	for i := range viewers {
		seen[i] = map[int64]json.RawMessage{}
		next, _ := watchCalls(t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, url)
		viewing.Go(func() {
			last, ended := int64(0), 0
			for ended < connections*each {
				e, err := next()
				if !assert.NoError(t, err) || !assert.Equal(t, "request", e.name) {
					return
				}
				var r struct {
					N, Rev int64
					Status int
				}
				if !assert.NoError(t, json.Unmarshal([]byte(e.data), &r)) || !assert.Greater(t, r.Rev, last, "in order, none twice") {
					return
				}
				if last = r.Rev; r.Status != 0 {
					ended++
				}
				seen[i][r.N] = json.RawMessage(e.data)
			}
		})
	}
	for range connections {
		hc := &http.Client{Transport: &http.Transport{}}
		defer hc.CloseIdleConnections()
		calling.Go(func() {
			for range each {
				req, _ := http.NewRequest(http.MethodGet, url+"/api/contribuyentes/20131312955", nil)
				req.Header.Set("X-API-KEY", "clave-de-prueba")
				resp, err := hc.Do(req)
				if !assert.NoError(t, err) {
					return
				}
				_, err = io.Copy(io.Discard, resp.Body)
				assert.NoError(t, err)
				assert.Equal(t, 200, resp.StatusCode)
				_ = resp.Body.Close()
			}
		})
	}
	calling.Wait()
	viewing.Wait()
	_, body = ask(t, "GET", url+"/_mock/requests", "")
	var journal struct{ Requests []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(body), &journal))
	require.Len(t, journal.Requests, connections*each)
	for n, request := range journal.Requests {
		var compact strings.Builder
		e := json.NewEncoder(&compact)
		e.SetEscapeHTML(false)
		require.NoError(t, e.Encode(request))
		for i := range viewers {
			require.Equal(t, strings.TrimSpace(compact.String()), string(seen[i][int64(n+1)]), "viewer %d, call %d", i, n+1)
		}
	}
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
		next, _ := watchCalls(t, hc, "http://localhost")
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
