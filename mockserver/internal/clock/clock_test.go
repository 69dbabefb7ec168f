package clock_test

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver/internal/clock"
	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	noon = time.Date(2026, time.November, 20, 17, 0, 0, 0, time.UTC)
	past = time.Date(2020, time.January, 2, 3, 4, 5, 0, time.UTC)
)

func TestClock(t *testing.T) {
	for name, c := range map[string]struct {
		at     time.Time
		frozen bool
		change func(*clock.Clock)
		want   time.Time // one hour later by the source, which shows noon at first
		stands bool
	}{
		"as the source":          {time.Time{}, false, nil, noon.Add(time.Hour), false},
		"begins elsewhere":       {past, false, nil, past.Add(time.Hour), false},
		"frozen at the source's": {time.Time{}, true, nil, noon, true},
		"frozen elsewhere":       {past, true, nil, past, true},
		"set":                    {time.Time{}, false, func(c *clock.Clock) { c.Set(past) }, past.Add(time.Hour), false},
		"set while frozen":       {time.Time{}, true, func(c *clock.Clock) { c.Set(past) }, past, true},
		"advanced":               {time.Time{}, false, func(c *clock.Clock) { c.Advance(24 * time.Hour) }, noon.Add(25 * time.Hour), false},
		"advanced while frozen":  {past, true, func(c *clock.Clock) { c.Advance(24 * time.Hour) }, past.Add(24 * time.Hour), true},
		"moved back":             {past, false, func(c *clock.Clock) { c.Advance(-time.Hour) }, past, false},
		"the first":              {time.Time{}, true, func(c *clock.Clock) { c.Set(clock.First) }, clock.First, true},
		"the last":               {time.Time{}, true, func(c *clock.Clock) { c.Set(clock.Last) }, clock.Last, true},
		"far from its source":    {time.Time{}, false, func(c *clock.Clock) { c.Set(clock.Last.Add(-time.Hour)) }, clock.Last, false},
		"advanced by the most":   {time.Time{}, false, func(c *clock.Clock) { c.Advance(math.MaxInt64) }, noon.Add(math.MaxInt64).Add(time.Hour), false},
		"... twice":              {time.Time{}, false, func(c *clock.Clock) { c.Advance(math.MaxInt64); c.Advance(math.MaxInt64) }, noon.Add(math.MaxInt64).Add(math.MaxInt64).Add(time.Hour), false},
		"before the first":       {past, false, func(c *clock.Clock) { c.Set(clock.First.Add(-1)) }, past.Add(time.Hour), false},
		"after the last":         {past, true, func(c *clock.Clock) { c.Set(clock.Last.Add(1)) }, past, true},
		"back before the first":  {past, true, func(c *clock.Clock) { c.Advance(math.MinInt64) }, past, true},
		"zero":                   {past, true, func(c *clock.Clock) { c.Set(time.Time{}) }, past, true},
		"stopped":                {past, false, (*clock.Clock).Freeze, past, true},
		"resumed":                {past, true, (*clock.Clock).Resume, past.Add(time.Hour), false},
		"started again":          {past, true, func(c *clock.Clock) { c.Start(time.Time{}, false) }, noon.Add(time.Hour), false},
	} {
		t.Run(name, func(t *testing.T) {
			source := noon
			k := clock.Clock{Source: func() time.Time { return source }}
			k.Start(c.at, c.frozen)
			if c.change != nil {
				c.change(&k)
			}
			source = source.Add(time.Hour)
			assert.Equal(t, c.want, k.Now())
			assert.Equal(t, c.stands, k.Frozen())
		})
	}
}

func TestWhatCannotBeIsRefused(t *testing.T) {
	k := clock.Clock{Source: func() time.Time { return noon }}
	k.Start(time.Time{}, true)
	assert.Error(t, k.Set(clock.First.Add(-1)))
	assert.Error(t, k.Set(clock.Last.Add(1)))
	assert.Error(t, k.Set(time.Time{}))
	assert.Error(t, k.Advance(math.MinInt64))
	assert.NoError(t, k.Set(clock.Last))
	assert.Error(t, k.Advance(1))
	assert.NoError(t, k.Advance(-1))
}

func TestClockFollowsABubblesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := clock.Clock{Source: time.Now}
		k.Start(past, false)
		time.Sleep(time.Minute)
		assert.True(t, past.Add(time.Minute).Equal(k.Now()))
	})
}

func TestDateHeader(t *testing.T) {
	k := clock.Clock{Source: time.Now}
	first := k.DateHeader(noon)
	assert.Equal(t, []string{"Fri, 20 Nov 2026 17:00:00 GMT"}, first)
	assert.Same(t, &first[0], &k.DateHeader(noon.Add(time.Millisecond))[0], "made once a second")
	assert.Equal(t, []string{"Fri, 20 Nov 2026 17:00:01 GMT"}, k.DateHeader(noon.Add(time.Second)))
	assert.Equal(t, []string{"Fri, 20 Nov 2026 17:00:00 GMT"}, first, "an answer keeps its own")
}

func TestClockIsSafeForConcurrentUse(t *testing.T) {
	k := clock.Clock{Source: func() time.Time { return noon }}
	k.Start(past, true)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				k.Advance(time.Second)
				k.DateHeader(k.Now())
			}
		})
	}
	wg.Wait()
	assert.Equal(t, past.Add(800*time.Second), k.Now(), "no step is lost")
}
