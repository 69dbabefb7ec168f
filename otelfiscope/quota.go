package otelfiscope

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/metric"

	"github.com/fiscope/fiscope"
)

// ObserveQuota shows the quota of a client whenever the metrics are collected, from the last answer with quota headers;
// before the first it shows nothing. Between the reset and the next answer it is the quota of the day before: compare
// fiscope.quota.reset.timestamp with the time.
//
// Observe one client for each set of attributes ([WithAttributes]): with two, one would hide the other. The
// registration's Unregister ends it. It fails if the client is nil, if New did not make the Telemetry, or if the
// provider fails.
func (t *Telemetry) ObserveQuota(client *fiscope.Client) (metric.Registration, error) {
	if !t.made() {
		return nil, errors.New("otelfiscope: ObserveQuota: the Telemetry was not made by New")
	}
	if client == nil {
		return nil, errors.New("otelfiscope: ObserveQuota: the client is nil")
	}
	i := t.metrics
	return t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		q := client.RateLimit()
		if q == nil {
			return nil
		}
		with := metric.WithAttributes(t.attributes...)
		if q.Limit != nil {
			o.ObserveInt64(i.limit, int64(*q.Limit), with)
		}
		if q.Remaining != nil {
			o.ObserveInt64(i.remaining, int64(*q.Remaining), with)
		}
		if !q.Reset.IsZero() {
			o.ObserveInt64(i.reset, q.Reset.Unix(), with)
		}
		return nil
	}, i.limit, i.remaining, i.reset)
}
