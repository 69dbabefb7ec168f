package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/stored"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// form is how the names of some keys look, or of some fields of a hash.
type form struct {
	*regexp.Regexp
	fields []form
	seen   bool
}

// What keys.go writes in capitals.
var (
	capitals = regexp.MustCompile("[A-Z]+")
	meanings = map[string]string{
		"KEY":        "[0-9a-f]{32}",
		"ACCOUNT":    "[0-9a-f]{32}",
		"CREDENTIAL": "[0-9a-f]{32}",
		"HOLDER":     "[A-Z2-7]{26}",
		"TOKEN":      "[A-Z2-7]{26}",
		"NAME":       "till-[12]",
	}
)

// documentedForms reads keys.go as a person does: each form is an indented line of a comment, and the
// fields of a hash are the lines below it that are indented further.
func documentedForms(t *testing.T, prefix string) (forms []form) {
	t.Helper()
	text, err := os.ReadFile("keys.go")
	require.NoError(t, err)
	compile := func(name string) form {
		return form{Regexp: regexp.MustCompile("^" + capitals.ReplaceAllStringFunc(regexp.QuoteMeta(name), func(word string) string {
			require.Contains(t, meanings, word)
			return meanings[word]
		}) + "$")}
	}
	for line := range strings.Lines(string(text)) {
		line, indented := strings.CutPrefix(line, "//\t")
		switch {
		case indented && strings.HasPrefix(line, "\t"):
			hash := &forms[len(forms)-1]
			hash.fields = append(hash.fields, compile(strings.Fields(line)[0]))
		case indented:
			forms = append(forms, compile(strings.Replace(strings.TrimSpace(line), "fiscope:", prefix, 1)))
		}
	}
	require.NotEmpty(t, forms)
	return forms
}

// match returns the one form that a name has, and nil where it has none or more than one.
func match(forms []form, name string) (found *form) {
	for i := range forms {
		if forms[i].MatchString(name) {
			if found != nil {
				return nil
			}
			found = &forms[i]
		}
	}
	if found != nil {
		found.seen = true
	}
	return found
}

// record is what Redis holds under a key.
type record struct {
	key    string
	value  string            // of a string
	fields map[string]string // of a hash
	ttl    time.Duration     // negative for none
}

func records(t *testing.T, client *redis.Client) (all []record) {
	t.Helper()
	ctx := context.Background()
	keys, err := client.Keys(ctx, "*").Result()
	require.NoError(t, err)
	for _, key := range keys {
		r := record{key: key}
		kind, err := client.Type(ctx, key).Result()
		require.NoError(t, err)
		switch kind {
		case "hash":
			r.fields, err = client.HGetAll(ctx, key).Result()
		case "zset":
			var members []string
			members, err = client.ZRange(ctx, key, 0, -1).Result()
			r.value = strings.Join(members, " ")
		default:
			r.value, err = client.Get(ctx, key).Result()
		}
		require.NoError(t, err, "%s, a %s", key, kind)
		r.ttl, err = client.PTTL(ctx, key).Result()
		require.NoError(t, err)
		all = append(all, r)
	}
	return all
}

// What the fleet is asked.
const (
	lookedUp   = "20100113610"
	missing    = "20100000009"
	searched   = "supermercados"
	issuer     = "20100053455" // of a receipt that is validated
	wrongClave = "a-wrong-one"
)

// workday lets two processes look up, search, validate, and end. It returns what was in Redis while they
// worked and after they ended, and their API key.
func workday(t *testing.T, opts ...redisstore.Option) (all []record, apiKey string) {
	t.Helper()
	rdb := startServer(t).client(t)
	service := mockserver.New(t, mockserver.WithoutSocket())
	ctx := context.Background()
	var stores []*redisstore.Store
	for _, process := range [][]redisstore.Option{
		{redisstore.WithName("till-1")},
		{redisstore.WithName("till-2"), redisstore.WithLease(20)},
	} {
		store, err := redisstore.New(rdb, append(append(process, redisstore.WithTimeout(5*time.Second)), opts...)...)
		require.NoError(t, err)
		stores = append(stores, store)
		client := service.Client(fiscope.WithStore(store), fiscope.WithCache(fiscope.CachePolicy{}))
		defer client.CloseIdleConnections()
		_, err = client.Contribuyentes.Consultar(ctx, lookedUp)
		require.NoError(t, err)
		_, err = client.Contribuyentes.Consultar(ctx, missing)
		require.ErrorIs(t, err, fiscope.ErrNotFound)
		_, err = client.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: searched})
		require.NoError(t, err)
		_, err = client.TipoCambio.Consultar(ctx, fiscope.NewFecha(2024, time.March, 15))
		require.NoError(t, err)
		receipt := fiscope.Comprobante{RUCEmisor: issuer, Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123}
		for _, clave := range []string{mockserver.ClaveSOL, wrongClave} {
			_, err = client.CPE.Validar(ctx, receipt, fiscope.CredencialesSOL{
				RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(clave),
			})
			assert.True(t, err == nil || errors.Is(err, fiscope.ErrInvalidSOLCredentials), err)
		}
	}
	c, err := stores[0].Claim(ctx, credential, time.Minute)
	require.NoError(t, err)
	require.Equal(t, fiscope.ClaimGranted, c.State)
	for i, came := range []fiscope.Outcome{{Written: 1, StatusCode: 200}, {Written: 1, StatusCode: 429}, header(0, in(time.Hour)), {}} {
		account := account[:31] + strconv.Itoa(i)
		r, err := stores[0].Reserve(ctx, account, 0)
		require.NoError(t, err)
		if i < 3 { // the last one stays under way
			require.NoError(t, stores[0].Settle(ctx, account, r, came))
			_, err = stores[0].Reserve(ctx, account, 0)
			require.NoError(t, err)
		}
	}
	all = records(t, rdb)
	for _, store := range stores {
		require.NoError(t, store.Release(ctx))
	}
	return append(all, records(t, rdb)...), service.APIKey
}

func TestEveryNameInRedisIsDocumented(t *testing.T) {
	for prefix, opts := range map[string][]redisstore.Option{
		"fiscope:": nil,
		"acme:":    {redisstore.WithPrefix("acme:")},
	} {
		t.Run(prefix, func(t *testing.T) {
			forms := documentedForms(t, prefix)
			all, _ := workday(t, opts...)
			for _, r := range all {
				of := match(forms, r.key)
				if !assert.NotNil(t, of, "keys.go has not exactly one form for the key %s", r.key) {
					continue
				}
				assert.Equal(t, of.fields == nil, r.fields == nil, "%s: a hash has its fields documented, a string has none", r.key)
				for field := range r.fields {
					assert.NotNil(t, match(of.fields, field), "keys.go has not exactly one form for the field %s of %s", field, r.key)
				}
				assert.Positive(t, r.ttl, "%s lives for ever", r.key)
			}
			for _, f := range forms {
				assert.True(t, f.seen, "keys.go documents a key that nobody writes: %s", f)
				for _, field := range f.fields {
					assert.True(t, field.seen, "keys.go documents a field that nobody writes: %s of %s", field, f)
				}
			}
		})
	}
}

// The forms of the quota's keys as they were when their version was raised for the last time.
func TestAnotherFormIsAnotherVersion(t *testing.T) {
	text, err := os.ReadFile("keys.go")
	require.NoError(t, err)
	hash := fnv.New32a()
	_, forms, _ := strings.Cut(string(text), "fiscope:{ACCOUNT}:quota:")
	for line := range strings.Lines(forms) {
		if form, indented := strings.CutPrefix(line, "//\t"); indented {
			_, _ = hash.Write([]byte(form))
		}
	}
	assert.Equal(t, "3 4579d2fd", fmt.Sprintf("%c %08x", forms[0], hash.Sum32()),
		"if the form of a key or a field is another one, raise the version in all names of keys.go; then change this")
}

func TestRedisHoldsNoCredential(t *testing.T) {
	all, apiKey := workday(t, redisstore.WithShare(3))
	var names, values strings.Builder
	for _, r := range all {
		names.WriteString(r.key + "\n")
		values.WriteString(r.value + "\n")
		for field, value := range r.fields {
			names.WriteString(field + "\n")
			values.WriteString(value + "\n")
		}
		if answer, ok := stored.Unpack([]byte(r.value), 1<<20); ok {
			values.Write(append(answer.Body, '\n'))
		}
	}
	for _, kind := range []string{":quota:3:day", ":quota:3:probe", ":sol", ":answer"} {
		assert.Contains(t, names.String(), kind)
	}
	for what, secret := range map[string]string{
		"the API key":               apiKey,
		"the clave":                 mockserver.ClaveSOL,
		"the wrong clave":           wrongClave,
		"the SOL user":              mockserver.UsuarioSOL,
		"the RUC of who asks":       mockserver.RUCSolicitante,
		"the issuer of the receipt": issuer,
	} {
		assert.False(t, strings.Contains(names.String()+values.String(), secret), "Redis shows %s", what)
	}
	for _, asked := range []string{lookedUp, searched} {
		assert.True(t, strings.Contains(strings.ToLower(values.String()), asked), "answers are no secret, and were looked through")
		assert.False(t, strings.Contains(names.String(), asked), "a name shows what was asked: %s", asked)
	}
}

func TestTheKeysOfAScriptAreInOneSlot(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store(redisstore.WithPrefix("acme:"))
		b.open(s, 10, in(time.Hour))
		keys := b.keys.Load().([]string)
		require.Len(t, keys, 5)
		for _, key := range keys {
			assert.True(t, strings.HasPrefix(key, "acme:{"+account+"}:"), key)
		}
	})
}
