package redisstore_test

import (
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

func TestTheStoreKeepsItsPromises(t *testing.T) {
	client := startServer(t).client(t)
	storetest.Run(t, func(t *testing.T) store.Store { return newStore(t, client) })
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
