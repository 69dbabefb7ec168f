package redisstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const otherAccount = "ffeeddccbbaa99887766554433221100"

// One bad key harms nobody else: what Redis replies for it says nothing of the others.
func TestAForeignKeyConcernsItselfAlone(t *testing.T) {
	prefix := "fiscope:{" + otherAccount + "}:"
	ctx := context.Background()
	put := map[string]func(b *bed, key string) error{
		"a list": func(b *bed, key string) error { return b.client.LPush(ctx, key, "x").Err() },
		"a list for a while": func(b *bed, key string) error {
			return errors.Join(b.client.LPush(ctx, key, "x").Err(), b.client.Expire(ctx, key, 30*time.Second).Err())
		},
		"a hash":   func(b *bed, key string) error { return b.client.HSet(ctx, key, "x", "y").Err() },
		"a string": func(b *bed, key string) error { return b.client.Set(ctx, key, "x", 0).Err() },
		"numbers that are none": func(b *bed, key string) error {
			return b.client.HSet(ctx, key, "id", "x", "kind", "header", "left", "nan", "reset", "1e300", "opened", "-", "aside", "-", "look", "x").Err()
		},
		"fewer than none": func(b *bed, key string) error {
			return b.client.HSet(ctx, key, "id", "x", "kind", "header", "left", "-5", "reset", time.Now().Add(time.Hour).UnixMilli()).Err()
		},
		"a day that is over": func(b *bed, key string) error {
			return b.client.HSet(ctx, key, "id", "x", "kind", "header", "left", "5", "reset", time.Now().Add(-time.Hour).UnixMilli()).Err()
		},
		"a day for ever": func(b *bed, key string) error {
			return b.client.HSet(ctx, key, "id", "x", "kind", "header", "left", "0", "reset", "99999999999999").Err()
		},
	}
	for _, key := range []string{"quota:3:day", "quota:3:out", "quota:3:probe", "quota:3:open", "quota:3:hold"} {
		for name, put := range put {
			t.Run(key+" is "+name, func(t *testing.T) {
				onBed(t, func(b *bed) {
					require.NoError(t, put(b, prefix+key))
					s := b.store()
					r, err := s.Reserve(ctx, otherAccount, 0)
					require.NoError(t, err)
					assert.Equal(t, fiscope.QuotaGranted, r.Grant, "what is not ours is nothing")
					waits, err := b.store().Reserve(ctx, otherAccount, 0)
					require.NoError(t, err)
					assert.Equal(t, fiscope.QuotaWait, waits.Grant, "one goes first")
					require.NoError(t, s.Settle(ctx, otherAccount, r, header(10, in(time.Hour))))
					for range 10 {
						r, err = s.Reserve(ctx, otherAccount, 0)
						require.NoError(t, err)
						assert.Equal(t, fiscope.QuotaGranted, r.Grant)
					}
					b.open(s, 5, in(time.Hour))
					time.Sleep(2 * time.Hour)
					assert.False(t, b.mini.Exists(prefix+"quota:3:day") || b.mini.Exists(prefix+key), "nothing lives for ever")
				})
			})
		}
	}
}

func TestAnErrorForOneKeyIsNoOutage(t *testing.T) {
	ctx := context.Background()
	onBed(t, func(b *bed) {
		s := b.store()
		b.open(s, 100, in(time.Hour))
		require.NoError(t, b.client.LPush(ctx, "fiscope:{"+credential+"}:sol", "x").Err())
		require.NoError(t, b.client.LPush(ctx, "fiscope:{0123}:answer", "x").Err())
		for range 10 {
			value, err := s.Load(ctx, "0123")
			require.NoError(t, err)
			assert.Nil(t, value, "a foreign answer is a miss")
			_, err = s.Claim(ctx, credential, time.Second)
			require.NoError(t, err, "a foreign key of a credential is nothing")
			b.granted(s)
			require.NoError(t, s.Save(ctx, "4567", []byte("answer"), time.Minute))
			value, err = s.Load(ctx, "4567")
			require.NoError(t, err)
			assert.Equal(t, "answer", string(value))
		}
	})
}

func TestAnAnswerIsReadWithABound(t *testing.T) {
	ctx := context.Background()
	client := startServer(t, "--maxmemory", "1gb").client(t)
	s := storeOf(t, client)
	require.NoError(t, client.Set(ctx, "fiscope:{0123}:answer", strings.Repeat("x", 200<<20), 0).Err())
	start := time.Now()
	value, err := s.Load(ctx, "0123")
	require.NoError(t, err)
	assert.Nil(t, value)
	assert.Less(t, time.Since(start), 200*time.Millisecond)
	require.NoError(t, s.Save(ctx, "4567", make([]byte, 5<<20), time.Minute))
	value, err = s.Load(ctx, "4567")
	require.NoError(t, err)
	assert.Nil(t, value)
}
