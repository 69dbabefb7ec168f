// Package filestore keeps what the processes of one machine share in one file: answers, the daily quota and what is
// known about SOL credentials. It is for several programs, or for one that cron starts:
//
//	s, err := filestore.New("/var/lib/tienda/fiscope.store")
//	...
//	client, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithStore(s), fiscope.WithCache(fiscope.CachePolicy{}))
//
// The file must be on a local disk. A second file, with ".lock" after its name, is locked while a program reads or
// writes the first. Both are readable by their owner alone. They hold the service's answers and hashes, but no API key
// and no credential.
package filestore

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/fiscope/fiscope/internal/dayquota"
	"github.com/fiscope/fiscope/store"
)

// Store is a [store.Store] in a file. It holds nothing open between two calls, so it needs no Close.
type Store struct{ log *log }

var _ store.Store = (*Store)(nil)

// openTime is how long New waits for another program that uses the file.
const openTime = 5 * time.Second

// New returns the Store in the file at path, and creates the file if it is missing. Its folder must exist. A file that
// is damaged or not a Store is an error, and stays as it is.
func New(path string) (*Store, error) {
	s := &Store{&log{path: path, now: time.Now, mu: make(chan struct{}, 1)}}
	ctx, cancel := context.WithTimeout(context.Background(), openTime)
	defer cancel()
	return s, s.log.do(ctx, func(time.Time) error { return nil })
}

// Load returns what Save kept.
func (s *Store) Load(ctx context.Context, key string) (value []byte, err error) {
	err = s.log.do(ctx, func(now time.Time) error {
		e, err := s.log.get("answer "+key, now)
		value = e.Answer
		return err
	})
	return value, err
}

// Save keeps an answer.
func (s *Store) Save(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	return s.log.do(ctx, func(now time.Time) error {
		return s.log.put(entry{label: label{"answer " + key, now.Add(ttl)}, Answer: value})
	})
}

// quotaMemory is how long an unused account is remembered: much longer than its day, since its key was accepted once.
const quotaMemory = 30 * 24 * time.Hour

// Reserve asks for a query.
func (s *Store) Reserve(ctx context.Context, account string, keep int) (r store.Reservation, err error) {
	err = s.withDay(ctx, account, func(d *dayquota.Day, now time.Time) { r = d.Reserve(now, keep) })
	return r, err
}

// Commit records the outcome of a reservation.
func (s *Store) Commit(ctx context.Context, account string, r store.Reservation, o store.Outcome) error {
	return s.withDay(ctx, account, func(d *dayquota.Day, now time.Time) { d.Commit(now, r, o) })
}

func (s *Store) withDay(ctx context.Context, account string, f func(*dayquota.Day, time.Time)) error {
	return s.log.do(ctx, func(now time.Time) error {
		e, err := s.log.get("quota "+account, now)
		if err != nil {
			return err
		}
		before := e.Day
		f(&e.Day, now)
		if e.Day == before { // a refused call writes nothing
			return nil
		}
		return s.log.put(entry{label: label{"quota " + account, now.Add(quotaMemory)}, Day: e.Day})
	})
}

// credential is a verdict about a credential or, under a key of its own, who is trying it.
type credential struct {
	State string    `json:"state,omitempty"` // of a verdict: proven or refused
	Since time.Time `json:"since,omitzero"`
	Token string    `json:"token,omitempty"` // of a claim
}

// Claim asks whether a credential may be sent.
func (s *Store) Claim(ctx context.Context, name string, hold time.Duration) (c store.Claim, err error) {
	err = s.log.do(ctx, func(now time.Time) error {
		known, held, err := s.credential(name, now)
		if err != nil {
			return err
		}
		c = store.Claim{State: store.ClaimBusy, Since: known.SOL.Since, Until: known.Until}
		switch {
		case known.SOL.State == "refused":
			c.State = store.ClaimRefused
		case known.SOL.State == "proven" && now.Sub(known.SOL.Since).Abs() < store.Recent:
			c.State = store.ClaimProven
		case held.SOL.Token == "" || now.Before(held.SOL.Since): // the clock was set back
			c.State, c.Token = store.ClaimGranted, rand.Text()
			return s.log.put(entry{label: label{"claim " + name, now.Add(hold)}, SOL: credential{Since: now, Token: c.Token}})
		}
		return nil
	})
	return c, err
}

// credential returns the entries of a verdict and of a claim.
func (s *Store) credential(name string, now time.Time) (known, held entry, err error) {
	if known, err = s.log.get("sol "+name, now); err == nil {
		held, err = s.log.get("claim "+name, now)
	}
	return known, held, err
}

// Record records a verdict.
func (s *Store) Record(ctx context.Context, name string, c store.Claim, v store.Verdict, memory time.Duration) error {
	return s.log.do(ctx, func(now time.Time) error {
		known, held, err := s.credential(name, now)
		if err == nil && held.SOL.Token != "" && held.SOL.Token == c.Token {
			err = s.log.put(entry{label: label{"claim " + name, now}})
		}
		if err != nil {
			return err
		}
		refused := known.SOL.State == "refused"
		next := entry{label: label{"sol " + name, now.Add(memory)}}
		switch {
		case v == store.VerdictRefused:
			next.SOL = credential{State: "refused", Since: now}
			if refused && known.Until.After(next.Until) {
				next.Until = known.Until
			}
		case v == store.VerdictProven && !refused: // a late proof does not undo a refusal
			next.SOL = credential{State: "proven", Since: now}
		case v == store.VerdictForget && refused:
			next.Until = now
		default:
			return nil
		}
		return s.log.put(next)
	})
}
