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

// process is what a process says of itself.
type process struct {
	name      string
	daily     int // what WithDailyQuota says; 0 for nothing
	probeTime time.Duration
}

// scripts are the scripts of the quota, as this process runs them.
type scripts struct {
	conn    *connection
	area    area
	process process
}

// header is what the headers of an attempt say.
type header struct {
	day       string // on which it was reserved; empty while none was known
	remaining int    // -1 for nothing
	reset     int64  // Unix milliseconds; 0 where it named none
}

const longestDay = 48 * time.Hour // so far ahead may a reset be

var noHeader = header{remaining: -1}

// taking is what take.lua is asked.
type taking struct {
	header  header // its day is the one that this process knows
	taken   int    // of that day, when Redis last told
	callers int    // who wait for a query
	most    int    // to take
	keep    int
	daily   int    // what WithDailyQuota says; 0 for nothing
	waited  string // the probe that they were told to wait for
	share   int    // to be set aside; 0 for none
	holder  string // of the share
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
	day    string
	delta  int
	holder string // of the share that is given back; empty for none
	used   int    // of that share
}

// reply is the answer of each script.
type reply struct {
	token  string // of the call, also where there is no answer
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
	taken int       // of it, ever
	reset int64     // Unix milliseconds, by the clock of Redis
	until time.Time // the reset by this process's monotonic clock
	began time.Time // what ended before is in what is left
	seq   uint64    // of the call that told
}

func (s *scripts) take(ctx context.Context, name string, seq uint64, r taking, then func(reply, error)) error {
	p := s.process
	return s.run(ctx, name, seq, takeScript, s.marks(name), append([]any{
		r.header.day, r.header.remaining, r.header.reset, r.taken, r.callers, r.most, r.keep, r.daily,
		milliseconds(p.probeTime), r.waited, r.share, shareField(p.name), r.holder,
	}, anys(r.ended)...), then)
}

func (s *scripts) head(ctx context.Context, name string, seq uint64, r telling, then func(reply, error)) error {
	see := ""
	if r.see {
		see = "see"
	}
	return s.run(ctx, name, seq, headScript, s.marks(name), append([]any{
		r.header.day, r.header.remaining, r.header.reset, r.attempt, see, r.verdict,
	}, anys(r.ended)...), then)
}

func (s *scripts) put(ctx context.Context, name string, seq uint64, r putting, then func(reply, error)) error {
	field := ""
	if r.holder != "" {
		field = shareField(s.process.name)
	}
	return s.run(ctx, name, seq, putScript, []string{s.conn.keys.call(name, rand.Text())}, []any{r.day, r.delta, field, r.holder, r.used}, then)
}

// marks are the keys that say what is done while no day is known, and where none can be.
func (s *scripts) marks(name string) []string {
	keys := s.conn.keys
	return []string{keys.probe(name), keys.open(name), keys.hold(name)}
}

// run asks Redis once, and gives the answer to then: also one that comes when nobody waits for it any more,
// since Redis has acted.
func (s *scripts) run(ctx context.Context, name string, seq uint64, script *redis.Script, keys []string, args []any, then func(reply, error)) error {
	token, start := rand.Text(), time.Now()
	keys = append([]string{s.conn.keys.day(name), s.conn.keys.out(name)}, keys...)
	args = append([]any{token}, args...)
	_, err := ask(ctx, s.conn, &s.area, func(ctx context.Context) (struct{}, error) {
		got, err := readReply(script.Run(ctx, s.conn.client, keys, args...), token, start, seq)
		s.conn.report(err) // then may ask, too
		then(got, err)
		return struct{}{}, err
	}, nil)
	return err
}

func anys(texts []string) (all []any) {
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}

func readReply(cmd *redis.Cmd, token string, start time.Time, seq uint64) (reply, error) {
	if err := cmd.Err(); err != nil {
		return reply{token: token}, err
	}
	values, err := cmd.Slice()
	if err != nil || len(values) != 11 {
		return reply{token: token}, errForeign
	}
	var numbers [11]int64
	var texts [11]string
	for i, value := range values {
		switch v := value.(type) {
		case int64:
			numbers[i] = v
		case string:
			texts[i] = v
			numbers[i], _ = strconv.ParseInt(v, 10, 64)
		default:
			return reply{token: token}, errForeign
		}
	}
	after := func(ms int64) time.Duration {
		return time.Duration(min(ms, longestDay.Milliseconds())) * time.Millisecond
	}
	r := reply{
		token: token, status: texts[0], units: int(numbers[1]), share: int(numbers[2]), probe: texts[3],
		day: day{
			id: texts[4], kind: texts[5], left: int(numbers[6]), reset: numbers[7],
			until: start.Add(after(numbers[8])), began: start.Add(-after(numbers[9])), taken: int(numbers[10]), seq: seq,
		},
	}
	switch r.status {
	case "day", "look":
		if r.day.id == "" || r.units < 1 {
			return reply{token: token}, errForeign
		}
	case "spent":
		if r.day.id == "" {
			return reply{token: token}, errForeign
		}
	case "", "open", "probe", "wait", "failed", "held":
	default:
		return reply{token: token}, errForeign
	}
	if r.units < 0 || r.share < 0 || r.day.left < 0 {
		return reply{token: token}, errForeign
	}
	return r, nil
}
