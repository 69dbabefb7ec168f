package redisstore

import (
	"context"
	_ "embed" // the script
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/redis/go-redis/v9"
)

//go:embed quota.lua
var quotaLua string

var quotaScript = redis.NewScript(quotaLua)

const (
	openTime   = time.Minute      // how long the fleet goes on without headers, or stops after a 429 without
	settleTime = 2 * tryAgain     // how long the processes have to tell a Redis that lost its memory what they know
	leaseTime  = 30 * time.Second // after which what is left of a lease goes back
	waitPause  = 10 * time.Millisecond
)

// The answers of quota.lua.
const (
	statusDay   = 1 + iota // queries of the day's count
	statusOpen             // one, while there is no count
	statusProbe            // the one that goes first
	statusSpent
	statusWait
	statusHeld // a 429 said so, not a count
)

// The kinds of reservations: the first letter of a token.
const (
	unitOfDay   = "d" // and the day's reset
	unitOfShare = "s" // and the day's reset
	unitOfOpen  = "o"
	unitOfProbe = "p" // and the probe's token
)

// request is what quota.lua is told and asked.
type request struct {
	want, keep int
	token      string
	news       learned
	probe      string // the probe that ends
	verdict    string
	view       view
	share      int // to be set aside; -1 to give it back
	held       int // set aside before
	ended      int // attempts that ended of those that left while there was no count, ever
	acked      int // of which Redis knows
}

// learned is what a process knows and Redis does not.
type learned struct {
	news      bool
	remaining int   // of a header
	reset     int64 // of a header, in Unix milliseconds; 0 for none
	back      int   // queries of the day's count that were not sent
	extra     int   // queries that were sent beyond what was reserved
}

// reply is the answer of quota.lua.
type reply struct {
	status, units, left int
	view                view
	share               int
}

// view is a day as Redis last told it. With it a process can tell it back.
type view struct {
	epoch   string
	kind    string
	reset   int64 // Unix milliseconds
	left    int
	granted int       // to all
	mine    int       // to this process
	until   time.Time // reset by this process's monotonic clock
	seq     uint64
}

func (s *Store) run(ctx context.Context, name string, a *account, r request, seq uint64) (reply, error) {
	news := -1
	if r.news.news {
		news = r.news.remaining
	}
	v := r.view
	if v.kind == "p" {
		v = view{}
	}
	start := time.Now()
	keys := []string{s.key(name, "quota"), s.key(name, "processes"), s.key(name, "ended"), s.key(name, "call:"+r.token)}
	args := []any{
		r.want, r.keep, r.token,
		news, r.news.reset, r.news.back, r.news.extra, r.ended,
		r.probe, r.verdict,
		v.epoch, v.kind, v.reset, v.left, v.mine,
		s.name, s.holder, r.share, r.held,
		s.daily, nextMidnight(start).UnixMilli(),
		milliseconds(s.probeTime), milliseconds(openTime), milliseconds(settleTime),
		r.acked,
	}
	read := func(values []any, err error) (reply, error) {
		if err != nil {
			return reply{}, err
		}
		return readReply(values, start, seq)
	}
	return ask(ctx, s, &s.quota, func(ctx context.Context) (reply, error) {
		return read(quotaScript.Run(ctx, s.client, keys, args...).Slice())
	}, func(got reply) { s.late(name, a, r.token, got) })
}

var errForeign = errors.New("redisstore: the key of the quota holds something foreign")

func readReply(values []any, start time.Time, seq uint64) (reply, error) {
	if len(values) != 9 {
		return reply{}, errForeign
	}
	var numbers [9]int64
	var texts [9]string
	for i, value := range values {
		switch v := value.(type) {
		case int64:
			numbers[i] = v
		case string:
			texts[i] = v
			numbers[i], _ = strconv.ParseInt(v, 10, 64)
		default:
			return reply{}, errForeign
		}
	}
	return reply{
		status: int(numbers[0]),
		units:  int(numbers[1]),
		left:   int(numbers[2]),
		share:  int(numbers[8]),
		view: view{
			epoch: texts[5], kind: texts[6], reset: numbers[3], left: int(numbers[2]), granted: int(numbers[7]),
			until: start.Add(time.Duration(numbers[4]) * time.Millisecond), seq: seq,
		},
	}, nil
}

// nextMidnight is when a day of WithDailyQuota is taken to end.
func nextMidnight(now time.Time) time.Time {
	y, m, d := now.In(fiscope.Lima).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, fiscope.Lima)
}

// Reserve implements [fiscope.Store]. It returns no error but the context's: while Redis is away, only
// what was set aside for this process is granted.
func (s *Store) Reserve(ctx context.Context, name string, keep int) (fiscope.Reservation, error) {
	a := s.account(name)
	for {
		if err := ctx.Err(); err != nil {
			return fiscope.Reservation{}, err
		}
		a.mu.Lock()
		a.expire(time.Now())
		if r, ok := a.fromLease(keep); ok {
			a.mu.Unlock()
			return r, nil
		}
		if time.Now().Before(a.wait) {
			a.mu.Unlock()
			return fiscope.Reservation{Grant: fiscope.QuotaWait}, nil
		}
		if a.filling != nil { // somebody fetches a lease
			filled := a.filling
			a.mu.Unlock()
			select {
			case <-filled:
			case <-ctx.Done():
			}
			continue
		}
		var filled chan struct{}
		if s.lease > 1 {
			filled = make(chan struct{})
			a.filling = filled
		}
		r, seq := a.request(s, s.lease, keep)
		a.mu.Unlock()

		got, err := s.run(ctx, name, a, r, seq)

		a.mu.Lock()
		if filled != nil {
			close(filled)
			a.filling = nil
		}
		reservation, err := s.decide(ctx, name, a, r, got, err)
		a.mu.Unlock()
		return reservation, err
	}
}

// decide makes a reservation of Redis' answer. It is called with the lock held.
func (s *Store) decide(ctx context.Context, name string, a *account, r request, got reply, err error) (fiscope.Reservation, error) {
	now := time.Now()
	if err != nil {
		a.failed(r.news)
		if ctx.Err() != nil {
			return fiscope.Reservation{}, ctx.Err()
		}
		a.expire(now)
		if r.keep == 0 || a.view.left >= r.keep {
			if own, ok := a.fromShare(); ok {
				return own, nil
			}
		}
		return fiscope.Reservation{Grant: fiscope.QuotaSpent}, nil
	}
	a.see(got, r)
	a.expire(now)
	spent := fiscope.Reservation{Grant: fiscope.QuotaSpent, Left: got.left}
	if got.view.kind != "p" && got.view.reset > 0 {
		spent.Until = time.UnixMilli(got.view.reset).UTC()
	}
	switch got.status {
	case statusDay:
		s.deposit(name, a, got, got.units-1)
		return fiscope.Reservation{Token: unitOfDay + strconv.FormatInt(got.view.reset, 10)}, nil
	case statusOpen:
		return fiscope.Reservation{Token: unitOfOpen}, nil
	case statusProbe:
		return fiscope.Reservation{Token: unitOfProbe + r.token}, nil
	case statusWait:
		a.wait = now.Add(waitPause)
		return fiscope.Reservation{Grant: fiscope.QuotaWait}, nil
	case statusSpent:
		if got.left == 0 && r.keep == 0 {
			if own, ok := a.fromShare(); ok {
				return own, nil
			}
		}
		return spent, nil
	}
	return fiscope.Reservation{Grant: fiscope.QuotaSpent}, nil
}

// Settle implements [fiscope.Store]. It asks Redis only where the others must know at once: after a
// probe or without a count, and where the quota turns out to be spent, to be of another day, or to be
// given back by a process without leases. Everything else goes along with the next reservation.
func (s *Store) Settle(ctx context.Context, name string, reservation fiscope.Reservation, o fiscope.Outcome) error {
	a := s.account(name)
	a.mu.Lock()
	a.expire(time.Now())
	var r request
	kind, id := reservation.Token, ""
	if kind != "" {
		kind, id = reservation.Token[:1], reservation.Token[1:]
	}
	urgent := a.note(o)
	switch kind {
	case unitOfDay, unitOfShare:
		reset, _ := strconv.ParseInt(id, 10, 64)
		urgent = s.unit(name, a, kind, reset, o.Written) || urgent
	case unitOfOpen, unitOfProbe:
		a.ended++
		r.probe, urgent = strings.TrimSpace(id), true
	}
	if r.verdict = verdict(o); r.verdict == "spent" && a.view.kind != "h" {
		urgent = true
	}
	if !urgent {
		a.mu.Unlock()
		return nil
	}
	a.mu.Unlock()
	return s.tell(ctx, name, a, r)
}

// verdict says what an answer without a count means.
func verdict(o fiscope.Outcome) string {
	switch {
	case o.RateLimit != nil && o.RateLimit.Remaining != fiscope.NoHeader:
		return "header"
	case o.StatusCode == http.StatusTooManyRequests:
		return "spent"
	case o.StatusCode == 0 || o.StatusCode >= 500:
		return "none"
	}
	return "open"
}

// unit settles a reservation of the day's count, or of the share: what was not sent is there again. It
// reports whether Redis must know at once. It is called with the lock held.
func (s *Store) unit(name string, a *account, kind string, reset int64, written int) (urgent bool) {
	if !sameDay(a.view.reset, reset) || a.view.epoch == "" || a.view.kind == "p" {
		return false // of a day that is over
	}
	switch {
	case written == 0 && kind == unitOfShare:
		a.share.units++
	case written == 0 && s.lease > 1:
		s.deposit(name, a, reply{left: a.view.left, view: a.view}, 1)
	case written == 0:
		a.pending.back++
		return true
	case written > 1: // net/http repeated it by itself
		extra := written - 1
		leased := min(extra, a.lease.units)
		a.lease.units -= leased
		a.pending.extra += extra - leased
		return extra > leased
	}
	return false
}

// tell says to Redis what is pending, and asks for nothing.
func (s *Store) tell(ctx context.Context, name string, a *account, r request) error {
	a.mu.Lock()
	told, seq := a.request(s, 0, 0)
	told.probe, told.verdict = r.probe, r.verdict
	if r.share < 0 {
		told.share = r.share
	}
	a.mu.Unlock()
	got, err := s.run(ctx, name, a, told, seq)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.failed(told.news)
		return err
	}
	a.see(got, told)
	return nil
}

// deposit keeps queries of the day's count for this process. It is called with the lock held.
func (s *Store) deposit(name string, a *account, of reply, units int) {
	if units <= 0 {
		return
	}
	if a.lease.units == 0 {
		a.lease = lease{left: of.left, reset: of.view.reset, until: of.view.until, timer: a.lease.timer}
	}
	a.lease.units += units
	a.lease.left = min(a.lease.left, of.left)
	if a.lease.timer == nil {
		a.lease.timer = time.AfterFunc(leaseTime, func() { s.unlease(name, a) })
	} else {
		a.lease.timer.Reset(leaseTime)
	}
}

// unlease gives back what is left of a lease.
func (s *Store) unlease(name string, a *account) {
	a.mu.Lock()
	a.expire(time.Now())
	a.pending.back += a.lease.units
	a.lease.units = 0
	nothing := a.pending.back == 0
	a.mu.Unlock()
	if nothing {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	_ = s.tell(ctx, name, a, request{})
}

// release gives back leases and the share.
func (s *Store) release(ctx context.Context, name string, a *account) error {
	a.mu.Lock()
	a.expire(time.Now())
	if a.lease.timer != nil {
		a.lease.timer.Stop()
	}
	a.pending.back += a.lease.units + a.share.units
	a.lease.units, a.share.units = 0, 0
	had := a.share.epoch != ""
	a.share = share{}
	nothing := a.pending.back == 0 && !had
	a.mu.Unlock()
	if nothing {
		return nil
	}
	return s.tell(ctx, name, a, request{share: -1})
}

// late takes an answer for which nobody waited: what it grants is not lost.
func (s *Store) late(name string, a *account, probe string, got reply) {
	a.mu.Lock()
	a.see(got, request{})
	var r request
	switch got.status {
	case statusDay:
		s.deposit(name, a, got, got.units)
		a.mu.Unlock()
		return
	case statusProbe:
		r.probe, r.verdict = probe, "none"
	case statusOpen:
	default:
		a.mu.Unlock()
		return
	}
	a.ended++
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	_ = s.tell(ctx, name, a, r)
}
