package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// compareQuota has each contender make calls until long after the quota is spent.
func compareQuota(ctx context.Context, s size) ([]row, error) {
	of := fmt.Sprintf("%s lookups, %d queries left: ", grouped(s.quotaCalls), s.quotaCalls/10)
	return inTurn([]string{of + "answered", of + "requests in vain"}, func(c contender) ([]string, error) {
		q, err := measureQuota(ctx, c, s.quotaCalls)
		return []string{grouped(q.answered), grouped(q.inVain)}, err
	})
}

// quotaEnd is what came of calls of which a tenth can be answered.
type quotaEnd struct {
	answered int
	inVain   int // requests that were sent once nothing was left
}

func measureQuota(ctx context.Context, c contender, calls int) (quotaEnd, error) {
	s := &limited{api: c.api, limit: calls, left: calls / 10, reset: time.Now().Add(12 * time.Hour)}
	client, err := c.open(service(s.answer), briefly)
	if err != nil {
		return quotaEnd{}, err
	}
	defer client.Close()
	var began, answered atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for began.Add(1) <= int64(calls) {
				if finds(ctx, client, c.api) == nil {
					answered.Add(1)
				}
			}
		})
	}
	all.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return quotaEnd{int(answered.Load()), s.inVain}, ctx.Err()
}

// limited is a service with a quota, which it tells in every answer.
type limited struct {
	api   *api
	limit int
	reset time.Time

	mu           sync.Mutex
	left, inVain int
}

func (l *limited) answer(*http.Request) (answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == 0 {
		l.inVain++
		return inJSON(http.StatusTooManyRequests, l.api.spent, l.api.quota(l.limit, 0, l.reset)...), nil
	}
	l.left--
	return inJSON(http.StatusOK, l.api.found, l.api.quota(l.limit, l.left, l.reset)...), nil
}
