package redisstore_test

import (
	"context"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

type noLog struct{}

func (noLog) Printf(context.Context, string, ...any) {}

func TestMain(m *testing.M) {
	redis.SetLogger(noLog{}) // go-redis tells of every connection that fails
	if os.Getenv(workerEnv) != "" {
		os.Exit(work())
	}
	goleak.VerifyTestMain(m)
}
