package redisstore_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/dayquota"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/fiscope/fiscope/store"
)

const (
	account    = "00112233445566778899aabbccddeeff"
	credential = "ffeeddccbbaa99887766554433221100"
)

// day is the JSON of the scripts.
type day struct {
	Reset, Sent, Pause, Epoch     int64
	Left, Most, Used, Done, Lower int
	Zero, Doubt                   bool
}

func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// The scripts do what dayquota.Day does, step by step, whatever happens.
func TestTheScriptsAreTheDay(t *testing.T) {
	client := startServer(t).client(t)
	names := map[store.Grant]string{store.Granted: "granted", store.Probe: "probe", store.Spent: "spent"}
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 29))
		key := fmt.Sprint("day ", seed)
		now := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
		var model dayquota.Day
		var underWay []store.Reservation
		for step := range 200 {
			now = now.Add([]time.Duration{0, time.Millisecond, time.Second, 61 * time.Second, 16 * time.Minute, 5 * time.Hour, -time.Hour, 60 * time.Hour, -60 * time.Hour}[min(random.IntN(40), random.IntN(9))])
			var log string
			if len(underWay) == 0 || random.IntN(2) == 0 {
				keep := random.IntN(2) * random.IntN(6)
				r := model.Reserve(now, keep)
				reply, err := client.Eval(t.Context(), redisstore.ReserveLua, []string{key}, keep, now.UnixMilli()).Text()
				require.NoError(t, err)
				token := r.Token
				if r.Grant == store.Spent {
					token = "-"
				} else {
					underWay = append(underWay, r)
				}
				log = fmt.Sprintf("reserve %d: %+v", keep, r)
				require.Equal(t, fmt.Sprintf("%s %d %d %s %t", names[r.Grant], r.Left, ms(r.Until), token, r.Served), reply, "%d, %d: %s", seed, step, log)
			} else {
				i := random.IntN(len(underWay))
				r := underWay[i]
				if random.IntN(10) > 0 { // otherwise it is committed again
					underWay = append(underWay[:i], underWay[i+1:]...)
				}
				o := store.Outcome{Written: min(1, random.IntN(8)) + random.IntN(20)/19, Remaining: -1}
				answer := ""
				switch random.IntN(4) {
				case 0:
					o.Refused, answer = true, "refused"
				case 1, 2:
					o.Served, answer = true, "served"
				}
				if random.IntN(2) == 0 {
					o.Remaining = random.IntN(10)
				}
				if random.IntN(3) > 0 {
					o.Reset = now.Add([]time.Duration{-time.Minute, 3 * time.Hour, 3*time.Hour + time.Minute, 24 * time.Hour, 72 * time.Hour}[random.IntN(5)])
				}
				if random.IntN(3) == 0 {
					o.Date = now.Add([]time.Duration{0, -time.Minute, 4 * time.Hour}[random.IntN(3)])
				}
				model.Commit(now, r, o)
				require.NoError(t, client.Eval(t.Context(), redisstore.CommitLua, []string{key},
					r.Token, names[r.Grant], o.Written, answer, o.Remaining, ms(o.Reset), ms(o.Date), now.UnixMilli()).Err())
				log = fmt.Sprintf("commit %+v: %+v", r, o)
			}
			text, err := client.Get(t.Context(), key).Result()
			require.NoError(t, err)
			var got day
			require.NoError(t, json.Unmarshal([]byte(text), &got))
			want := day{
				Reset: ms(model.Reset), Sent: ms(model.Sent), Pause: model.Pause.Milliseconds(), Epoch: model.Epoch,
				Left: model.Left, Most: model.Most, Used: model.Used, Done: model.Done, Lower: model.Lower, Zero: model.Zero, Doubt: model.Doubt,
			}
			require.Equal(t, want, got, "%d, %d: %s", seed, step, log)
		}
	}
}
