package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
)

// release gives back all that this process holds.
func (q *quota) release(ctx context.Context) error {
	q.mu.Lock()
	accounts := maps.Clone(q.accounts)
	q.mu.Unlock()
	var errs []error
	for name, a := range accounts {
		errs = append(errs, q.giveBack(ctx, name, a, true))
	}
	return errors.Join(errs...)
}

// giveBack gives back the lease, and all with the share.
func (q *quota) giveBack(ctx context.Context, name string, a *account, all bool) error {
	a.mu.Lock()
	p := putting{day: a.day.id, delta: a.lease.units}
	a.lease.units = 0
	if all {
		if a.share.sent {
			p.holder, p.used = a.holder, a.share.given-a.share.units
		}
		a.share, a.holder = share{}, rand.Text()
		if a.lease.timer != nil {
			a.lease.timer.Stop()
		}
	}
	a.spent = spent{}
	if p.delta == 0 && p.holder == "" {
		a.mu.Unlock()
		return nil
	}
	a.releasing++
	a.mu.Unlock()
	err := q.change(ctx, name, a, p)
	a.mu.Lock()
	a.releasing--
	a.mu.Unlock()
	return err
}
