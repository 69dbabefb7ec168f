package redisstore_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsNoAnswerIsNothing(t *testing.T) {
	key := "fiscope:{0123}:answer"
	for name, spoil := range map[string]func(*bed){
		"a list":                  func(b *bed) { _, _ = b.mini.Push(key, "x") },
		"a hash":                  func(b *bed) { b.mini.HSet(key, "x", "y") },
		"an empty text":           func(b *bed) { _ = b.mini.Set(key, "") },
		"larger than any of ours": func(b *bed) { _ = b.mini.Set(key, strings.Repeat("x", 5<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := b.store()
				spoil(b)
				read := &replies{}
				b.client.AddHook(read)
				value, err := s.Load(context.Background(), "0123")
				require.NoError(t, err)
				assert.Nil(t, value)
				assert.LessOrEqual(t, read.longest, 4<<20+1)
				b.granted(s) // Redis is not away
				assert.Equal(t, fiscope.ClaimGranted, b.claim(s).State)
				require.NoError(t, s.Save(context.Background(), "0123", []byte("answer"), time.Minute))
				value, err = s.Load(context.Background(), "0123")
				require.NoError(t, err)
				assert.Equal(t, "answer", string(value), "it is mended")
			})
		})
	}
}

// replies knows how long the longest text was that Redis replied.
type replies struct{ longest int }

func (r *replies) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r *replies) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (r *replies) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if text, ok := cmd.(*redis.StringCmd); ok {
			r.longest = max(r.longest, len(text.Val()))
		}
		return err
	}
}

func TestALargeAnswerIsNotShared(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		assert.Zero(t, b.trips(func() {
			require.NoError(t, s.Save(context.Background(), "0123", make([]byte, 5<<20), time.Minute))
		}))
		most := bytes.Repeat([]byte("x"), 4<<20)
		require.NoError(t, s.Save(context.Background(), "0123", most, time.Minute))
		value, err := s.Load(context.Background(), "0123")
		require.NoError(t, err)
		assert.True(t, bytes.Equal(most, value))
	})
}

func TestAnswersForWhichThereIsNoRoomAreNobodysOutage(t *testing.T) {
	r := startServer(t)
	if r.mini != nil {
		t.Skip("install redis-server to run this test: miniredis is never full")
	}
	b := &bed{t: t, client: r.client(t)}
	s := b.store(redisstore.WithTimeout(5 * time.Second))
	ctx := context.Background()
	require.NoError(t, s.Save(ctx, "0123", []byte("before"), time.Minute))
	fill(t, r)
	require.ErrorContains(t, s.Save(ctx, "4567", []byte("after"), time.Minute), "OOM")
	value, err := s.Load(ctx, "0123")
	require.NoError(t, err)
	assert.Equal(t, "before", string(value))
	require.Error(t, s.Save(ctx, "4567", []byte("after"), time.Minute))
	assert.Equal(t, fiscope.ClaimGranted, b.claim(s).State)
}

func TestTheQuotaGoesOnWhereRedisIsFull(t *testing.T) {
	for name, before := range map[string]bool{"before the day": true, "in the day": false} {
		t.Run(name, func(t *testing.T) {
			r := startServer(t)
			if r.mini != nil {
				t.Skip("install redis-server to run this test: miniredis is never full")
			}
			b := &bed{t: t, client: r.client(t)}
			s, other := b.store(redisstore.WithTimeout(5*time.Second)), b.store(redisstore.WithTimeout(5*time.Second), redisstore.WithLease(5))
			if before {
				fill(t, r)
			}
			b.open(s, 20, in(time.Hour))
			if !before {
				fill(t, r)
			}
			for range 10 {
				b.settle(s, b.granted(s), silent)
			}
			assert.Equal(t, 10, b.drain(other))
		})
	}
}

func TestAnswersLiveInAnotherRedis(t *testing.T) {
	onBed(t, func(b *bed) {
		other := newBed(b.t)
		one, two := b.store(redisstore.WithPrefix("acme:"), redisstore.WithAnswers(other.client)), b.store(redisstore.WithAnswers(other.client), redisstore.WithPrefix("acme:"))
		ctx := context.Background()
		require.NoError(t, one.Save(ctx, "0123", []byte("answer"), time.Minute))
		value, err := two.Load(ctx, "0123")
		require.NoError(t, err)
		assert.Equal(t, "answer", string(value))
		b.granted(one)
		b.claim(one)
		assert.Equal(t, []string{"acme:{0123}:answer"}, other.mini.Keys())
		assert.NotContains(t, b.mini.Keys(), "acme:{0123}:answer")

		other.fail.Store(true)
		_, err = one.Load(ctx, "0123")
		require.Error(t, err)
		require.Error(t, one.Save(ctx, "0123", []byte("answer"), time.Minute))
		require.NoError(t, one.Forget(ctx, credential), "that it is away concerns the answers alone")
		assert.Equal(t, fiscope.ClaimGranted, b.claim(one).State)
		other.fail.Store(false)
		b.fail.Store(true)
		_, err = two.Claim(ctx, credential, time.Second)
		require.Error(t, err)
		time.Sleep(time.Second)
		value, err = two.Load(ctx, "0123")
		require.NoError(t, err)
		assert.Equal(t, "answer", string(value), "and the other way round")

		other.hang.Store(int64(3 * time.Second))
		b.fail.Store(false)
		_, err = one.Load(ctx, "0123")
		require.Error(t, err)
		start := time.Now()
		require.NoError(t, one.Release(ctx))
		assert.Greater(t, time.Since(start), time.Second, "Release waits for both")
	})
}

// registry answers every lookup with a record that is as long as those of the registry are.
type registry struct{}

var (
	activities = strings.Split("VENTA AL POR MENOR DE ALIMENTOS|TRANSPORTE DE CARGA POR CARRETERA|ACTIVIDADES DE ARQUITECTURA E INGENIERIA|RESTAURANTES Y SERVICIO MOVIL DE COMIDAS|CULTIVO DE FRUTAS TROPICALES", "|")
	places     = strings.Split("LIMA|LIMA|MIRAFLORES|AREQUIPA|AREQUIPA|CAYMA|PIURA|SULLANA|BELLAVISTA|LIMA|HUAURA|HUACHO|CUSCO|CUSCO|WANCHAQ", "|")
)

func (registry) RoundTrip(r *http.Request) (*http.Response, error) {
	ruc := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	n, _ := strconv.ParseUint(ruc, 10, 64)
	random := rand.New(rand.NewPCG(n, 0))
	word := func(letters int) string {
		text := make([]byte, letters)
		for i := range text {
			text[i] = "AAAAABCDEEEEEFGHIIIJLLMMNNNNOOOOPQRRRRSSSTTTUUVYZ"[random.IntN(49)]
		}
		return string(text)
	}
	place := 3 * random.IntN(len(places)/3)
	body := fmt.Sprintf(`{"ruc":"%s","razonSocial":"%s %s %s S.A.C.","estado":"ACTIVO","condicion":"HABIDO","direccion":"AV. %s %s NRO. %d URB. %s %s - %s - %s","ubigeo":"%06d",`+
		`"departamento":"%s","provincia":"%s","distrito":"%s","tipo":"SOCIEDAD ANONIMA CERRADA","actividadEconomica":"%s","fechaInscripcion":"%d-%02d-%02d","fechaInicioActividades":"%d-%02d-%02d"}`,
		ruc, word(9), word(6), word(8), word(7), word(8), random.IntN(3000), word(9), places[place], places[place+1], places[place+2], random.IntN(250000),
		places[place], places[place+1], places[place+2], activities[random.IntN(len(activities))],
		1990+random.IntN(36), 1+random.IntN(12), 1+random.IntN(28), 1990+random.IntN(36), 1+random.IntN(12), 1+random.IntN(28))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
}

// answersOnly is a Store that shares answers, and grants every query.
type answersOnly struct{ *redisstore.Store }

func (answersOnly) Reserve(context.Context, string, int) (fiscope.Reservation, error) {
	return fiscope.Reservation{}, nil
}

func (answersOnly) Settle(context.Context, string, fiscope.Reservation, fiscope.Outcome) error {
	return nil
}

// docs/fleet.md says how much memory an answer takes in Redis.
func TestTheMemoryOfTheDocument(t *testing.T) {
	r := startServer(t)
	if r.mini != nil {
		t.Skip("install redis-server to run this test: miniredis has no such memory")
	}
	const answers = 20_000
	rdb := r.client(t)
	ctx := context.Background()
	used := func() int {
		info, err := rdb.Info(ctx, "memory").Result()
		require.NoError(t, err)
		n, err := strconv.Atoi(regexp.MustCompile(`used_memory:(\d+)`).FindStringSubmatch(info)[1])
		require.NoError(t, err)
		return n
	}
	store, err := redisstore.New(rdb, redisstore.WithTimeout(time.Minute))
	require.NoError(t, err)
	client, err := fiscope.NewClient("https://fiscope.example", "api-key", fiscope.WithHTTPClient(&http.Client{Transport: registry{}}),
		fiscope.WithStore(answersOnly{store}), fiscope.WithCache(fiscope.CachePolicy{Entries: 1}))
	require.NoError(t, err)
	lookUp := func(from, to int) {
		var wg sync.WaitGroup
		for part := range 8 {
			wg.Go(func() {
				for n := from + part; n < to; n += 8 {
					_, err := client.Contribuyentes.Consultar(ctx, fmt.Sprintf("201%08d", n))
					assert.NoError(t, err)
				}
			})
		}
		wg.Wait()
	}
	lookUp(0, 1000) // the connections have their memory too
	eventually(t, "they are saved", func() bool { return rdb.DBSize(ctx).Val() == 1000 })
	before := used()
	lookUp(1000, 1000+answers)
	require.NoError(t, client.Close(ctx))
	n, err := rdb.DBSize(ctx).Result()
	require.NoError(t, err)
	require.EqualValues(t, 1000+answers, n)
	each := (used() - before) / answers
	t.Logf("%d bytes for each of %d answers", each, answers)
	text, err := os.ReadFile("../docs/fleet.md")
	require.NoError(t, err)
	said := regexp.MustCompile(`(\d+) bytes in Redis`).FindSubmatch(text)
	require.NotNil(t, said, "docs/fleet.md says how large an answer is")
	want, err := strconv.Atoi(string(said[1]))
	require.NoError(t, err)
	assert.InEpsilon(t, want, each, 0.1)
}
