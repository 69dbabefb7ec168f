package redisstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allGoOn has the first attempt answered without headers, and returns attempts that left while no day is known.
func allGoOn(b *bed, s *redisstore.Store, n int) (left []fiscope.Reservation) {
	b.t.Helper()
	b.settle(s, b.granted(s), silent)
	for range n {
		left = append(left, b.granted(s))
	}
	return left
}

// A header of an attempt that left while no day was known says something of the day that is known by now only where
// its reset is that of the day.
func TestAHeaderOfAnAttemptThatLeftBeforeTheDay(t *testing.T) {
	for name, late := range map[string]struct {
		reset time.Duration // 0 for none
		want  int
	}{
		"no reset":                    {0, 49},
		"the reset of another day":    {2 * time.Hour, 49},
		"the reset of the day":        {26 * time.Hour, 3},
		"a reset that trembles":       {26*time.Hour - time.Second, 3},
		"a reset farther than can be": {49 * time.Hour, 49},
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := b.store()
				left := allGoOn(b, s, 2)
				b.settle(s, left[0], header(50, in(26*time.Hour)))
				o := header(3, in(late.reset))
				if late.reset == 0 {
					o = header(3, time.Time{})
				}
				b.settle(s, left[1], o)
				assert.Equal(t, late.want, b.drain(s))
			})
		})
	}
}

func TestAHeaderWhoseResetIsTooFarSaysNothing(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(), b.store()
		b.settle(s, b.granted(s), header(0, in(49*time.Hour)))
		b.granted(other)
		b.granted(s) // as without headers: all go on
	})
}

func TestMoreAreUnderWayThanAreLeft(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		left := allGoOn(b, s, 5)
		reset := in(time.Hour)
		b.settle(s, left[0], header(2, reset))
		assert.Equal(t, reset.UTC(), b.reserve(s, 0).Until, "it is spent")
	})
}

// What was under way when a day began is left out of that day alone.
func TestWhatWasUnderWayIsLeftOutOnce(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		left := allGoOn(b, s, 3) // two are never heard of
		b.settle(s, left[0], header(10, in(10*time.Second)))
		assert.Equal(t, 8, b.drain(s))
		time.Sleep(11 * time.Second)
		b.open(s, 20, in(time.Hour))
		assert.Equal(t, 20, b.drain(s))
	})
}

// An attempt of which nothing is heard is left out of a day that begins within ten minutes.
func TestWhatIsNeverHeardOf(t *testing.T) {
	for minutes, want := range map[time.Duration]int{9: 8, 11: 10} {
		t.Run(fmt.Sprint(minutes, " minutes"), func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := b.store()
				left := allGoOn(b, s, 3)
				time.Sleep(minutes * time.Minute)
				b.settle(s, left[0], header(10, in(time.Hour)))
				assert.Equal(t, want, b.drain(s))
			})
		})
	}
}

// A later reset began the next day: what comes of the day before says nothing of it, though it names no reset.
func TestWhatComesOfTheDayBefore(t *testing.T) {
	for name, o := range map[string]fiscope.Outcome{
		"a header without a reset": header(3, time.Time{}),
		"nothing, it was not sent": {},
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				one, other := b.store(), b.store()
				b.open(one, 200, in(2*time.Hour))
				slow := b.granted(one)
				b.settle(other, b.granted(other), header(50, in(26*time.Hour)))
				b.settle(one, slow, o)
				assert.Equal(t, 50, b.drain(one)+b.drain(other))
			})
		})
	}
}

func TestAHeaderWithoutAResetLowersTheDay(t *testing.T) {
	for _, remaining := range []int{3, 0} {
		t.Run(fmt.Sprint(remaining), func(t *testing.T) {
			onBed(t, func(b *bed) {
				s, other := b.store(), b.store()
				b.open(s, 100, in(5*time.Hour))
				b.settle(s, b.granted(s), header(remaining, time.Time{}))
				assert.Equal(t, remaining, b.drain(s)+b.drain(other))
			})
		})
	}
}

func TestAResetAloneSaysNothingOfWhatIsLeft(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		b.open(s, 100, in(5*time.Hour))
		b.settle(s, b.granted(s), header(fiscope.NoHeader, in(5*time.Hour)))
		assert.Equal(t, 99, b.drain(s))
	})
}

func TestAFleetThatIsHeldHasNothingLeft(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		b.open(s, 100, time.Time{})
		b.settle(s, b.granted(s), fiscope.Outcome{Written: 1, StatusCode: 429})
		assert.Equal(t, fiscope.Reservation{Grant: fiscope.QuotaSpent}, b.reserve(s, 5))
	})
}

// A query of the day that was not sent is not kept for the share.
func TestAQueryOfTheDayThatWasNotSentIsOfTheDay(t *testing.T) {
	onBed(t, func(b *bed) {
		s := sharing(b, 1)[0]
		before := b.left()
		b.settle(s, b.granted(s), fiscope.Outcome{})
		assert.Equal(t, before, b.left())
	})
}

func TestWhatWasNotGrantedIsNotSettled(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		assert.Zero(t, b.trips(func() { b.settle(s, fiscope.Reservation{Grant: fiscope.QuotaSpent}, silent) }))
	})
}

// However many headers without a reset come, they open a day for a minute.
func TestADayWithoutAResetLastsAMinute(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(), b.store()
		b.open(s, 100, time.Time{})
		time.Sleep(50 * time.Second)
		b.settle(s, b.granted(s), header(98, time.Time{}))
		b.granted(s) // tells
		time.Sleep(11 * time.Second)
		b.granted(s)
		assert.Equal(t, fiscope.QuotaWait, b.reserve(other, 0).Grant, "one goes first again")
	})
}

// A later reset began the next day: nobody has a share of it yet.
func TestTheNextDayHasSharesOfItsOwn(t *testing.T) {
	onBed(t, func(b *bed) {
		s := sharing(b, 1)[0]
		b.settle(s, b.granted(s), header(50, in(26*time.Hour)))
		b.granted(s)
		assert.Equal(t, "44", b.left(), "of 50: one, and 5 in the share")
	})
}

// The reset is in milliseconds.
func TestALeaseEndsWithItsDay(t *testing.T) {
	onBed(t, func(b *bed) {
		time.Sleep(600 * time.Millisecond)
		s, other := b.store(redisstore.WithLease(20)), b.store()
		b.open(s, 1000, time.Now().Add(400*time.Millisecond))
		b.granted(s)
		time.Sleep(500 * time.Millisecond)
		b.granted(s)
		assert.Equal(t, fiscope.QuotaWait, b.reserve(other, 0).Grant, "one goes first")
	})
}

func TestAHeaderWithoutAResetSetsNoShareAside(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store(redisstore.WithShare(5))
		b.open(s, 50, time.Time{})
		b.settle(s, b.granted(s), silent)
		assert.Equal(t, "49", b.left())
	})
}

// A share leaves to others what its process keeps for them, and the query that it asks for.
func TestAShareOfOneWhoKeepsSome(t *testing.T) {
	onBed(t, func(b *bed) {
		other := b.store()
		b.open(other, 100, in(time.Hour))
		for range 88 {
			b.settle(other, b.granted(other), silent)
		}
		b.require(b.store(redisstore.WithShare(5)), 8)
		assert.Equal(t, "8", b.left(), "of 12: one, and 3 in the share")
		late := b.store(redisstore.WithShare(5), redisstore.WithName("late"))
		assert.Equal(t, fiscope.QuotaSpent, b.reserve(late, 50).Grant)
	})
}

func TestAQueryOfTheShareThatWasNotSentIsOfTheShare(t *testing.T) {
	onBed(t, func(b *bed) {
		s := sharing(b, 1)[0]
		b.fail.Store(true)
		b.settle(s, b.granted(s), fiscope.Outcome{})
		assert.Equal(t, 5, b.drain(s))
	})
}

// net/http repeated an attempt by itself: what left beyond its query is of the lease, and then of what is left.
func TestWhatLeftBeyondAQueryOfALease(t *testing.T) {
	for _, written := range []int{3, 20, 30} {
		t.Run(fmt.Sprint(written), func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := b.store(redisstore.WithLease(20))
				b.open(s, 400, in(time.Hour))
				b.settle(s, b.granted(s), fiscope.Outcome{Written: written, StatusCode: 200})
				assert.Equal(t, 400-written, b.drain(s))
			})
		})
	}
}

func TestOneOfTheSameNameReleasesNoShareOfAnother(t *testing.T) {
	onBed(t, func(b *bed) {
		sharing(b, 1)
		again := b.store(redisstore.WithShare(5), redisstore.WithName("a"))
		b.settle(again, b.granted(again), silent)
		require.NoError(t, again.Release(context.Background()))
		assert.Equal(t, 100-1-1-5, b.drain(b.store()))
	})
}

func TestNobodyGoesToSeeWhereHeadersDoNotSayThatItIsSpent(t *testing.T) {
	for name, spend := range map[string]func(*bed) *redisstore.Store{
		"some are kept": func(b *bed) *redisstore.Store {
			s := b.store()
			b.open(s, 50, in(time.Hour))
			return s
		},
		"it was configured": func(b *bed) *redisstore.Store {
			s := b.store(redisstore.WithDailyQuota(2))
			b.drain(s)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := spend(b)
				for range 3 {
					assert.Equal(t, fiscope.QuotaSpent, b.reserve(s, 50).Grant)
					time.Sleep(16 * time.Minute)
				}
			})
		})
	}
}

func TestALookThatWasNotSentIsNoQuery(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		b.open(s, 1, in(time.Hour))
		require.Equal(t, 1, b.drain(s))
		time.Sleep(16 * time.Minute)
		b.settle(s, b.granted(s), fiscope.Outcome{})
		assert.Zero(t, b.drain(s))
	})
}

func TestWhoGivesAQueryBackIsNotRefusedIt(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		b.open(s, 2, in(time.Hour))
		held := b.granted(s)
		require.Equal(t, 1, b.drain(s))
		b.settle(s, held, fiscope.Outcome{})
		b.granted(s)
	})
}

func TestWhileAllGoOnAnAnswerCostsNoRoundTrip(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		left := allGoOn(b, s, 5)
		assert.Zero(t, b.trips(func() {
			for _, r := range left {
				b.settle(s, r, silent)
			}
		}))
	})
}

// The headers of a day that WithDailyQuota began.
func TestTheFirstHeadersOfAConfiguredDay(t *testing.T) {
	for name, first := range map[string]struct {
		remaining int
		reset     time.Duration // 0 for none
		share     int
		want      int
	}{
		"it counts what was taken, and no more":      {95, 20 * time.Hour, 0, 90},
		"it counts more":                             {80, 20 * time.Hour, 0, 80 - 9},
		"it counts more, and names no reset":         {80, 0, 0, 80},
		"it counts more than is left of it":          {5, 20 * time.Hour, 0, 0},
		"it counts more, and some are in shares":     {70, 20 * time.Hour, 5, 70 - 9 - 5 + 5},
		"its day ends before midnight":               {80, 2 * time.Hour, 0, 80 - 9},
		"its day ends after midnight, and is longer": {95, 30 * time.Hour, 0, 90},
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				opts := []redisstore.Option{redisstore.WithDailyQuota(100), redisstore.WithShare(first.share)}
				s := b.store(opts...)
				var held []fiscope.Reservation
				for range 10 {
					held = append(held, b.granted(s))
				}
				o, until := header(first.remaining, in(first.reset)), in(first.reset)
				if first.reset == 0 { // then it ends at midnight in Lima
					o, until = header(first.remaining, time.Time{}), time.Date(2000, 1, 1, 5, 0, 0, 0, time.UTC)
				}
				for i, r := range held {
					if i == 0 {
						b.settle(s, r, o)
						continue
					}
					b.settle(s, r, silent)
				}
				assert.Equal(t, first.want, b.drain(s))
				assert.Equal(t, until.UTC(), b.reserve(s, 0).Until)
			})
		})
	}
}

// A header of an attempt that left before a process said what is granted, and could take nothing.
func TestAHeaderOfAConfiguredDayOfWhichNothingWasTaken(t *testing.T) {
	onBed(t, func(b *bed) {
		s, configured := b.store(), b.store(redisstore.WithDailyQuota(10))
		left := allGoOn(b, s, 1)
		time.Sleep(time.Minute)
		require.Equal(t, fiscope.QuotaSpent, b.reserve(configured, 10).Grant)
		b.settle(s, left[0], header(5, in(20*time.Hour)))
		time.Sleep(time.Second)
		assert.Equal(t, 5, b.drain(configured))
	})
}

// A reset within an hour of the day's is the day's: the later of them.
func TestAResetThatTrembles(t *testing.T) {
	for name, tremble := range map[string]time.Duration{"later": 30 * time.Minute, "earlier": -30 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := b.store()
				reset := in(5 * time.Hour)
				b.open(s, 10, reset)
				b.settle(s, b.granted(s), header(5, reset.Add(tremble)))
				assert.Equal(t, 5, b.drain(s))
				assert.Equal(t, reset.Add(max(0, tremble)).UTC(), b.reserve(s, 0).Until)
			})
		})
	}
}

// What ended after the first attempt left, of a day that Redis forgot, is not in what its header says.
func TestWhatEndedWhileTheFirstAttemptWasUnderWay(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		reset := in(time.Hour)
		b.open(one, 100, reset)
		var held []fiscope.Reservation
		for range 10 {
			held = append(held, b.granted(other))
		}
		b.mini.FlushAll()
		time.Sleep(time.Second)
		first := b.granted(one)
		time.Sleep(time.Second)
		for _, r := range held[:4] {
			b.settle(other, r, silent)
		}
		time.Sleep(time.Second)
		b.settle(one, first, header(99, reset)) // none of them had arrived
		b.granted(other)
		assert.Equal(t, 99-10-1, b.drain(one)+b.drain(other))
	})
}

// What lives longer than we let it is not ours.
func TestAHoldThatIsTooLongIsNotOurs(t *testing.T) {
	for _, key := range []string{"hold", "probe", "open"} {
		t.Run(key, func(t *testing.T) {
			onBed(t, func(b *bed) {
				require.NoError(t, b.client.Set(context.Background(), "fiscope:{"+account+"}:quota:3:"+key, "x", 10*24*time.Hour).Err())
				one, other := b.store(), b.store()
				b.granted(one)
				assert.Equal(t, fiscope.QuotaWait, b.reserve(other, 0).Grant)
			})
		})
	}
}
