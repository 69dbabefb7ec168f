package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/fiscope/fiscope/compare/peers"
)

// compareOutages has each contender call a service over TLS of whose answers a tenth are 5xx.
func compareOutages(ctx context.Context, s size) ([]row, error) {
	of := fmt.Sprintf("10 %% of 5xx, %s lookups: ", grouped(s.outageCalls))
	return inTurn([]string{of + "succeed", of + "requests", of + "connections"}, func(c contender) ([]string, error) {
		o, err := measureOutage(ctx, c, s.outageCalls)
		return []string{grouped(o.succeeded), grouped(o.requests), grouped(o.connections)}, err
	})
}

// outage is what came of lookups, one after the other.
type outage struct{ succeeded, requests, connections int }

func measureOutage(ctx context.Context, c contender, calls int) (outage, error) {
	var connections atomic.Int64
	failing := &failing{api: c.api, random: rand.New(rand.NewPCG(18, 2))}
	server := httptest.NewUnstartedServer(failing)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.StartTLS()
	defer server.Close()
	client, err := c.new(peers.Setup{BaseURL: server.URL, Key: key, Transport: server.Client().Transport, Retry: briefly})
	if err != nil {
		return outage{}, err
	}
	defer client.Close()
	var o outage
	for range calls {
		if err := finds(ctx, client, c.api); err == nil {
			o.succeeded++
		} else if ctx.Err() != nil {
			return outage{}, ctx.Err()
		}
	}
	failing.mu.Lock()
	defer failing.mu.Unlock()
	o.requests, o.connections = failing.requests, int(connections.Load())
	return o, nil
}

// failing is a service of whose answers a tenth are 5xx: a page of its gateway, or an error of its own.
type failing struct {
	api *api

	mu       sync.Mutex
	random   *rand.Rand
	requests int
}

func (f *failing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := f.next()
	_, _ = io.Copy(io.Discard, r.Body)
	for name := range a.header {
		w.Header().Set(name, a.header.Get(name))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

func (f *failing) next() answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	if f.random.IntN(10) > 0 {
		return inJSON(http.StatusOK, f.api.found)
	}
	if status := 500 + []int{0, 2, 3, 4}[f.random.IntN(4)]; status > 500 {
		return page(status)
	}
	return inJSON(http.StatusInternalServerError, f.api.failed)
}
