package fiscope

import (
	"context"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// WithCoalescing makes one query of the calls that ask the same at the same time. A caller that gives up
// leaves the others alone; when the last one has left, the query is abandoned, or, with a cache, brought
// home for the next. A receipt validation is never shared.
func WithCoalescing() Option {
	return option(func(c *Client) error {
		c.coalescing = true
		return nil
	})
}

// flightKey is what the calls that may share a query have in common.
type flightKey struct {
	question cacheKey
	reserve  int
	fresh    bool
}

// flights are the queries under way that others may join.
type flights struct {
	keep  bool          // a flight without callers goes on, since there is a cache to bring its answer to
	limit time.Duration // of a flight

	group singleflight.Group
	mu    sync.Mutex
	under map[flightKey]*flight
	last  int // the number of the latest flight
}

type flight struct {
	number  string
	ctx     context.Context
	cancel  context.CancelFunc
	callers int
}

// join waits for the flight under way, or starts one with f. The error is the caller's context's. f has
// a context of its own, which ends with no caller's.
func (fs *flights) join(ctx context.Context, k flightKey, f func(context.Context) landing) (landing, error) {
	fs.mu.Lock()
	fl := fs.under[k]
	if fl == nil {
		fs.last++
		fl = &flight{number: strconv.Itoa(fs.last)}
		fl.ctx, fl.cancel = context.WithTimeout(context.WithoutCancel(ctx), fs.limit)
		fs.under[k] = fl
	}
	fl.callers++
	// Within the lock, so that who finds the flight in the map also finds it in the group.
	landed := fs.group.DoChan(fl.number, func() (any, error) {
		defer fs.end(k, fl)
		return f(fl.ctx), nil
	})
	fs.mu.Unlock()
	select {
	case result := <-landed:
		return result.Val.(landing), nil
	case <-ctx.Done():
		fs.leave(k, fl)
		return landing{}, context.Cause(ctx)
	}
}

// end takes a flight out of the map: who asks from now on starts another.
func (fs *flights) end(k flightKey, fl *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.under[k] == fl {
		delete(fs.under, k)
	}
	fl.cancel()
}

func (fs *flights) leave(k flightKey, fl *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fl.callers--
	if fl.callers > 0 || fs.keep {
		return
	}
	fl.cancel()
	if fs.under[k] == fl {
		delete(fs.under, k)
	}
}
