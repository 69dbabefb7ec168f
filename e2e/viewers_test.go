package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stream counts the calls of a stream of Server-Sent Events as they come, each number once.
func stream(t *testing.T, srv *program, calls *sync.Map) {
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.url+"/_mock/requests/stream", nil)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{}}
	resp, err := client.Do(req)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if _, rest, found := strings.Cut(lines.Text(), `"path":"/api/contribuyentes/`); found {
				calls.Store(rest[:11], true)
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		resp.Body.Close()
		client.CloseIdleConnections()
	})
}

// burst sends calls over connections that are kept, each of another taxpayer, and returns how many were answered.
func burst(t *testing.T, srv *program, calls, connections int) (answered int) {
	t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for c := range connections {
		wg.Go(func() {
			for i := c; i < calls; i += connections {
				req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/api/contribuyentes/%d", srv.url, burstRUC+int64(i)), nil)
				if !assert.NoError(t, err) {
					return
				}
				req.Header.Set("X-API-KEY", defaultKey)
				resp, err := client.Do(req)
				if !assert.NoError(t, err) {
					return
				}
				text := bufio.NewScanner(resp.Body)
				for text.Scan() {
				}
				resp.Body.Close()
				mu.Lock()
				answered++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return answered
}

// burstRUC is the first RUC of a burst; most of them have a wrong check digit, and all of them an answer.
const burstRUC int64 = 20600000000

func size(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}

// Five look on, two of them browsers, and every call is answered, kept and seen by each of them.
func TestNoCallIsLostWhileFiveLookOn(t *testing.T) {
	t.Parallel()
	const n = 600
	srv := start(t, "-quota", "-1")
	one, two := open(t, srv.page("")), open(t, srv.page(""))
	one.sees("en vivo")
	two.sees("en vivo")
	var seen [3]sync.Map
	for i := range seen {
		stream(t, srv, &seen[i])
	}
	assert.Equal(t, n, burst(t, srv, n, 4))
	for _, page := range []*tab{one, two} {
		page.sees("600 llamadas")
		page.row(fmt.Sprint(burstRUC + int64(n) - 1))
	}
	for i := range seen {
		one.within(patience, func() error {
			if got := size(&seen[i]); got != n {
				return fmt.Errorf("stream %d has %d", i, got)
			}
			return nil
		})
	}
}

// What one does, the other sees.
func TestTwoViewers(t *testing.T) {
	t.Parallel()
	srv := start(t)
	one, two := open(t, srv.page("reloj")), open(t, srv.page(""), english)
	srv.lookup("20131312955")
	two.row("consultar", "20131312955")
	one.click("button", exactly("16:59"))
	one.click("button", exactly("Congelar"))
	two.find("link", like("16:59:.* frozen$"))
	two.click("button", exactly("Clear the journal"))
	two.find("heading", exactly("No call has come yet"))
	one.show("Llamadas")
	one.find("heading", exactly("Todavía no llegó ninguna llamada"))
}
