package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/compare/peers"
)

// compareRetryAfter tells each contender to come back in a day.
func compareRetryAfter(ctx context.Context, s size) ([]row, error) {
	return atOnce([]string{
		"Retry-After of a day: the call takes",
		"Retry-After of a day: requests",
		"Retry-After of a day: the error is the service's",
	}, func(c contender) ([]string, error) {
		p, err := measureRetryAfter(ctx, c, s.patience)
		took := fmt.Sprintf("%.1f s", p.took.Seconds())
		if p.given {
			took = "> " + took
		}
		told := "no"
		if p.told {
			told = "yes"
		}
		return []string{took, strconv.Itoa(p.requests), told}, err
	})
}

// patience is how a call ended that was told to come back in a day.
type patience struct {
	took     time.Duration
	given    bool // up, by its context
	requests int
	told     bool // its error is the service's, not the context's
}

// measureRetryAfter makes a lookup with waits as long as programs have them.
func measureRetryAfter(ctx context.Context, c contender, most time.Duration) (patience, error) {
	var requests atomic.Int64
	client, err := c.open(service(func(*http.Request) (answer, error) {
		requests.Add(1)
		return inJSON(http.StatusServiceUnavailable, c.api.failed, "Retry-After: 86400"), nil
	}), peers.Retry{Most: 2, Wait: 250 * time.Millisecond, MaxWait: 4 * time.Second})
	if err != nil {
		return patience{}, err
	}
	defer client.Close()
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	began := time.Now()
	_, err = client.Lookup(bounded, c.api.id)
	took := time.Since(began)
	if err == nil {
		return patience{}, errors.New("a lookup succeeded that was answered with 503")
	}
	return patience{took, bounded.Err() != nil, int(requests.Load()), !errors.Is(err, context.DeadlineExceeded)}, ctx.Err()
}
