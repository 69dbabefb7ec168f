package quota_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/quota"
)

// service is what is simulated: the quota of a day, and how its headers tell of it.
type service struct {
	raised  int           // what is added at noon to the daily quota
	skew    time.Duration // its clock before ours
	silent  float64       // the part of the answers that carry no headers
	failing float64       // the part of the attempts that fail, half of them free
	longest time.Duration // of an answer; the way back takes as long as the way there
	reset   func(end, now time.Time, r *rand.Rand) time.Time
}

// simulated is a service under way.
type simulated struct {
	service
	mu       sync.Mutex
	random   *rand.Rand
	day      int
	left     int
	grown    bool
	answered map[int]int // by day
	refused  map[int]int
	firstOf  map[int]time.Time // our time of the first answer of a day
}

const (
	dayLength  = 24 * time.Hour
	dailyQuota = 500
)

var midnight = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // when a bubble begins

// float is a random number that many may draw.
func (s *simulated) float() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.Float64()
}

func (s *simulated) way() { time.Sleep(time.Duration(s.float() * float64(s.longest) / 2)) }

// ask is an attempt.
func (s *simulated) ask() quota.Outcome {
	s.way()
	o := s.serve()
	s.way()
	return o
}

func (s *simulated) serve() quota.Outcome {
	silent, fails := s.float() < s.silent, s.float() < s.failing
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now().Add(s.skew)
	day := int(now.Sub(midnight) / dayLength)
	if now.Before(midnight) {
		day = -1
	}
	if day != s.day {
		s.day, s.left, s.grown = day, dailyQuota, false
	}
	if !s.grown && s.raised > 0 && now.Sub(midnight)%dayLength >= dayLength/2 {
		s.left += s.raised
		s.grown = true
	}
	o := quota.Outcome{Written: 1, Answer: quota.Served}
	switch {
	case fails:
		if s.left > 0 && s.random.IntN(2) == 0 {
			s.left--
			s.answered[day]++
		}
		return quota.Outcome{Written: 1}
	case s.left == 0:
		o.Answer = quota.Refused
		s.refused[day]++
	default:
		s.left--
		s.answered[day]++
		if s.firstOf[day].IsZero() {
			s.firstOf[day] = time.Now()
		}
	}
	if !silent {
		end := midnight.Add(time.Duration(day+1) * dayLength)
		o.Headers = &quota.Headers{Remaining: s.left, Reset: s.reset(end, now, s.random)}
	}
	return o
}

func fixed(end, _ time.Time, _ *rand.Rand) time.Time { return end }

func trembling(by time.Duration) func(time.Time, time.Time, *rand.Rand) time.Time {
	return func(end, _ time.Time, r *rand.Rand) time.Time {
		return end.Add(time.Duration(r.Int64N(int64(2*by))) - by)
	}
}

func always24h(_, now time.Time, _ *rand.Rand) time.Time { return now.Add(dayLength) }

// Three days of a service of which a day's quota is more than used up by noon.
func TestAServiceThroughTheGate(t *testing.T) {
	for name, s := range map[string]service{
		"a fixed reset":                        {reset: fixed},
		"one that trembles by milliseconds":    {reset: trembling(time.Millisecond)},
		"one that trembles by seconds":         {reset: trembling(3 * time.Second)},
		"always a day from now":                {reset: always24h},
		"our clock is behind":                  {reset: fixed, skew: 4 * time.Minute},
		"our clock is ahead":                   {reset: fixed, skew: -4 * time.Minute},
		"our clock is ahead, and it trembles":  {reset: trembling(time.Second), skew: -4 * time.Minute},
		"most answers carry no headers":        {reset: fixed, silent: 0.8},
		"some fail":                            {reset: fixed, failing: 0.1},
		"raised at noon":                       {reset: fixed, raised: 200},
		"raised at noon, a day from now":       {reset: always24h, raised: 200},
		"all of it":                            {reset: trembling(time.Second), raised: 200, silent: 0.5, failing: 0.1, skew: -2 * time.Minute},
		"answers are very slow":                {reset: fixed, longest: 2 * time.Minute},
		"answers are very slow, and some fail": {reset: trembling(time.Second), longest: 2 * time.Minute, failing: 0.2},
	} {
		for seed := range uint64(2) {
			for _, reserve := range []int{0, 50} {
				t.Run(fmt.Sprintf("%s, seed %d, reserve %d", name, seed, reserve), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { simulate(t, s, seed, reserve) })
				})
			}
		}
	}
}

func simulate(t *testing.T, of service, seed uint64, reserve int) {
	const workers, days = 16, 3
	s := &simulated{
		service: of, random: rand.New(rand.NewPCG(seed, 3)), day: -2,
		answered: map[int]int{}, refused: map[int]int{}, firstOf: map[int]time.Time{},
	}
	if s.longest == 0 {
		s.longest = 20 * time.Second
	}
	var gate quota.Gate
	var wg sync.WaitGroup
	end := midnight.Add(days*dayLength - time.Hour)
	for range workers {
		wg.Go(func() {
			for time.Now().Before(end) {
				ticket, err := gate.Enter(context.Background(), reserve)
				var spent *quota.Spent
				switch {
				case err == nil:
					gate.Leave(ticket, s.ask())
				case !errors.As(err, &spent):
					t.Error(err)
				case spent.Until.Before(time.Now()):
					t.Error("it says to come again in the past", spent)
				}
				time.Sleep(time.Duration(s.float() * float64(3*time.Minute)))
			}
		})
	}
	wg.Wait()

	always := s.reset(midnight, midnight, s.random).After(midnight.Add(time.Hour))
	for day := range days {
		most := dailyQuota + s.raised - reserve
		if s.skew < 0 {
			most = dailyQuota + s.raised // in the minutes in which our clock is ahead, nothing is known
		}
		if s.failing > 0 || s.silent > 0 {
			most += workers // what was under way when a header came may have been counted in it, or not
		}
		assert.LessOrEqual(t, s.answered[day], most, "day %d", day)
		if always && day > 0 && reserve > 0 {
			continue // what only a reserve refuses is never tried again
		}
		least := dailyQuota - reserve - workers
		if s.failing > 0 {
			least -= reserve + 100 // a failure may have been free
		}
		if s.raised > 0 && reserve == 0 {
			least += s.raised
		}
		assert.GreaterOrEqual(t, s.answered[day], least, "day %d", day)
		assert.LessOrEqual(t, s.refused[day], 60+workers, "day %d: looks, and what was under way at the end", day)
		if begins := midnight.Add(time.Duration(day) * dayLength).Add(-s.skew); day > 0 && s.firstOf[day].Sub(begins) > 10*time.Minute && !always {
			t.Errorf("day %d opens only after %s", day, s.firstOf[day].Sub(begins))
		}
	}
}
