package redisstore_test

import (
	"testing"

	"github.com/fiscope/fiscope/redisstore"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
)

func TestNewRefusesWhatCannotWork(t *testing.T) {
	b := newBed(t)
	for name, opt := range map[string]redisstore.Option{
		"nil":        nil,
		"prefix":     redisstore.WithPrefix("{x}"),
		"lease":      redisstore.WithLease(0),
		"share":      redisstore.WithShare(-1),
		"name":       redisstore.WithName(""),
		"quota":      redisstore.WithDailyQuota(0),
		"timeout":    redisstore.WithTimeout(0),
		"probe time": redisstore.WithProbeTime(0),
		"logger":     redisstore.WithLogger(nil),
		"answers":    redisstore.WithAnswers(nil),
		"no answers": redisstore.WithAnswers((*redis.Client)(nil)),
	} {
		_, err := redisstore.New(b.client, opt)
		assert.ErrorContains(t, err, "redisstore: ", name)
	}
	_, err := redisstore.New(nil)
	assert.ErrorContains(t, err, "client is nil")
}
