package fiscope

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"
)

// longestWalk is how many days are looked at: holidays and weekends alone make 5 in a row, decreed days come
// on top.
const longestWalk = 10

// walk is an operation that asks for one day after another.
type walk struct {
	op         Operation
	ctx        context.Context
	service    *TipoCambioService
	opts       []CallOption // of each query
	settings   settings     // what they decide
	start      time.Time
	decretados []NoLaborables

	provisional bool // a day whose rate may still come is passed
	newest      bool // ... and so is every other that has none
	everyDay    bool // a table has a line for every day

	asked    bool      // for a day, whatever came of it
	answered bool      // ... by the service, which was sent the query
	queries  int       // of a table: since its last line
	before   int       // ... and those until then
	last     *Error    // the last "no rate"
	passed   bool      // a business day that may still get its rate was passed
	later    laterRate // the last that was found after a missing one
}

// missing is the answer that a day has no rate.
type missing struct {
	err    *Error
	header http.Header // nil where the cache answered
	asked  time.Time   // by the client's calendar
	cached bool
}

// laterRate is the rate of a day after one that has none.
type laterRate struct {
	tc      *TipoCambio // nil for none
	learned time.Time   // it was out by then, in real time
}

// walkOption is an option of the operations that walk.
type walkOption struct {
	name        string
	applyToWalk func(*walk) error
}

// applyToCall refuses it: those operations take it before they make calls.
func (o walkOption) applyToCall(*settings) error {
	return misuse("%s is an option of the operations that look for the rate that holds: UltimoPublicado, SUNAT, MasReciente, Mes", o.name)
}

func (s *TipoCambioService) newWalk(ctx context.Context, op Operation, opts []CallOption) *walk {
	w := &walk{op: op, ctx: ctx, service: s, start: time.Now()}
	var refused error
	for _, opt := range opts {
		if own, ok := opt.(walkOption); ok {
			refused = cmp.Or(refused, own.applyToWalk(w))
		} else {
			w.opts = append(w.opts, opt)
		}
	}
	w.settings = *s.asker.defaults.of(w.opts)
	w.settings.invalid = cmp.Or(w.settings.invalid, refused)
	if ctx == nil {
		w.settings.invalid = noContext()
	}
	if w.settings.response != nil {
		*w.settings.response = Response{}
	}
	return w
}

// nextLine begins to count the queries of another line of a table.
func (w *walk) nextLine() {
	w.before, w.queries = w.before+w.queries, 0
	if w.settings.response != nil {
		*w.settings.response = Response{}
	}
}

func (w *walk) diaHabil(dia Fecha) bool { return dia.DiaHabil(w.decretados...) }

// back asks from the day desde on, backwards, for the first rate. The first days of these, asked, have none.
func (w *walk) back(desde Fecha, asked int) (*TipoCambio, error) {
	for n := asked; n < longestWalk; n++ {
		dia := desde.AddDays(-n)
		if !w.diaHabil(dia) {
			continue
		}
		if tc, err := w.ask(dia); tc != nil || err != nil {
			return tc, err
		}
	}
	return nil, w.noneUpTo(desde)
}

// noneUpTo is the end of a walk whose longest has no rate.
func (w *walk) noneUpTo(desde Fecha) *Error {
	const noneOf = "none of the %d days up to %s has a rate"
	if w.passed {
		return w.failAfter(w.last, notYetPublished(0, noneOf, longestWalk, desde))
	}
	return w.failAfter(w.last, noRate(noneOf, longestWalk, desde))
}

// ask gets the rate of a business day. It returns neither a rate nor an error for a day to pass.
func (w *walk) ask(dia Fecha) (*TipoCambio, error) {
	if err := w.settings.invalid; err != nil {
		return nil, w.fail(err)
	}
	if wait := w.clock().until(dia.Publicacion()); wait > 0 {
		return nil, w.unpublished(nil, notYetPublished(wait, "that of %s normally is after 17:00 in Lima of that day", dia))
	}
	if tc := w.later.tc; tc != nil && tc.Fecha == dia {
		return tc, nil
	}
	tc, none, err := w.query(dia)
	if none == nil || w.newest || none.final(dia) {
		return tc, err
	}
	isOut, err := w.lookForLater(dia)
	if err != nil {
		return nil, err
	}
	if isOut && none.err.asked.Before(w.later.learned) || !isOut && none.mayBeFinal(dia) {
		// Its own rate may have come before or with the later one, and a "none" of the cache lacks the service's date.
		if tc, none, err = w.query(dia, WithoutCache()); none == nil {
			return tc, err
		}
	}
	if !isOut && !none.final(dia) {
		return nil, w.unpublished(none.err, notYetPublished(0, "there is none of %s so far", dia))
	}
	return nil, nil
}

// final reports whether a business day has no rate that may still come. The cache does not know what day it
// was for the service, so that its word alone makes nothing final.
func (m *missing) final(dia Fecha) bool { return !m.cached && m.mayBeFinal(dia) }

func (m *missing) mayBeFinal(dia Fecha) bool {
	return !earlier(m.asked, m.header).Before(dia.Publicacion().Add(mayStillCome))
}

// lookForLater reports whether the rate of a day after dia is out, for which it asks day by day, from dia on.
func (w *walk) lookForLater(dia Fecha) (isOut bool, err error) {
	if tc := w.later.tc; tc != nil && tc.Fecha.Compare(dia) > 0 {
		return true, nil
	}
	for n := 1; n <= longestWalk; n++ {
		d := dia.AddDays(n)
		if !w.diaHabil(d) {
			continue
		}
		if w.clock().until(d.Publicacion()) > 0 {
			break
		}
		if tc, none, err := w.query(d); none == nil {
			return tc != nil, err
		}
	}
	return false, nil
}

// query asks for the rate of a day. It returns one of three.
func (w *walk) query(dia Fecha, opts ...CallOption) (*TipoCambio, *missing, error) {
	w.asked = true
	var resp Response
	tc, err := w.service.Consultar(w.ctx, dia, slices.Concat(w.opts, opts, []CallOption{WithResponse(&resp)})...)
	w.note(resp)
	var e *Error
	switch {
	case errors.As(err, &e) && errors.Is(err, ErrNotFound):
		w.last = e
		return nil, &missing{e, resp.Header, w.clock().fromReal(e.asked), resp.FromCache}, nil
	case err != nil:
		return nil, nil, w.failAfter(e, copyError(e))
	case tc.Fecha != dia: // what lenient reading lets pass
		e := notContract("asked for the rate of %s, the answer is of %s", dia, tc.Fecha)
		e.StatusCode, e.Delivery = resp.StatusCode, DeliveryAnswered
		return nil, nil, w.tell(w.failAfter(e, e))
	}
	w.later = laterRate{tc, time.Now().Add(-resp.Age)}
	return tc, nil, nil
}

// unpublished passes a day whose rate may still come, or ends with the error.
func (w *walk) unpublished(answered, e *Error) error {
	if w.newest {
		return nil
	}
	if w.passed = true; w.provisional {
		return nil
	}
	return w.failAfter(answered, e)
}

// fail is the end of a walk that has asked for nothing.
func (w *walk) fail(err error) *Error {
	return w.service.asker.refuse(w.ctx, w.op, err)
}

// failAfter adds the circumstances of the walk to e, and of the answer it comes of, if any.
func (w *walk) failAfter(answered, e *Error) *Error {
	if !w.asked {
		return w.fail(e)
	}
	if answered != nil {
		e.after(answered)
	}
	e.Op, e.Attempts = w.op, w.before+w.queries
	if e.Delivery == DeliveryNotSent && w.answered { // the last query was not sent, and those before it were
		e.Delivery = DeliveryAnswered
	}
	return e
}

// tell tells of an error that no event of a query has.
func (w *walk) tell(e *Error) *Error {
	if o := &w.service.asker.observer; o.watching() {
		o.event(w.ctx, Event{Op: w.op, StatusCode: e.StatusCode, Duration: time.Since(w.start), Delivery: e.Delivery, Err: e})
	}
	return e
}

// note adds a query to what the caller sees of the walk: its last answer, and the sum of the attempts
// and warnings.
func (w *walk) note(resp Response) {
	if !resp.Coalesced {
		w.queries += resp.Attempts
		w.answered = w.answered || resp.Attempts > 0 && resp.StatusCode != 0
	}
	if w.settings.response == nil {
		return
	}
	resp.Attempts, resp.Duration = w.queries, time.Since(w.start)
	resp.Warnings = append(w.settings.response.Warnings, resp.Warnings...)
	*w.settings.response = resp
}

func (w *walk) clock() clock { return w.service.asker.clock }

// earlier returns the earlier of this client's time and the service's: a clock that is ahead must not
// make a rate that is still to come an old one.
func earlier(now time.Time, h http.Header) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil && date.Before(now) {
		return date
	}
	return now
}
