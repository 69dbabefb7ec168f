package fiscope

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// CallOption sets something of one call. A wrong value makes the call fail; nothing is sent.
type CallOption interface{ applyToCall(*settings) error }

type callOption func(*settings) error

func (o callOption) applyToCall(s *settings) error { return o(s) }

// settings are what the options of a call decide, and what a query knows of its caller. Calls without options share
// their client's, so nobody changes what he was handed.
type settings struct {
	response *Response // to be filled; nil for none
	instead  *error    // to be filled with why a stale answer, or a Respaldo's, is one; nil for none
	reserve  int       // queries that are left to others
	fresh    bool      // the cache does not answer
	respaldo Respaldo  // of the call; nil for its client's
	invalid  error     // an option's wrong value
	deadline time.Time // of the caller who began a query that others may join; zero where he has none, or is alone
	leaveBy  time.Time // no attempt leaves later; zero for no such time
}

// deadlineOf returns until when the call's caller waits, and zero where that is not known.
func (s *settings) deadlineOf(ctx context.Context) time.Time {
	if deadline, bounded := ctx.Deadline(); bounded {
		return deadline
	}
	return s.deadline
}

// untilItLeaves returns the context of what an attempt waits for before it leaves.
func (s *settings) untilItLeaves(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.leaveBy.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, s.leaveBy, errNoTimeLeft)
}

// of returns the settings of a call with options, where these are those of a call without.
func (s *settings) of(opts []CallOption) *settings {
	if len(opts) == 0 {
		return s
	}
	own := *s
	for _, opt := range opts {
		err := misuse("an option of the call is nil")
		if opt != nil {
			err = opt.applyToCall(&own)
		}
		own.invalid = cmp.Or(own.invalid, err)
	}
	return &own
}

// WithResponse fills r with what is known of the call besides its result, also when the call fails.
func WithResponse(r *Response) CallOption {
	return callOption(func(s *settings) error {
		s.response = r
		return nil
	})
}

// WithoutCache asks the service, whatever the cache or a [Store] holds, and shares no query with calls that
// they may answer. The answer is kept for the next call. A Respaldo of the Client does not answer either
// ([WithRespaldo]).
func WithoutCache() CallOption {
	return callOption(func(s *settings) error {
		s.fresh = true
		return nil
	})
}

// QuotaOption is an option of a Client or of one call.
type QuotaOption interface {
	Option
	CallOption
}

// WithQuotaReserve keeps the last n queries of the day for others: for other programs when given to a
// Client, for other calls when given to one, over that of its Client. A call that would use them is
// refused with [ErrQuotaExceeded] and a RetryAfter; nothing is sent. What was answered since the last
// headers counts, since the contract promises them for lookups only. Before the first headers of a day,
// and in the minutes by which our clock is ahead of the service's at its end, nothing is known to keep.
func WithQuotaReserve(n int) QuotaOption { return quotaReserve(n) }

type quotaReserve int

func (n quotaReserve) applyToClient(c *config) error {
	if n < 0 {
		return fmt.Errorf("fiscope: WithQuotaReserve: want 0 or more, got %d", n)
	}
	c.reserve = int(n)
	return nil
}

func (n quotaReserve) applyToCall(s *settings) error {
	if n < 0 {
		return misuse("WithQuotaReserve wants 0 or more: it is %d", n)
	}
	s.reserve = int(n)
	return nil
}

// RespaldoOption is an option of a Client or of one call.
type RespaldoOption interface {
	Option
	CallOption
}

// WithRespaldo lets r answer Contribuyentes.Consultar, and a line of ConsultarLote, where the service cannot be
// asked: where the call would fail with [ErrUnavailable] or [ErrQuotaExceeded]. That of a call counts over that of
// its Client, which does not answer a call with [WithoutCache]. A stale answer of the cache comes first
// ([CachePolicy.StaleIfError]). Every other error stands, ErrNotFound among them, and so does that of a call whose
// context has ended. Other operations have no use for it.
//
// [Response.FromRespaldo] marks such an answer, and FechaRespaldo is the day of its data:
// [Contribuyente.ActivoYHabido] then speaks of that day. What the registry does not have is empty, as are the type,
// the activity and the dates in SUNAT's reduced one. It is kept nowhere: the next call asks the service again, and
// r only once that has failed. So let the context of a call outlast its attempts ([WithTimeout], [WithRetry]).
//
// Where r lacks the RUC, fails or panics, has the record of another RUC or one without a name, or is slower than the
// context, the caller gets the service's error. WithLogger tells, at level Warn, of an r that fails, and at Error
// of a panic. Each of the callers who share a query asks r for himself.
func WithRespaldo(r Respaldo) RespaldoOption { return respaldoOption{r} }

type respaldoOption struct{ respaldo Respaldo }

func (o respaldoOption) applyToClient(c *config) error {
	if isNil(o.respaldo) {
		return errors.New("fiscope: WithRespaldo: the Respaldo is nil")
	}
	c.respaldo = o.respaldo
	return nil
}

func (o respaldoOption) applyToCall(s *settings) error {
	if isNil(o.respaldo) {
		return misuse("the Respaldo of WithRespaldo is nil")
	}
	s.respaldo = o.respaldo
	return nil
}

// isNil reports whether r is nil, or holds a pointer, a func or a map that is.
func isNil(r Respaldo) bool {
	switch v := reflect.ValueOf(r); v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Slice, reflect.Chan:
		return v.IsNil()
	default:
		return false
	}
}
