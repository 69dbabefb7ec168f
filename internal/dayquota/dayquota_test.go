package dayquota_test

import (
	"encoding/json"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/internal/dayquota"
	"github.com/fiscope/fiscope/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	noon     = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	midnight = noon.Add(12 * time.Hour)
)

// account is a Day at a time that is moved by hand. Each step goes through JSON, as in a Store.
type account struct {
	t   *testing.T
	day dayquota.Day
	now time.Time
}

func open(t *testing.T) *account { return &account{t: t, now: noon} }

func (a *account) keep() {
	a.t.Helper()
	text, err := json.Marshal(a.day)
	require.NoError(a.t, err)
	a.day = dayquota.Day{}
	require.NoError(a.t, json.Unmarshal(text, &a.day))
}

func (a *account) reserve(keep int) store.Reservation {
	a.t.Helper()
	defer a.keep()
	return a.day.Reserve(a.now, keep)
}

func (a *account) commit(r store.Reservation, o store.Outcome) {
	a.t.Helper()
	defer a.keep()
	a.day.Commit(a.now, r, o)
}

// wants reserves, checks the grant, and returns the reservation.
func (a *account) wants(g store.Grant) store.Reservation {
	a.t.Helper()
	r := a.reserve(0)
	require.Equal(a.t, g, r.Grant, "%+v", a.day)
	return r
}

// asks makes an attempt to the end.
func (a *account) asks(g store.Grant, o store.Outcome) {
	a.t.Helper()
	a.commit(a.wants(g), o)
}

// left counts what is granted, with answers that have no header.
func (a *account) left() int {
	a.t.Helper()
	for n := 0; ; n++ {
		r := a.reserve(0)
		if r.Grant != store.Granted || n == 1000 {
			return n
		}
		a.commit(r, silent)
	}
}

var (
	unsent  = store.Outcome{Remaining: -1}
	failed  = store.Outcome{Written: 1, Remaining: -1}
	silent  = store.Outcome{Written: 1, Served: true, Remaining: -1}
	refused = store.Outcome{Written: 1, Refused: true, Remaining: -1}
)

func says(left int) store.Outcome {
	return store.Outcome{Written: 1, Served: true, Remaining: left, Reset: midnight}
}

func with(o store.Outcome, change func(*store.Outcome)) store.Outcome {
	change(&o)
	return o
}

func TestWithoutAHeaderAllIsGranted(t *testing.T) {
	for name, o := range map[string]store.Outcome{
		"no header":                silent,
		"failures":                 failed,
		"no reset":                 {Written: 1, Served: true},
		"a reset in three days":    with(says(0), func(o *store.Outcome) { o.Reset = noon.Add(72 * time.Hour) }),
		"a reset that is over":     with(says(0), func(o *store.Outcome) { o.Reset = noon }),
		"a reset without a number": with(says(-1), func(*store.Outcome) {}),
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t)
			a.asks(store.Granted, o)
			assert.Equal(t, 1000, a.left())
			assert.Zero(t, a.day.Left)
		})
	}
}

func TestAHeaderSaysWhatIsLeft(t *testing.T) {
	for name, test := range map[string]struct {
		first, then store.Outcome
		left        int
	}{
		"one":                  {says(10), silent, 9},
		"no header counts":     {says(10), with(silent, func(o *store.Outcome) { o.Written = 3 }), 7},
		"a failure counts":     {says(10), failed, 9},
		"what was not sent":    {says(10), unsent, 10},
		"a lower one":          {says(10), says(4), 4},
		"a higher one":         {says(10), says(40), 40},
		"without a reset":      {says(10), store.Outcome{Written: 1, Remaining: 4}, 4},
		"a reset too far":      {says(10), with(says(4), func(o *store.Outcome) { o.Reset = noon.Add(72 * time.Hour) }), 4},
		"an hour later":        {says(10), with(says(4), func(o *store.Outcome) { o.Reset = midnight.Add(time.Hour) }), 4},
		"an hour sooner":       {says(10), with(says(4), func(o *store.Outcome) { o.Reset = midnight.Add(-time.Hour) }), 4},
		"one of a retry":       {says(10), with(says(40), func(o *store.Outcome) { o.Written = 3 }), 40},
		"a reset that is over": {says(10), with(says(0), func(o *store.Outcome) { o.Reset = noon }), 9},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t)
			a.asks(store.Granted, test.first)
			a.asks(store.Granted, test.then)
			assert.Equal(t, test.left, a.left())
			assert.Equal(t, store.Reservation{Grant: store.Spent, Until: midnight}, a.reserve(0))
		})
	}
}

func TestWhatAHeaderDoesNotCountIsTakenOff(t *testing.T) {
	a := open(t)
	first, second, third := a.wants(store.Granted), a.wants(store.Granted), a.wants(store.Granted)
	a.commit(second, says(100))
	assert.Equal(t, 98, a.day.Left, "it cannot count the third; whether it counts the first is not known")
	a.commit(first, says(99))
	assert.Equal(t, 98, a.day.Left)
	a.commit(third, unsent)
	assert.Equal(t, 99, a.day.Left)
	a.asks(store.Granted, says(99))
	assert.Equal(t, 99, a.day.Left, "reserved after all that is known was committed: it is right")
	for range 10 {
		a.asks(store.Granted, silent)
	}
	a.asks(store.Granted, says(89))
	assert.Equal(t, 89, a.day.Left)
}

func TestTheLowerOfTwoHeadersCounts(t *testing.T) {
	a := open(t)
	late := a.wants(store.Granted)
	a.asks(store.Granted, says(500))
	a.commit(late, says(900))
	assert.Equal(t, 500, a.day.Left)
	late, odd := a.wants(store.Granted), a.wants(store.Granted)
	assert.Equal(t, 498, odd.Left)
	assert.True(t, odd.Served)
	a.commit(odd, says(10))
	for range 5 {
		a.asks(store.Granted, silent)
	}
	a.commit(late, says(12))
	assert.Equal(t, 5, a.day.Left, "it was reserved before that was known")
	a.asks(store.Granted, says(479))
	assert.Equal(t, 479, a.day.Left, "this one after it")
}

func TestAHeaderThatSaysWhatWasKnownRefusesNoOther(t *testing.T) {
	a := open(t)
	a.asks(store.Granted, says(2))
	first, second := a.wants(store.Granted), a.wants(store.Granted)
	a.commit(second, says(0))
	a.commit(first, says(100))
	a.wants(store.Granted)
}

func TestAReserveIsKept(t *testing.T) {
	a := open(t)
	assert.Equal(t, store.Granted, a.reserve(200).Grant, "nothing is known")
	a.asks(store.Granted, says(202))
	assert.Equal(t, 201, a.day.Left)
	assert.Equal(t, store.Granted, a.reserve(200).Grant)
	assert.Equal(t, store.Reservation{Grant: store.Spent, Left: 200, Until: midnight}, a.reserve(200))
	assert.Equal(t, 200, a.left(), "others may use it")
	a.now = a.now.Add(time.Hour)
	assert.Equal(t, store.Reservation{Grant: store.Spent, Until: midnight}, a.reserve(1), "no probe")
	a.asks(store.Probe, refused)
	a.now = midnight
	assert.Equal(t, store.Probe, a.reserve(200).Grant, "the day should be new")
}

func TestASpentDayIsProbedOnceAMinute(t *testing.T) {
	a := open(t)
	a.asks(store.Granted, says(0))
	for range 3 {
		a.now = a.now.Add(time.Minute - 1)
		assert.Equal(t, store.Reservation{Grant: store.Spent, Until: midnight}, a.reserve(0))
		a.now = a.now.Add(1)
		probe := a.wants(store.Probe)
		a.wants(store.Spent)
		a.commit(probe, with(says(0), func(o *store.Outcome) { o.Served = false }))
	}
	a.now = a.now.Add(time.Minute)
	a.commit(a.wants(store.Probe), unsent)
	a.asks(store.Probe, says(4))
	a.asks(store.Granted, says(0)) // one node of two says 0
	a.asks(store.Granted, says(2))
	assert.Equal(t, 1, a.wants(store.Granted).Left)
}

func TestAProbeThatIsServedEndsTheBeliefInHeaders(t *testing.T) {
	for name, o := range map[string]store.Outcome{"0 again": says(0), "no header": silent} {
		t.Run(name, func(t *testing.T) {
			a := open(t)
			a.asks(store.Granted, says(1))
			assert.Equal(t, 1, a.left(), "the count says so as a header does")
			a.now = a.now.Add(time.Minute)
			a.asks(store.Probe, o)
			for range 9 {
				a.asks(store.Granted, says(0))
			}
			assert.Equal(t, store.Spent, a.reserve(1).Grant, "a reserve believes the header")
			a.asks(store.Granted, refused)
			a.wants(store.Spent)
			a.now = a.now.Add(15*time.Minute - 1)
			a.wants(store.Spent)
			a.now = a.now.Add(1)
			a.asks(store.Probe, says(0))
			a.asks(store.Granted, says(0))
			a.now = midnight
			tomorrow := with(says(0), func(o *store.Outcome) { o.Reset = midnight.Add(24 * time.Hour) })
			a.asks(store.Granted, tomorrow)
			a.wants(store.Spent)
		})
	}
}

func TestARefusedDayIsProbedEvery15Minutes(t *testing.T) {
	empty := with(says(0), func(o *store.Outcome) { o.Served, o.Refused = false, true })
	for name, test := range map[string]struct {
		header, refusal store.Outcome
		left            int
		until           time.Time
	}{
		"a day with queries left": {says(9), refused, 7, noon.Add(15 * time.Minute)},
		"an empty day":            {says(300), empty, 0, midnight},
		"no day":                  {silent, refused, -1, noon.Add(15 * time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t)
			a.asks(store.Granted, test.header)
			underWay := a.wants(store.Granted)
			a.asks(store.Granted, test.refusal)
			a.commit(underWay, silent)
			assert.Equal(t, store.Reservation{Grant: store.Spent, Left: test.left, Until: test.until}, a.reserve(0))
			for range 5 {
				a.now = a.now.Add(15 * time.Minute)
				a.asks(store.Probe, refused)
				a.wants(store.Spent)
			}
			a.now = a.now.Add(15 * time.Minute)
			a.asks(store.Probe, failed)
			a.wants(store.Spent)
			a.now = a.now.Add(15 * time.Minute)
			a.asks(store.Probe, silent)
			a.asks(store.Granted, silent)
		})
	}
}

func TestAnAnswerOfBeforeAServedProbeIsOld(t *testing.T) {
	a := open(t)
	old := a.wants(store.Granted)
	a.asks(store.Granted, refused)
	a.now = a.now.Add(15 * time.Minute)
	a.asks(store.Probe, says(5))
	a.commit(old, says(400))
	assert.Equal(t, 4, a.day.Left, "the old attempt may not be counted")
	assert.Equal(t, 5, a.day.Most)
	a.commit(old, refused)
	a.asks(store.Granted, refused)
	a.now = a.now.Add(15 * time.Minute)
	a.asks(store.Probe, says(1))
	a.asks(store.Granted, says(0))
	a.wants(store.Spent) // no header said that none is left: they are believed
}

func TestTheFirstHeaderOfADayMayBeOfAnAttemptOfYesterday(t *testing.T) {
	a := open(t)
	a.asks(store.Granted, says(2))
	old := a.wants(store.Granted)
	a.now = midnight
	a.wants(store.Granted)
	a.commit(old, with(says(100), func(o *store.Outcome) { o.Reset = midnight.Add(24 * time.Hour) }))
	assert.Equal(t, 99, a.day.Left)
}

func TestADayThatWasClosedBeginsWithAProbe(t *testing.T) {
	tomorrow := with(says(50), func(o *store.Outcome) { o.Reset = midnight.Add(24 * time.Hour) })
	past := with(refused, func(o *store.Outcome) { o.Remaining, o.Reset = 0, midnight })
	for name, last := range map[string]store.Outcome{"a header": says(0), "a refusal": with(says(9), func(o *store.Outcome) { o.Served, o.Refused = false, true })} {
		for name2, byDate := range map[string]bool{"the clock": false, "a date": true} {
			t.Run(name+", "+name2, func(t *testing.T) {
				a := open(t)
				a.asks(store.Granted, last)
				if byDate {
					a.now = a.now.Add(time.Hour)
					a.asks(store.Probe, with(failed, func(o *store.Outcome) { o.Date = midnight }))
				} else {
					a.now = midnight
				}
				for _, o := range []store.Outcome{past, refused, failed} {
					a.asks(store.Probe, with(o, func(o *store.Outcome) { o.Date = midnight }))
					assert.Equal(t, store.Reservation{Grant: store.Spent, Left: -1, Until: a.now.Add(time.Minute)}, a.reserve(0))
					a.now = a.now.Add(time.Minute)
				}
				a.asks(store.Probe, tomorrow)
				assert.Equal(t, 50, a.left())
			})
		}
	}
}

func TestAServedProbeOpensTheNewDayWithoutAHeader(t *testing.T) {
	a := open(t)
	a.asks(store.Granted, says(0))
	a.now = midnight
	a.asks(store.Probe, silent)
	assert.Equal(t, 1000, a.left())
	tomorrow := with(says(0), func(o *store.Outcome) { o.Reset = midnight.Add(24 * time.Hour) })
	a.asks(store.Granted, tomorrow)
	a.wants(store.Spent)
}

func TestARefusalAfterTheResetOfItsHeader(t *testing.T) {
	a := open(t)
	a.asks(store.Granted, with(refused, func(o *store.Outcome) { o.Remaining, o.Reset = 0, noon.Add(-time.Second) }))
	a.now = a.now.Add(time.Minute)
	a.wants(store.Probe)
}

func TestTheNextDayIsTheServicesToBegin(t *testing.T) {
	a := open(t)
	a.asks(store.Granted, says(3))
	old := a.wants(store.Granted)
	a.asks(store.Granted, with(says(100), func(o *store.Outcome) { o.Reset = noon.Add(48 * time.Hour) }))
	assert.Equal(t, 99, a.day.Left, "one is under way")
	assert.Equal(t, 100, a.day.Most)
	a.commit(old, says(2))
	assert.Equal(t, 99, a.day.Left, "that was of yesterday")
	a.wants(store.Granted)
	second := a.wants(store.Granted)
	a.commit(second, with(says(150), func(o *store.Outcome) { o.Reset = noon.Add(48 * time.Hour) }))
	assert.Equal(t, 149, a.left(), "the first one is not known to be counted")
}

func TestAClockThatJumps(t *testing.T) {
	for name, test := range map[string]struct {
		jump time.Duration
		want store.Grant
	}{
		"back a little":  {-time.Hour, store.Probe},
		"back 36 hours":  {-36 * time.Hour, store.Probe},
		"back two days":  {-48 * time.Hour, store.Granted},
		"back ten years": {-10 * 8760 * time.Hour, store.Granted},
		"ahead a year":   {8760 * time.Hour, store.Probe},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t)
			a.asks(store.Granted, says(0))
			a.wants(store.Spent)
			a.now = a.now.Add(test.jump)
			a.asks(test.want, silent)
			a.wants(store.Granted)
		})
	}
}

func TestAStateThatWasLostKnowsNoneOfItsTokens(t *testing.T) {
	a := open(t)
	a.asks(store.Granted, says(10))
	old := a.wants(store.Granted)
	a.day, a.now = dayquota.Day{}, a.now.Add(time.Second)
	a.asks(store.Granted, says(9))
	a.commit(old, unsent)
	a.commit(store.Reservation{Token: "foreign"}, unsent)
	assert.Equal(t, 9, a.left())
}

func TestAGateIsADay(t *testing.T) {
	var gate dayquota.Gate
	r := gate.Reserve(noon, 0)
	assert.Equal(t, store.Granted, r.Grant)
	gate.Commit(noon, r, says(0))
	assert.Equal(t, store.Reservation{Grant: store.Spent, Until: midnight}, gate.Reserve(noon, 0))
}

// 60 goroutines use the quota of two days, and no more of it. Answers may have no headers; attempts are not sent, or fail.
func TestManyGoroutinesUseTheQuotaAndNoMore(t *testing.T) {
	const quota = 1500
	chance := func(percent int) bool { return rand.IntN(100) < percent }
	for unheaded, more := range map[int]int{0: 0, 50: 60, 90: 60} { // a probe served without a header opens a day until a refusal
		synctest.Test(t, func(t *testing.T) {
			var gate dayquota.Gate
			var mu sync.Mutex
			var probes, refusals, charged int
			reset := time.Now().Add(3 * time.Hour)
			answer := func(g store.Grant) (o store.Outcome) {
				mu.Lock()
				defer mu.Unlock()
				if g == store.Probe {
					probes++
				}
				switch {
				case chance(5):
					return unsent
				case unheaded > 0 && chance(10):
					charged = min(quota, charged+rand.IntN(2))
					return failed
				case charged == quota:
					o, refusals = refused, refusals+1
				default:
					o, charged = silent, charged+1
				}
				if !chance(unheaded) {
					o.Remaining, o.Reset = quota-charged, reset
				}
				return o
			}
			for range 2 {
				var users sync.WaitGroup
				for range 60 {
					users.Go(func() {
						for time.Now().Before(reset.Add(-time.Minute)) {
							if r := gate.Reserve(time.Now(), 0); r.Grant == store.Spent {
								time.Sleep(rand.N(time.Minute))
							} else {
								time.Sleep(rand.N(200 * time.Millisecond))
								o := answer(r.Grant)
								time.Sleep(rand.N(200 * time.Millisecond))
								gate.Commit(time.Now(), r, o)
							}
						}
					})
				}
				users.Wait()
				assert.GreaterOrEqual(t, charged, quota*95/100)
				time.Sleep(2 * time.Minute) // the next day
				charged, reset = 0, reset.Add(24*time.Hour)
			}
			assert.LessOrEqual(t, refusals, probes+more)
		})
	}
}
