package redisstore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/fiscope/fiscope/store"
)

func TestEveryKeyIsVersionedAndEnds(t *testing.T) {
	client := startServer(t).client(t)
	shared := newStore(t, client, redisstore.WithPrefix("tienda:"))
	ctx := t.Context()
	require.NoError(t, shared.Save(ctx, account, []byte(`{"ruc":"20131312955"}`), time.Hour))
	r, err := shared.Reserve(ctx, account, 0)
	require.NoError(t, err)
	require.NoError(t, shared.Commit(ctx, account, r, header(5)))
	_, err = shared.Claim(ctx, credential, time.Hour)
	require.NoError(t, err)
	require.NoError(t, shared.Record(ctx, credential, store.Claim{}, store.VerdictProven, time.Hour))

	var forms []string
	for _, key := range client.Keys(ctx, "*").Val() {
		assert.Positive(t, client.PTTL(ctx, key).Val(), key)
		forms = append(forms, strings.NewReplacer(account, "ACCOUNT", credential, "CREDENTIAL").Replace(key))
	}
	assert.ElementsMatch(t, []string{
		"tienda:{ACCOUNT}:answer:1", "tienda:{ACCOUNT}:quota:4", "tienda:{CREDENTIAL}:sol:3", "tienda:{CREDENTIAL}:claim:1",
	}, forms)
	day := "tienda:{" + account + "}:quota:4"
	assert.Greater(t, client.PTTL(ctx, day).Val(), 48*time.Hour, "longer than a day is known")

	others := newStore(t, client)
	value, err := others.Load(ctx, account)
	require.NoError(t, err)
	assert.Nil(t, value, "another prefix is another store")
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	client := startServer(t).client(t)
	var none *redis.Client
	for name, test := range map[string]func() (*redisstore.Store, error){
		"no client":   func() (*redisstore.Store, error) { return redisstore.New(nil) },
		"a typed nil": func() (*redisstore.Store, error) { return redisstore.New(none) },
		"no option":   func() (*redisstore.Store, error) { return redisstore.New(client, nil) },
		"a brace":     func() (*redisstore.Store, error) { return redisstore.New(client, redisstore.WithPrefix("a{b}")) },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test()
			require.ErrorContains(t, err, "redisstore: ")
		})
	}
}

func TestRedisHoldsNoCredential(t *testing.T) {
	rdb, service := startServer(t).client(t), startService(t, 1000)
	client := service.Client(fiscope.WithStore(newStore(t, rdb)), fiscope.WithCache(fiscope.CachePolicy{}))
	require.NoError(t, ask(t.Context(), client, ""))
	require.NoError(t, ask(t.Context(), client, mockserver.ClaveSOL))
	require.ErrorIs(t, ask(t.Context(), client, "equivocada"), fiscope.ErrInvalidSOLCredentials)
	require.NoError(t, client.Close(t.Context()))
	keys := rdb.Keys(t.Context(), "*").Val()
	require.Len(t, keys, 4, "an answer, the day, two credentials")
	secrets := []string{service.APIKey, mockserver.ClaveSOL, "equivocada", mockserver.UsuarioSOL}
	for _, key := range keys {
		text := key + " " + rdb.Get(t.Context(), key).Val()
		for i, secret := range secrets {
			assert.False(t, strings.Contains(text, secret), "secret %d is in Redis", i)
		}
	}
}
