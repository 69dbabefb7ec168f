package redisstore_test

import (
	"encoding/json"
	"os"
	"regexp"
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

// documented reads keys.go as a person does: a name is an indented line of a comment, and what is in its JSON are
// the first words of the lines below it that are indented further.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("keys.go")
	require.NoError(t, err)
	forms, form := map[string][]string{}, ""
	for line := range strings.Lines(string(text)) {
		line, indented := strings.CutPrefix(line, "//\t")
		field, deeper := strings.CutPrefix(line, "\t")
		switch {
		case indented && deeper:
			forms[form] = append(forms[form], strings.Fields(field)[0])
		case indented:
			form = strings.TrimSpace(line)
			forms[form] = nil
		}
	}
	return forms
}

func TestEveryKeyIsDocumentedVersionedAndEnds(t *testing.T) {
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

	forms := documented(t)
	keys := client.Keys(ctx, "*").Val()
	require.Len(t, keys, len(forms))
	for _, key := range keys {
		form := regexp.MustCompile("{(KEY|ACCOUNT|CREDENTIAL)}")
		found := false
		for name, fields := range forms {
			if name = strings.Replace(name, "fiscope:", "tienda:", 1); !regexp.MustCompile("^" + form.ReplaceAllString(name, "{[0-9a-f]{32}}") + "$").MatchString(key) {
				continue
			}
			found = true
			if fields == nil { // not JSON of ours
				continue
			}
			var value map[string]any
			require.NoError(t, json.Unmarshal([]byte(client.Get(ctx, key).Val()), &value))
			for field := range value {
				assert.Contains(t, fields, field, key)
			}
		}
		assert.True(t, found, key)
		assert.Regexp(t, `:\d+$`, key)
		assert.Positive(t, client.PTTL(ctx, key).Val(), key)
	}
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
