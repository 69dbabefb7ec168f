package redisstore_test

import (
	"context"
	"flag"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

type noLog struct{}

func (noLog) Printf(context.Context, string, ...any) {}

func TestMain(m *testing.M) {
	redis.SetLogger(noLog{}) // go-redis writes to stderr of every connection that fails
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // what is parallel here waits, and does not compute
	goleak.VerifyTestMain(m)
}
