package redisstore_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/redisstore"
	"github.com/fiscope/fiscope/store"
	"github.com/fiscope/fiscope/store/storetest"
)

func newStore(t testing.TB, client redis.UniversalClient, opts ...redisstore.Option) *redisstore.Store {
	t.Helper()
	s, err := redisstore.New(client, opts...)
	require.NoError(t, err)
	return s
}

// aging is a Store whose verdicts about credentials can be made older.
type aging struct {
	*redisstore.Store
	t      testing.TB
	client redis.UniversalClient
}

func (s aging) Advance(d time.Duration) {
	for _, key := range s.client.Keys(s.t.Context(), "*:sol:3").Val() {
		var verdict struct {
			State string `json:"state"`
			Since int64  `json:"since"`
		}
		require.NoError(s.t, json.Unmarshal([]byte(s.client.Get(s.t.Context(), key).Val()), &verdict))
		verdict.Since -= d.Milliseconds()
		text, err := json.Marshal(verdict)
		require.NoError(s.t, err)
		require.NoError(s.t, s.client.Set(s.t.Context(), key, text, s.client.PTTL(s.t.Context(), key).Val()-d).Err())
	}
}

func TestTheStoreKeepsItsPromises(t *testing.T) {
	client := startServer(t).client(t)
	storetest.Run(t, func(t *testing.T) store.Store {
		require.NoError(t, client.FlushAll(t.Context()).Err())
		return aging{newStore(t, client), t, client}
	})
}

func TestTheStoreKeepsItsPromisesInACluster(t *testing.T) {
	t.Parallel()
	client := startCluster(t)
	storetest.Run(t, func(t *testing.T) store.Store { return newStore(t, client) })
}

func TestAShortLifeEnds(t *testing.T) {
	shared := newStore(t, startServer(t).client(t))
	require.NoError(t, shared.Save(t.Context(), account, []byte("value"), time.Nanosecond))
	eventually(t, "it ends", func() bool {
		value, err := shared.Load(t.Context(), account)
		return err == nil && value == nil
	})
}
