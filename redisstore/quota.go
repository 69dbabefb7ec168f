package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/redis/go-redis/v9"
)

const leaseTime = 30 * time.Second // after which what is left of a lease goes back

// quota shares the daily quotas of accounts with the other processes, by the ten rules of doc.go.
type quota struct {
	scripts
	lease, share int // how much WithLease and WithShare ask for

	mu       sync.Mutex
	accounts map[string]*account
}

func (q *quota) account(name string) *account {
	q.mu.Lock()
	defer q.mu.Unlock()
	a := q.accounts[name]
	if a == nil {
		a = &account{news: noHeader, holder: rand.Text()}
		q.accounts[name] = a
	}
	return a
}

// hear returns what takes in an answer of Redis, whenever it comes: f is called with the lock held.
func (q *quota) hear(ctx context.Context, name string, a *account, f func(reply, error)) func(reply, error) {
	return func(got reply, err error) {
		a.mu.Lock()
		var off putting
		if err == nil {
			a.see(got)
			off = putting{day: a.day.id, delta: -a.loose}
			a.loose = 0
		}
		f(got, err)
		u := a.unclaim(q.lease)
		a.mu.Unlock()
		if off.delta < 0 {
			_ = q.change(ctx, name, a, off)
		}
		q.giveUp(ctx, name, a, u)
	}
}

// giveUp gives up what nobody waits for.
func (q *quota) giveUp(ctx context.Context, name string, a *account, u unclaimed) {
	ctx = context.WithoutCancel(ctx)
	for _, r := range u.granted {
		_ = q.settle(ctx, name, r, fiscope.Outcome{})
	}
	if u.units > 0 {
		_ = q.change(ctx, name, a, putting{day: u.day, delta: u.units})
	}
}

// tell tells Redis what came of an attempt.
func (q *quota) tell(ctx context.Context, name string, a *account, t telling) error {
	a.mu.Lock()
	var news header
	news, t.ended = a.along()
	if t.header.remaining < 0 && t.attempt == "" {
		t.header, news = news, noHeader
	}
	a.failed(news, nil) // it goes along another time
	seq := a.call()
	a.mu.Unlock()
	err := q.head(ctx, name, seq, t, q.hear(ctx, name, a, func(reply, error) {}))
	if err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.failed(t.header, t.ended)
	}
	return err
}

// insist tells Redis what came of an attempt that left while no day was known, in the background, until Redis knows
// or nobody waits for it any longer. It is called with the lock held.
func (q *quota) insist(name string, a *account, t telling) {
	began := a.untold == nil
	a.untold = &t
	if began {
		q.tellAgain(name, a, time.Now().Add(q.process.probeTime))
	}
}

func (q *quota) tellAgain(name string, a *account, until time.Time) {
	time.AfterFunc(pauseAway(), func() {
		a.mu.Lock()
		untold := a.untold
		a.mu.Unlock()
		err := q.tell(context.Background(), name, a, *untold)
		a.mu.Lock()
		defer a.mu.Unlock()
		over := err == nil && a.untold == untold || errors.Is(err, redis.ErrClosed) || !time.Now().Before(until)
		if over {
			a.untold = nil
			return
		}
		q.tellAgain(name, a, until)
	})
}

// change puts queries back, or takes them off: those that were not are to be, once Redis answers.
func (q *quota) change(ctx context.Context, name string, a *account, p putting) error {
	if p.delta < 0 {
		ctx = context.WithoutCancel(ctx)
	}
	asked := false
	failed := func() {
		if p.delta < 0 && p.day == a.day.id {
			a.loose -= p.delta
		}
	}
	a.mu.Lock()
	seq := a.call()
	a.mu.Unlock()
	err := q.put(ctx, name, seq, p, q.hear(ctx, name, a, func(_ reply, err error) {
		if asked = true; err != nil {
			failed()
		}
	}))
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil && !asked && !errors.Is(err, errSlow) { // a slow one is asked still
		failed()
	}
	return err
}

// deposit keeps queries of the day for this process. It is called with the lock held.
func (q *quota) deposit(name string, a *account, units int) {
	if units <= 0 {
		return
	}
	a.lease.units += units
	if q.lease == 1 { // it is for who waits
		return
	}
	if a.lease.timer == nil {
		a.lease.timer = time.AfterFunc(leaseTime, func() { _ = q.giveBack(context.Background(), name, a, false) })
	} else {
		a.lease.timer.Reset(leaseTime)
	}
}
