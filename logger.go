package fiscope

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/fiscope/fiscope/internal/loglimit"
)

// log logs an event. Repeated refusals are only counted.
func (o *observer) log(ctx context.Context, e Event) {
	attrs := []slog.Attr{slog.Any("event", e)}
	var of *loglimit.Repetition
	switch {
	case e.Avoided == AvoidedQuota:
		of = &o.quota
	case e.Avoided == AvoidedSOL:
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

// level is Debug for what the caller caused: a cancellation, or input that is invalid or answered with 400. Any other
// 4xx of class invalid_request is Warn: it comes from a proxy or firewall.
func (e Event) level() slog.Level {
	switch class := ErrorClass(e.Err); class {
	case "":
		if e.FromRespaldo || len(e.Warnings) > 0 && e.Avoided == avoidedNot { // otherwise they were logged before
			return slog.LevelInfo
		}
		return slog.LevelDebug
	case "not_found", "not_yet_published", "search_too_short", "canceled":
		return slog.LevelDebug
	case "invalid_request":
		if e.StatusCode == 0 || e.StatusCode == http.StatusBadRequest {
			return slog.LevelDebug
		}
	}
	return slog.LevelWarn
}

// message describes an event in a few words.
func (e Event) message() string {
	if e.FromRespaldo {
		return "fiscope: answered from the Respaldo"
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
	case AvoidedOutage:
		return "fiscope: answered with a stale answer"
	case avoidedNot:
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
	if e.Code != "" {
		attrs = append(attrs, slog.String("code", e.Code))
	}
	if e.Avoided != avoidedNot {
		attrs = append(attrs, slog.String("avoided", string(e.Avoided)))
	}
	if e.FromRespaldo {
		attrs = append(attrs, slog.String("respaldo", e.FechaRespaldo.String()))
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
