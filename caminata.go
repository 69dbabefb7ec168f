package fiscope

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"
)

const (
	longestWalk = 10 // days looked at: holidays and weekends alone make 5 in a row, decreed days come on top
	recentDays  = 3  // business days on which "no rate" may mean "not yet"
)

// walk is an operation that asks for one day after another.
type walk struct {
	*call       // the operation itself, which sends nothing
	service     *TipoCambioService
	opts        []CallOption // of each query
	provisional bool

	queries int
	last    *Error // the last "no rate"
	passed  bool   // a business day that may still get its rate
}

func (s *TipoCambioService) newWalk(ctx context.Context, op Operation, opts []CallOption) *walk {
	w := &walk{service: s}
	for _, opt := range opts {
		if opt == Provisional() {
			w.provisional = true
		} else {
			w.opts = append(w.opts, opt)
		}
	}
	w.call = newCall(ctx, s.client, request{op: op}, s.client.settings(w.opts))
	if w.settings.response != nil {
		*w.settings.response = Response{}
	}
	return w
}

// back asks from the day desde on, backwards, for the rate that holds for fecha.
func (w *walk) back(fecha, desde Fecha) (*TipoCambioVigente, error) {
	if !fecha.Valid() {
		return nil, w.fail(invalid("fecha must be a day of the calendar: it is %q", fecha))
	}
	for n := range longestWalk {
		dia := desde.AddDays(-n)
		if !dia.Valid() || !dia.DiaHabil() {
			continue
		}
		tc, err := w.ask(dia)
		if err != nil {
			return nil, err
		}
		if tc != nil {
			return &TipoCambioVigente{Para: fecha, TipoCambio: *tc, Consultas: w.queries, Provisional: w.passed}, nil
		}
	}
	kind := ErrNotFound
	if w.passed {
		kind = ErrNotYetPublished
	}
	return nil, w.failAfter(w.last, &Error{kind: kind, Message: "none of the " + strconv.Itoa(longestWalk) + " days up to " + desde.String() + " has a rate"})
}

// ask gets the rate of a business day. It returns neither a rate nor an error for a day to pass.
func (w *walk) ask(dia Fecha) (*TipoCambio, error) {
	if err := w.request.invalid; err != nil {
		return nil, w.fail(err)
	}
	if wait := time.Until(dia.Publicacion()); wait > 0 {
		return nil, w.unpublished(nil, &Error{RetryAfter: wait, Message: "that of " + dia.String() + " normally is after 17:00 in Lima of that day"})
	}
	var resp Response
	tc, err := w.service.Consultar(w.ctx, dia, append(slices.Clip(w.opts), WithResponse(&resp))...)
	w.note(resp)
	var e *Error
	switch {
	case errors.As(err, &e) && errors.Is(err, ErrNotFound):
		w.last = e
		if recent(dia, earlier(time.Now().Add(-resp.Age), resp.Header)) {
			return nil, w.unpublished(e, &Error{Message: "there is none of " + dia.String() + " so far"})
		}
		return nil, nil
	case err != nil:
		again := *e
		return nil, w.failAfter(e, &again)
	case tc.Fecha != dia: // what lenient reading lets pass
		return nil, w.failAfter(&Error{StatusCode: resp.StatusCode, Delivery: Answered}, &Error{kind: ErrMalformedResponse, Message: "asked for the rate of " + dia.String() + ", the answer is of " + tc.Fecha.String()})
	}
	return tc, nil
}

// unpublished passes a day whose rate may still come, or ends with the error.
func (w *walk) unpublished(answered, e *Error) error {
	if w.passed = true; w.provisional {
		return nil
	}
	e.kind = ErrNotYetPublished
	return w.failAfter(answered, e)
}

// fail is the end of the walk by an error of its own.
func (w *walk) fail(err error) *Error { return w.failAfter(w.last, w.failure(err)) }

// failAfter adds the circumstances of the walk to e, and of the answer it comes of, if any.
func (w *walk) failAfter(answered, e *Error) *Error {
	if answered != nil {
		e.StatusCode, e.Code, e.RateLimit, e.Delivery, e.body = answered.StatusCode, answered.Code, answered.RateLimit, answered.Delivery, answered.body
	}
	e.Op, e.Attempts = w.request.op, w.queries
	return e
}

// note adds a query to what the caller sees of the walk: its last answer, and the sum of the attempts
// and warnings.
func (w *walk) note(resp Response) {
	if !resp.Coalesced {
		w.queries += resp.Attempts
	}
	if w.settings.response == nil {
		return
	}
	resp.Attempts, resp.Duration = w.queries, time.Since(w.start)
	resp.Warnings = append(w.settings.response.Warnings, resp.Warnings...)
	*w.settings.response = resp
}

// recent reports whether dia is one of the last business days whose rate is due at now.
func recent(dia Fecha, now time.Time) bool {
	later := 0
	for d := FechaEnLima(now); later < recentDays && d.Compare(dia) > 0; d = d.AddDays(-1) {
		if d.DiaHabil() && !now.Before(d.Publicacion()) {
			later++
		}
	}
	return later < recentDays
}

// earlier returns the earlier of this machine's time and the service's: a clock that is ahead must not
// make a rate that is still to come an old one.
func earlier(now time.Time, h http.Header) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil && date.Before(now) {
		return date
	}
	return now
}
