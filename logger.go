package fiscope

import (
	"context"
	"log/slog"
	"strings"

	"github.com/fiscope/fiscope/internal/loglimit"
)

// log logs an event. Repeated refusals are only counted.
func (o *observer) log(ctx context.Context, e Event) {
	attrs := []slog.Attr{slog.Any("event", e)}
	var of *loglimit.Repetition
	switch {
	case e.Avoided == AvoidedQuota && e.Err != nil:
		of = &o.quota
	case e.Avoided == AvoidedSOL && e.Err != nil:
		of = &o.sol
	case e.Attempt > 0 && e.StatusCode != 0 && e.Err == nil:
		o.logEnd(ctx, &o.quota, "fiscope: the quota is open again")
		if strings.HasPrefix(string(e.Op), "CPE.") {
			o.logEnd(ctx, &o.sol, "fiscope: a SOL user is accepted again")
		}
	}
	if of != nil {
		omitted, logged := of.Again()
		if !logged {
			return
		}
		if omitted > 0 {
			attrs = append(attrs, slog.Int("omitted", omitted))
		}
	}
	o.logger.LogAttrs(ctx, e.level(), e.message(), attrs...) //nolint:sloglint // one of a few constants
}

func (o *observer) logEnd(ctx context.Context, of *loglimit.Repetition, message string) {
	if omitted, ended := of.End(); ended {
		o.logger.LogAttrs(ctx, slog.LevelInfo, message, slog.Int("omitted", omitted)) //nolint:sloglint // see above
	}
}

// level is Debug for what the caller caused, and for results without anything odd.
func (e Event) level() slog.Level {
	switch {
	case e.Err != nil && !outcomes[outcomeOf(e.Err)].quiet:
		return slog.LevelWarn
	case e.Err == nil && (e.fallback() || len(e.Warnings) > 0 && e.Avoided == avoidedNot): // a cached answer's were logged before
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// message describes an event in a few words.
func (e Event) message() string {
	switch e.Source {
	case SourceRespaldo:
		return "fiscope: answered from the Respaldo"
	case SourceStale:
		return "fiscope: answered with a stale answer"
	case SourceService, SourceShared, SourceCache:
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
	case AvoidedOutage, avoidedNot:
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
	attrs := []slog.Attr{slog.String("op", string(e.Op)), slog.Int("attempt", e.Attempt), slog.String("duration", e.Duration.String()), slog.String("delivery", e.Delivery.String())}
	if e.StatusCode != 0 {
		attrs = append(attrs, slog.Int("status", e.StatusCode))
	}
	if failure, ok := e.Err.(*Error); ok && failure.Code != "" { //nolint:errorlint // it always is
		attrs = append(attrs, slog.String("code", failure.Code))
	}
	if e.Avoided != avoidedNot {
		attrs = append(attrs, slog.String("avoided", string(e.Avoided)))
	}
	if e.Source != "" {
		attrs = append(attrs, slog.String("source", string(e.Source)))
	}
	if e.fallback() && !e.AsOf.IsZero() {
		attrs = append(attrs, slog.Time("asOf", e.AsOf))
	}
	if e.RateLimit != nil {
		attrs = append(attrs, slog.String("quota", e.RateLimit.String()))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.String("class", ErrorClass(e.Err)), slog.String("error", e.Err.Error()))
	}
	if len(e.Warnings) > 0 {
		attrs = append(attrs, slog.Any("warnings", e.Warnings))
	}
	return slog.GroupValue(attrs...)
}

// LogValue returns a group of the fields that are set, with the line of Error as "error".
func (e *Error) LogValue() slog.Value {
	if e == nil {
		return slog.StringValue(e.Error())
	}
	attrs := []slog.Attr{slog.String("error", e.Error()), slog.String("op", string(e.Op)), slog.String("class", ErrorClass(e)), slog.String("delivery", e.Delivery.String()), slog.Int("attempts", e.Attempts)}
	if e.StatusCode != 0 {
		attrs = append(attrs, slog.Int("status", e.StatusCode), slog.String("code", e.Code))
	}
	if e.Field != "" {
		attrs = append(attrs, slog.String("field", e.Field))
	}
	if e.RetryAfter > 0 {
		attrs = append(attrs, slog.String("retryAfter", e.RetryAfter.String()))
	}
	return slog.GroupValue(attrs...)
}
