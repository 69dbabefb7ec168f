package fiscope_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestProcessesShareAnAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		op   string
		file string
		is   error
		ttl  time.Duration
	}{
		"a taxpayer":     {"consultar", "consultar_200.json", nil, 13 * time.Hour}, // with the hour in which it may be stale
		"none":           {"consultar", "consultar_404.json", fiscope.ErrNotFound, 2 * time.Hour},
		"a search":       {"buscar", "buscar_200.json", nil, 2 * time.Hour},
		"a rate, of old": {"tipocambio", "tipocambio_200.json", nil, 400 * 24 * time.Hour},
	} {
		inBubble(t, name, func(t *testing.T) {
			time.Sleep(time.Until(viernes.SumarDias(7).En(fiscope.Lima)))
			s := newMemoryStore()
			process := func(h handler) *fiscope.Client {
				return withStore(t, s, h, fiscope.WithCache(fiscope.CachePolicy{StaleIfError: time.Hour}))
			}
			status := 200
			if test.is != nil {
				status = 404
			}
			one := process(raw(status, contract(t, test.file)))
			require.ErrorIs(t, operations[test.op](t.Context(), one), test.is)
			require.NoError(t, one.Close(t.Context()))
			require.Len(t, s.ttls, 1)
			for _, ttl := range s.ttls {
				assert.Equal(t, test.ttl, ttl)
			}
			time.Sleep(10 * time.Minute)
			two := process(func(*http.Request) (*http.Response, error) { panic("it is asked") })
			var resp fiscope.Response
			require.ErrorIs(t, operations[test.op](t.Context(), two, fiscope.WithResponse(&resp)), test.is)
			assert.Equal(t, fiscope.SourceCache, resp.Source)
			assert.Equal(t, 10*time.Minute, time.Since(resp.AsOf))
			asked := s.calls()
			require.ErrorIs(t, operations[test.op](t.Context(), two), test.is)
			assert.Equal(t, asked, s.calls(), "from then on it is here")
		})
	}
}

// The names in a Store are of one service and one API key. They show neither what was asked nor which clave.
func TestAStoreLearnsNoSecretAndNoName(t *testing.T) {
	names := func(baseURL, key string) map[string]bool {
		s := newMemoryStore()
		client, err := fiscope.NewClient(baseURL, key, fiscope.WithStore(s), fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithHTTPClient(&http.Client{Transport: raw(200, record)}))
		require.NoError(t, err)
		require.NoError(t, operations["consultar"](t.Context(), client))
		require.Error(t, operations["validar"](t.Context(), client))
		require.NoError(t, client.Close(t.Context()))
		for name := range s.names {
			assert.Regexp(t, `^[0-9a-f]{32}$`, name)
		}
		require.NotEmpty(t, s.values)
		for _, value := range s.values {
			assert.False(t, leaks(string(value), key) || leaks(string(value), clave), "a secret is stored")
		}
		return s.names
	}
	first := names("https://h", apiKey)
	assert.Len(t, first, 3, "an answer, an account and a credential")
	for _, same := range []string{"https://H/", "HTTPS://h"} {
		assert.Equal(t, first, names(same, apiKey), same)
	}
	for _, other := range []map[string]bool{names("https://h", "otra-llave"), names("https://h:4430", apiKey), names("https://h/v1", apiKey)} {
		for name := range other {
			assert.False(t, first[name])
		}
	}
}

// What a Store keeps is read with the care of an answer, and serves for no longer than this process says.
func TestWhatAStoreKeepsIsNotTrusted(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of each bubble
	hour, day := fiscope.CachePolicy{Consulta: time.Hour}, fiscope.CachePolicy{Consulta: 24 * time.Hour}
	stored := func(body string, changes map[string]any) string {
		value := map[string]any{"status": 200, "asked": start, "stored": start, "expires": start.Add(12 * time.Hour), "body": body}
		maps.Copy(value, changes)
		text, err := json.Marshal(value)
		require.NoError(t, err)
		return string(text)
	}
	for name, test := range map[string]struct {
		policy fiscope.CachePolicy
		value  string
		serves time.Duration // from now on; 0 for not at all
	}{
		"as it is":                       {day, stored(record, nil), 12 * time.Hour},
		"this process says shorter":      {hour, stored(record, nil), time.Hour},
		"... from when it was stored":    {hour, stored(record, map[string]any{"stored": start.Add(-40 * time.Minute)}), 20 * time.Minute},
		"... than for good":              {hour, stored(record, map[string]any{"expires": time.Time{}}), time.Hour},
		"this process keeps none":        {fiscope.CachePolicy{Consulta: -1, StaleIfError: 9 * time.Hour}, stored(record, nil), 0},
		"a clock that is a little ahead": {hour, stored(record, map[string]any{"stored": start.Add(30 * time.Second)}), time.Hour + 30*time.Second},
		"from tomorrow":                  {hour, stored(record, map[string]any{"stored": start.Add(24 * time.Hour)}), 0},
		"it expired":                     {hour, stored(record, map[string]any{"stored": start.Add(-2 * time.Hour), "expires": start.Add(-time.Hour)}), 0},
		"another's record":               {hour, stored(change(record, rucSUNAT, rucEmisor), nil), 0},
		"an outage":                      {hour, stored(record, map[string]any{"status": 503}), 0},
		"an error":                       {hour, stored(`{"error":"x","code":"X"}`, nil), 0},
		"nothing":                        {hour, "", 0},
		"null":                           {hour, "null", 0},
		"garbage":                        {hour, "\xff\xfe\x00", 0},
		"of another program":             {hour, `{"ruc":"20131312955"}`, 0},
		"cut":                            {hour, stored(record, nil)[:40], 0},
		"of another type":                {hour, stored(record, map[string]any{"status": "200"}), 0},
	} {
		inBubble(t, name, func(t *testing.T) {
			s := newMemoryStore()
			writer := withStore(t, s, raw(200, record), fiscope.WithCache(fiscope.CachePolicy{}))
			require.NoError(t, operations["consultar"](t.Context(), writer))
			require.NoError(t, writer.Close(t.Context()))
			for key := range s.values {
				s.values[key] = []byte(test.value)
			}
			client := withStore(t, s, raw(503, ""), fiscope.WithCache(test.policy), fiscope.WithLenientReading())
			ask := func() bool {
				var resp fiscope.Response
				err := operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp))
				assert.Equal(t, resp.Source == fiscope.SourceCache || resp.Source == fiscope.SourceStale, !errors.Is(err, fiscope.ErrUnavailable))
				return resp.Source == fiscope.SourceCache
			}
			assert.Equal(t, test.serves > 0, ask())
			if test.serves > 0 {
				time.Sleep(test.serves - time.Second)
				assert.True(t, ask())
				time.Sleep(time.Second)
				assert.False(t, ask(), "nor if the Store is asked again")
			}
		})
	}
}

func TestAnAnswerThatEchoesTheKeyIsNotSaved(t *testing.T) {
	for key, saved := range map[string]int{apiKey: 0, "token-del-gateway": 0, "nada": 1} {
		s := newMemoryStore()
		client := withStore(t, s, raw(200, change(record, `"ruc"`, `"eco":"`+key+`","ruc"`)), fiscope.WithCache(fiscope.CachePolicy{}))
		for range 2 {
			require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithHeader("X-Gateway", "token-del-gateway")))
		}
		require.NoError(t, client.Close(t.Context()))
		assert.Len(t, s.values, saved)
		assert.EqualValues(t, 1, client.Stats().Sent, "here it is kept")
	}
}

func TestAStoredAnswerIsJSONThatPeopleRead(t *testing.T) {
	s := newMemoryStore()
	client := withStore(t, s, raw(200, record), fiscope.WithCache(fiscope.CachePolicy{}))
	require.NoError(t, operations["consultar"](t.Context(), client))
	require.NoError(t, client.Close(t.Context()))
	for _, value := range s.values {
		assert.True(t, strings.HasPrefix(string(value), `{"status":200,"asked":"`), string(value))
		var read struct {
			Body            string
			Stored, Expires time.Time
		}
		require.NoError(t, json.Unmarshal(value, &read))
		assert.Equal(t, record, read.Body)
		assert.Equal(t, 12*time.Hour, read.Expires.Sub(read.Stored), "others keep it no longer")
	}
	_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithStore(nil))
	require.Error(t, err)
}
