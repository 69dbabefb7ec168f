package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// exact is a Store without whose word nothing is sent.
type exact struct {
	*troubled
	again []fiscope.Reservation // what ReserveAgain was told
}

func (s *exact) ReserveAgain(ctx context.Context, account string, keep int, told fiscope.Reservation) (fiscope.Reservation, error) {
	s.again = append(s.again, told)
	return s.Reserve(ctx, account, keep)
}

func TestNothingIsSentWithoutTheWordOfAnExactStore(t *testing.T) {
	for name, trouble := range map[string]func(*exact){
		"it hangs": func(s *exact) { s.becomes(map[string]func(context.Context){"Reserve": hanging}) },
		"it takes long": func(s *exact) {
			s.becomes(map[string]func(context.Context){"Reserve": func(context.Context) { time.Sleep(2900 * time.Millisecond) }})
			s.fails = errors.New("away")
		},
		"it fails": func(s *exact) { s.fails = errors.New("away") },
		"it answers late": func(s *exact) {
			s.becomes(map[string]func(context.Context){"Reserve": func(context.Context) { time.Sleep(time.Minute) }})
		},
	} {
		for _, deadline := range []time.Duration{0, 1200 * time.Millisecond, 2 * time.Second, 3 * time.Second, 10 * time.Second, time.Minute} {
			for _, op := range []string{"consultar", "buscar", "tipocambio", "validar"} {
				t.Run(fmt.Sprint(name, ", ", op, " within ", deadline), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, contract(t, fileOf[op]))}}
						store := &exact{troubled: newTroubled(nil)}
						trouble(store)
						client := newClient(t, s, fiscope.WithStore(store))
						for range 5 { // also while it is left alone
							ctx, cancel := context.WithTimeout(t.Context(), max(deadline, time.Second))
							if deadline == 0 {
								ctx, cancel = context.WithCancel(t.Context())
							}
							err := operations[op](ctx, client)
							cancel()
							require.ErrorIs(t, err, fiscope.ErrUnavailable)
							require.NotErrorIs(t, err, fiscope.ErrQuotaExceeded)
						}
						assert.Empty(t, s.seen())
						_ = client.Close(t.Context())
						time.Sleep(time.Hour)
					})
				})
			}
		}
	}
}

func TestAnExactStoreIsToldForWhatACallerWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &exact{troubled: newTroubled(nil)}
		n := 0
		store.reserve = func(int) fiscope.Reservation {
			n++
			return []fiscope.Reservation{
				{Grant: fiscope.QuotaWait, Token: "one"}, {Grant: fiscope.QuotaWait, Token: "two"}, {Token: "t"}, {Token: "t"},
			}[n-1]
		}
		client := newClient(t, roundTripper(raw(200, record)), fiscope.WithStore(store))
		for range 2 {
			require.NoError(t, operations["consultar"](t.Context(), client))
		}
		want := []fiscope.Reservation{{Grant: fiscope.QuotaWait, Token: "one"}, {Grant: fiscope.QuotaWait, Token: "two"}}
		assert.Equal(t, want, store.again, "the second call waited for nothing")
	})
}
