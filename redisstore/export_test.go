package redisstore

import "strings"

// The scripts of the quota, with the time in milliseconds as their last argument.
var (
	ReserveLua = withTime(dayLua + reserveLua)
	CommitLua  = withTime(dayLua + commitLua)
)

func withTime(script string) string {
	return strings.Replace(script, "redis.call('TIME')", "{math.floor(ARGV[#ARGV] / 1000), ARGV[#ARGV] % 1000 * 1000}", 1)
}
