package redisstore

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// forgetting is how long a method that is no longer called counts as failing while others succeed.
const forgetting = time.Minute

// outage logs when Redis begins to fail, and when it answers again.
type outage struct {
	log *slog.Logger

	mu      sync.Mutex
	failing map[string]failure // by method
	began   time.Time
}

type failure struct {
	at    time.Time
	alone bool // Redis refuses this method, perhaps not others
}

// report records the outcome of a call.
func (o *outage) report(method string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, before := time.Now(), len(o.failing)
	if err != nil {
		o.failing[method] = failure{now, refused(err)}
		if before == 0 {
			o.began = now
			o.log.Warn("redisstore: Redis fails", slog.String("method", method), slog.Any("error", err))
		}
		return
	}
	maps.DeleteFunc(o.failing, func(other string, f failure) bool {
		return other == method || !f.alone || now.Sub(f.at) > forgetting
	})
	if before > 0 && len(o.failing) == 0 {
		o.log.Info("redisstore: Redis answers again", slog.Duration("after", now.Sub(o.began)))
	}
}

// refused reports whether Redis refuses this command rather than all.
func refused(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) &&
		!redis.IsAuthError(err) && !redis.IsLoadingError(err) && !redis.IsMasterDownError(err) && !redis.IsClusterDownError(err)
}

// dials keeps the error of the Redis client's last attempt to connect. The client itself reports it only when it gives
// up, long after its caller left.
type dials struct {
	mu  sync.Mutex
	err error
}

// watch adds a hook to a client.
func (d *dials) watch(client redis.UniversalClient) {
	if cluster, ok := client.(interface{ OnNewNode(func(*redis.Client)) }); ok {
		cluster.OnNewNode(func(node *redis.Client) { node.AddHook(d) })
		return
	}
	client.AddHook(d)
}

// DialHook implements [redis.Hook].
func (d *dials) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.err = err
		return conn, err
	}
}

// ProcessHook implements [redis.Hook].
func (*dials) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook implements [redis.Hook].
func (*dials) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// failed returns why the last connection failed; nil if it did not.
func (d *dials) failed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}
