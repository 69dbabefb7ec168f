package fiscope

import (
	"context"
	"log/slog"
	"reflect"
	"slices"

	"github.com/fiscope/fiscope/internal/loglimit"
)

// outage is a failure that repeats itself, as it is logged.
type outage struct {
	op    Operation
	class string
}

// outage returns the outage that a failure belongs to.
func (o *observer) outage(op Operation, why error) *loglimit.Outage {
	of, _ := o.outages.LoadOrStore(outage{op, ErrorClass(why)}, new(loglimit.Outage))
	return of.(*loglimit.Outage)
}

// log logs an event. A failure that repeats itself is logged at its level once a minute, and otherwise at Debug.
func (o *observer) log(ctx context.Context, e Event, why *Error) {
	level, attrs := e.level(why), []slog.Attr{slog.Any("event", e)}
	switch {
	case why != nil && level > slog.LevelDebug:
		calls, logged := o.outage(e.Op, why).Log(true)
		if !logged {
			level = slog.LevelDebug
		} else if calls > 1 {
			attrs = append(attrs, slog.Int("count", calls))
		}
	case e.StatusCode != 0:
		o.logEnds(ctx, e.Op)
	}
	o.logger.LogAttrs(ctx, level, e.message(), attrs...) //nolint:sloglint // one of a few constants
}

// logEnds logs the end of an operation's outages: the service has answered.
func (o *observer) logEnds(ctx context.Context, op Operation) {
	o.outages.Range(func(key, of any) bool {
		if key.(outage).op != op {
			return true
		}
		if calls, lasted, ended := of.(*loglimit.Outage).End(); ended {
			o.logger.LogAttrs(ctx, slog.LevelInfo, "fiscope: the service answers again", slog.String("op", string(op)),
				slog.String("class", key.(outage).class), slog.Int("count", calls), slog.String("duration", lasted.String()))
		}
		return true
	})
}

// level is that of the failure: Info instead of Warn if a fallback answered. A result is Info if the service's answer was
// odd.
func (e Event) level(why *Error) slog.Level {
	switch {
	case why != nil && e.Err == nil && outcomes[outcomeOf(why)].level == slog.LevelWarn:
		return slog.LevelInfo
	case why != nil:
		return outcomes[outcomeOf(why)].level
	case len(e.Warnings) > 0 && e.Avoided == avoidedNot: // those of a cached answer were logged before
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// message describes an event in a few words.
func (e Event) message() string {
	if instead, ok := fallbacks[e.Source]; ok {
		return instead.message
	}
	switch e.Avoided {
	case AvoidedCached:
		return "fiscope: answered from the cache"
	case AvoidedCoalesced:
		return "fiscope: shared another call's query"
	case AvoidedInvalid, AvoidedQuota, AvoidedSOL, AvoidedUnpublished:
		return "fiscope: refused before it was sent"
	case AvoidedOutOfTime:
		return "fiscope: ended before it was sent"
	}
	switch {
	case e.StatusCode == 0:
		return "fiscope: not answered"
	case e.Err != nil:
		return "fiscope: answered with an error"
	}
	return "fiscope: answered"
}

// LogValue returns a group of the fields that are set.
func (e Event) LogValue() slog.Value {
	more := []slog.Attr{slog.Int("status", e.StatusCode)}
	if failure, ok := e.Err.(*Error); ok { //nolint:errorlint // it always is
		more = append(more, slog.String("code", failure.Code))
	}
	more = append(more, slog.String("avoided", string(e.Avoided)), slog.String("source", string(e.Source)))
	if _, instead := fallbacks[e.Source]; instead {
		more = append(more, slog.Time("asOf", e.AsOf))
	}
	if e.RateLimit != nil {
		more = append(more, slog.String("quota", e.RateLimit.String()))
	}
	if e.Err != nil {
		more = append(more, slog.String("class", ErrorClass(e.Err)), slog.String("error", e.Err.Error()))
	}
	return group([]slog.Attr{slog.String("op", string(e.Op)), slog.Int("attempt", e.Attempt), slog.String("duration", e.Duration.String()), slog.String("delivery", e.Delivery.String())},
		append(more, slog.Any("warnings", e.Warnings)))
}

// group returns the attributes that are always shown, and those of more that are set.
func group(always, more []slog.Attr) slog.Value {
	more = slices.DeleteFunc(more, func(a slog.Attr) bool { return reflect.ValueOf(a.Value.Any()).IsZero() })
	return slog.GroupValue(append(always, more...)...)
}

// LogValue returns a group of the fields that are set, with the line of Error as "error".
func (e *Error) LogValue() slog.Value {
	if e == nil {
		return slog.StringValue(e.Error())
	}
	more := []slog.Attr{slog.Int("status", e.StatusCode), slog.String("code", e.Code), slog.String("field", e.Field)}
	if e.RetryAfter > 0 {
		more = append(more, slog.String("retryAfter", e.RetryAfter.String()))
	}
	return group([]slog.Attr{slog.String("error", e.Error()), slog.String("op", string(e.Op)), slog.String("class", ErrorClass(e)), slog.String("delivery", e.Delivery.String()), slog.Int("attempts", e.Attempts)}, more)
}
