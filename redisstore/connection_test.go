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
