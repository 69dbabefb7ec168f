package redisstore

import (
	"context"
	"crypto/rand"
	_ "embed" // the scripts
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed day.lua
var dayLua string

//go:embed take.lua
var takeLua string

//go:embed put.lua
var putLua string

//go:embed head.lua
var headLua string

var (
	takeScript = redis.NewScript(dayLua + takeLua)
	putScript  = redis.NewScript(dayLua + putLua)
	headScript = redis.NewScript(dayLua + headLua)
)

// header is what the headers of an attempt say.
type header struct {
	day       string // on which it was reserved; empty while none was known
	remaining int    // -1 for nothing
	reset     int64  // Unix milliseconds; 0 where it named none
}

var noHeader = header{remaining: -1}

// taking is what take.lua is asked.
type taking struct {
	header  header
	n, keep int
	daily   int    // what WithDailyQuota says; 0 for nothing
	waited  string // the probe that this process was told to wait for
	share   int    // to be set aside; 0 for none
	ended   []string
}

// telling is what head.lua is told.
type telling struct {
	header  header
	attempt string // which one it is, of those that left while no day was known
	see     bool   // it went to see whether the quota still is spent
	verdict string // what it means where its header says nothing
	ended   []string
}

// putting is what put.lua is told.
type putting struct {
	day   string
	delta int
	share bool // the share is given back
}

// reply is the answer of each script.
type reply struct {
	token  string // of the call
	status string
	units  int
	share  int    // queries that were set aside
	probe  string // that is waited for
	day    day
}

// day is a day as Redis told of it.
type day struct {
	id    string // empty while none is known
	kind  string // header, assumed or minute: see keys.go
	left  int
	reset int64     // Unix milliseconds, by the clock of Redis
	until time.Time // the reset by this process's monotonic clock
	began time.Time // what ended before is in what is left
	seq   uint64    // of the call that told
}

func (q *quota) take(ctx context.Context, name string, r taking, seq uint64, late func(reply)) (reply, error) {
	keys := q.conn.keys
	p := q.process
	return q.run(ctx, name, seq, late, takeScript, []string{keys.probe(name), keys.open(name), keys.hold(name)},
		append([]any{r.header.day, r.header.remaining, r.header.reset, r.n, r.keep, r.daily,
			milliseconds(p.probeTime), r.waited, r.share, shareField(p.name), p.holder}, anys(r.ended)...))
}

func (q *quota) head(ctx context.Context, name string, a *account, r telling, seq uint64) (reply, error) {
	keys, see := q.conn.keys, ""
	if r.see {
		see = "see"
	}
	return q.run(ctx, name, seq, func(got reply) { q.late(name, a, got) }, headScript, []string{keys.probe(name), keys.open(name), keys.hold(name)},
		append([]any{r.header.day, r.header.remaining, r.header.reset, r.attempt, see, r.verdict}, anys(r.ended)...))
}

func (q *quota) put(ctx context.Context, name string, a *account, r putting, seq uint64) (reply, error) {
	field := ""
	if r.share {
		field = shareField(q.process.name)
	}
	return q.run(ctx, name, seq, func(got reply) { q.late(name, a, got) }, putScript, []string{q.conn.keys.call(name, rand.Text())},
		[]any{r.day, r.delta, field, q.process.holder})
}

// run asks Redis once. An answer for which nobody waited goes to late.
func (q *quota) run(ctx context.Context, name string, seq uint64, late func(reply), script *redis.Script, keys []string, args []any) (reply, error) {
	token, start := rand.Text(), time.Now()
	keys = append([]string{q.conn.keys.day(name), q.conn.keys.out(name)}, keys...)
	args = append([]any{token}, args...)
	return ask(ctx, q.conn, &q.area, func(ctx context.Context) (reply, error) {
		cmd := script.Run(ctx, q.conn.client, keys, args...)
		if err := cmd.Err(); err != nil {
			return reply{}, err
		}
		values, err := cmd.Slice()
		if err != nil {
			return reply{}, errForeign
		}
		return readReply(values, token, start, seq)
	}, late)
}

func anys(texts []string) (all []any) {
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}

func readReply(values []any, token string, start time.Time, seq uint64) (reply, error) {
	if len(values) != 10 {
		return reply{}, errForeign
	}
	var numbers [10]int64
	var texts [10]string
	for i, value := range values {
		switch v := value.(type) {
		case int64:
			numbers[i] = v
		case string:
			texts[i] = v
			numbers[i], _ = strconv.ParseInt(v, 10, 64)
		default:
			return reply{}, errForeign
		}
	}
	r := reply{
		token: token, status: texts[0], units: int(numbers[1]), share: int(numbers[2]), probe: texts[3],
		day: day{
			id: texts[4], kind: texts[5], left: int(numbers[6]), reset: numbers[7],
			until: start.Add(time.Duration(min(numbers[8], longestDay.Milliseconds())) * time.Millisecond), seq: seq,
			began: start.Add(-time.Duration(min(numbers[9], longestDay.Milliseconds())) * time.Millisecond),
		},
	}
	switch r.status {
	case "day", "look":
		if r.day.id == "" || r.units < 1 {
			return reply{}, errForeign
		}
	case "spent":
		if r.day.id == "" {
			return reply{}, errForeign
		}
	case "", "open", "probe", "wait", "failed", "held":
	default:
		return reply{}, errForeign
	}
	if r.units < 0 || r.share < 0 || r.day.left < 0 {
		return reply{}, errForeign
	}
	return r, nil
}
