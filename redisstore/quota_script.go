package redisstore

import (
	_ "embed" // the script
	"errors"
	"strconv"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/redis/go-redis/v9"
)

//go:embed quota.lua
var quotaLua string

var quotaScript = redis.NewScript(quotaLua)

const (
	openTime   = time.Minute      // how long the fleet goes on without headers, or stops after a 429 without
	lookTime   = 15 * time.Minute // how often one of the fleet goes to see whether a spent quota still is
	settleTime = 2 * tryAgain     // how long the processes have to tell a Redis that lost its memory what they know
)

// The answers of quota.lua.
const (
	statusDay   = 1 + iota // queries of the day's count
	statusOpen             // one, while there is no count
	statusProbe            // the one that goes first, or to see
	statusSpent
	statusWait
	statusHeld // a 429 said so, not a count
)

// process is what a process says of itself in every call.
type process struct {
	name      string
	holder    string // random: this process, and not another one of the same name
	daily     int    // what WithDailyQuota says; 0 for nothing
	probeTime time.Duration
}

// request is what quota.lua is told and asked.
type request struct {
	want, keep int
	token      string
	news       learned
	probe      string // the probe that ends
	verdict    string
	view       view
	share      int // to be set aside; -1 to give it back
	held       int // set aside before
	ended      int // attempts that ended of those that left while there was no count, ever
	acked      int // of which Redis knows
}

// learned is what a process knows and Redis does not.
type learned struct {
	news      bool
	remaining int   // of a header
	reset     int64 // of a header, in Unix milliseconds; 0 for none
	back      int   // queries of the day's count that were not sent
	extra     int   // queries that were sent beyond what was reserved
}

// reply is the answer of quota.lua.
type reply struct {
	status, units, left int
	view                view
	share               int
}

// view is a day as Redis last told it. With it a process can tell it back.
type view struct {
	epoch   string
	kind    string
	reset   int64 // Unix milliseconds
	left    int
	granted int       // to all
	mine    int       // to this process
	until   time.Time // reset by this process's monotonic clock
	seq     uint64
}

// keys are the KEYS of quota.lua.
func (r request) keys(k keys, account string) []string {
	return []string{k.quota(account), k.processes(account), k.ended(account), k.call(account, r.token)}
}

// args are the ARGV of quota.lua.
func (r request) args(p process, now time.Time) []any {
	news := -1
	if r.news.news {
		news = r.news.remaining
	}
	v := r.view
	if v.kind == "p" {
		v = view{}
	}
	return []any{
		r.want, r.keep, r.token,
		news, r.news.reset, r.news.back, r.news.extra, r.ended,
		r.probe, r.verdict,
		v.epoch, v.kind, v.reset, v.left, v.mine,
		shareField(p.name), p.holder, r.share, r.held,
		p.daily, nextMidnight(now).UnixMilli(),
		milliseconds(p.probeTime), milliseconds(openTime), milliseconds(settleTime),
		r.acked, grantedField(p.holder), milliseconds(lookTime),
	}
}

var errForeign = errors.New("redisstore: the key of the quota holds something foreign")

func readReply(values []any, start time.Time, seq uint64) (reply, error) {
	if len(values) != 9 {
		return reply{}, errForeign
	}
	var numbers [9]int64
	var texts [9]string
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
	return reply{
		status: int(numbers[0]),
		units:  int(numbers[1]),
		left:   int(numbers[2]),
		share:  int(numbers[8]),
		view: view{
			epoch: texts[5], kind: texts[6], reset: numbers[3], left: int(numbers[2]), granted: int(numbers[7]),
			until: start.Add(time.Duration(numbers[4]) * time.Millisecond), seq: seq,
		},
	}, nil
}

// nextMidnight is when a day of WithDailyQuota is taken to end.
func nextMidnight(now time.Time) time.Time {
	y, m, d := now.In(fiscope.Lima).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, fiscope.Lima)
}
