package redisstore_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/redisstore"
	"github.com/stretchr/testify/assert"
)

func TestADeadRedisStallsNobody(t *testing.T) {
	onBed(t, func(b *bed) {
		s := sharing(b, 1)[0]
		b.hang.Store(int64(10 * time.Second))
		start := time.Now()
		for range 5 {
			b.granted(s)
			_, err := s.Load(context.Background(), "0123")
			assert.Error(t, err)
		}
		assert.LessOrEqual(t, time.Since(start), 250*time.Millisecond, "one call waits for Redis, once a second")
		time.Sleep(20 * time.Second)
		b.hang.Store(0)
		time.Sleep(2 * time.Second)
		b.granted(s)
	})
}

// While Redis is away, one call in a tenth of a second goes to see; once it answered, each call is made.
func TestARedisThatIsAwayIsTriedNowAndThen(t *testing.T) {
	for name, away := range map[string]func(b *bed, away bool){
		"it fails": func(b *bed, away bool) { b.fail.Store(away) },
		"it hangs": func(b *bed, away bool) {
			b.hang.Store(0)
			if away {
				b.hang.Store(int64(time.Hour))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := b.store()
				loads := func() {
					for range 5 {
						_, _ = s.Load(context.Background(), "0123")
					}
				}
				away(b, true)
				for range 3 {
					assert.LessOrEqual(t, b.trips(loads), 2, "the call, and what greets a new connection")
					time.Sleep(100 * time.Millisecond)
				}
				away(b, false)
				time.Sleep(2 * time.Hour)
				assert.GreaterOrEqual(t, b.trips(loads), 5)
			})
		})
	}
}

func TestEachFallbackIsLoggedOnceAndItsEndToo(t *testing.T) {
	onBed(t, func(b *bed) {
		var text bytes.Buffer
		s := b.store(redisstore.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
		use := func() {
			ctx := context.Background()
			_, _ = s.Load(ctx, "0123")
			_, _ = s.Reserve(ctx, account, 0)
			_, _ = s.Claim(ctx, "4567", time.Second)
			synctest.Wait()
		}
		use()
		b.fail.Store(true)
		for range 3 {
			use()
			time.Sleep(2 * time.Second)
		}
		assert.Equal(t, 3, strings.Count(text.String(), "level=WARN"), text.String())
		b.fail.Store(false)
		for range 3 {
			use()
			time.Sleep(2 * time.Second)
		}
		for _, area := range []string{"cache", "quota", `"SOL guard"`} {
			assert.Equal(t, 2, strings.Count(text.String(), "area="+area), text.String())
		}
		assert.Equal(t, 3, strings.Count(text.String(), "level=INFO"), text.String())
	})
}
