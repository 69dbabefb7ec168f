package fiscope

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"time"
)

// The operations that ask for one day after another until one has a rate. Each of their queries is a
// TipoCambio.Consultar, with its guards.
const (
	OpTipoCambioUltimoPublicado Operation = "TipoCambio.UltimoPublicado"
	OpTipoCambioSUNAT           Operation = "TipoCambio.SUNAT"
	OpTipoCambioMes             Operation = "TipoCambio.Mes"
)

// TipoCambioVigente is the rate that holds for a date by one of two datings: that of
// [TipoCambioService.UltimoPublicado] or that of [TipoCambioService.SUNAT].
type TipoCambioVigente struct {
	Para        Fecha      `json:"para"`        // the date that was asked about
	TipoCambio  TipoCambio `json:"tipoCambio"`  // the rate; its Fecha is the effective date, the regulator's closing date
	Consultas   int        `json:"consultas"`   // the queries that it cost
	Provisional bool       `json:"provisional"` // a later rate is due that would hold instead: see WithProvisional
}

// WithProvisional makes UltimoPublicado and SUNAT walk past a business day whose rate is not published
// yet. The rate they then return is not the official one, and their result says so.
// [TipoCambioService.Mes] leaves such days out. Every other operation refuses the option.
func WithProvisional() CallOption { return provisional{} }

type provisional struct{}

func (provisional) applyToCall(*settings) error {
	return invalid("WithProvisional is an option of UltimoPublicado, SUNAT and Mes alone")
}

// UltimoPublicado gets the rate with the greatest date on or before fecha: the closing rate of the
// banking regulator (SBS) as of that date. Whether a conversion is to use this dating or that of
// [TipoCambioService.SUNAT] is for you and your accountant to decide.
//
// It asks day by day, from fecha back, and only for days that can have a rate: a Monday after a long
// weekend costs one query. It looks at 10 days at most.
//
// A business day without a rate ends it with ErrNotYetPublished while the rate may still come: where its
// hour, 17:00 in Lima, is ahead (nothing is sent, and the error's RetryAfter is the time until then), and
// where the service has none for one of the last 3 business days whose hour is past. To walk on would
// return an older rate as if it were the one of fecha; [WithProvisional] does, and says so. A day before
// those is taken for one that a decree made free.
//
// Errors: ErrInvalidRequest (the zero Fecha, or a day that does not exist: nothing is sent),
// ErrNotYetPublished (also ErrNotFound), ErrNotFound (10 days without a rate), and those of every
// operation.
func (s *TipoCambioService) UltimoPublicado(ctx context.Context, fecha Fecha, opts ...CallOption) (*TipoCambioVigente, error) {
	return s.back(ctx, OpTipoCambioUltimoPublicado, fecha, fecha, opts)
}

// SUNAT gets the rate that the tax authority (SUNAT) shows for fecha, which is the one with the greatest
// date before it: SUNAT's table shows on each day the SBS close of the day before, or the last one
// before that. It is the official rate for a receipt of that date; sales use Venta. To ask
// [TipoCambioService.Consultar] for the receipt's date instead gives the rate of the next day.
//
// The rule for the IGV is article 5, numeral 17, of the regulation of its law (Decreto Supremo
// 029-94-EF): the weighted average selling rate that SBS published on the date on which the tax
// obligation arises or, where none was published on it, the last one; for imports, on the date of
// payment. Which date that is, and whether another tax asks for another rate, is for you and your
// accountant to decide.
//
// It costs and fails as UltimoPublicado of the day before does.
func (s *TipoCambioService) SUNAT(ctx context.Context, fecha Fecha, opts ...CallOption) (*TipoCambioVigente, error) {
	return s.back(ctx, OpTipoCambioSUNAT, fecha, fecha.AddDays(-1), opts)
}

// back asks from the day desde on, backwards, for the rate that holds for fecha.
func (s *TipoCambioService) back(ctx context.Context, op Operation, fecha, desde Fecha, opts []CallOption) (*TipoCambioVigente, error) {
	return hooked(ctx, s.asker.hook, op, s.asker.settings(opts), func(ctx context.Context, set settings) (*TipoCambioVigente, error) {
		return s.newWalk(ctx, op, append(slices.Clip(opts), WithResponse(set.response))).back(fecha, desde)
	})
}

// Mes gets SUNAT's table of a month, in order: for each day after a day with a rate, that rate. A day
// that is not in it has the rate of the last one that is, which for the first days of a month may stand
// in the table of the month before. Each line costs one query, and so does a day that a decree made free.
//
// The table of a running month ends with ErrNotYetPublished at the first day whose rate is not there
// yet; [WithProvisional] leaves such days out instead. An error is the last that it yields; its line has only
// the day in Para.
//
// Errors: those of UltimoPublicado.
func (s *TipoCambioService) Mes(ctx context.Context, year int, mes time.Month, opts ...CallOption) iter.Seq2[TipoCambioVigente, error] {
	return func(yield func(TipoCambioVigente, error) bool) {
		_, _ = hooked(ctx, s.asker.hook, OpTipoCambioMes, s.asker.settings(opts), func(ctx context.Context, set settings) (any, error) {
			return nil, s.mes(ctx, NewFecha(year, mes, 1), append(slices.Clip(opts), WithResponse(set.response)), yield)
		})
	}
}

// mes yields the table of the month that begins with first. It returns the error that it yields, if any.
func (s *TipoCambioService) mes(ctx context.Context, first Fecha, opts []CallOption, yield func(TipoCambioVigente, error) bool) error {
	if !first.Valid() {
		err := s.newWalk(ctx, OpTipoCambioMes, opts).fail(invalid("want a month of the years 1 to 9999: it is %q", first))
		yield(TipoCambioVigente{Para: first}, err)
		return err
	}
	asked := false
	for para := first; para.Month() == first.Month(); para = para.AddDays(1) {
		dia := para.AddDays(-1)
		if !dia.Valid() || !dia.DiaHabil() {
			continue
		}
		w := s.newWalk(ctx, OpTipoCambioMes, opts)
		w.asked = asked
		tc, err := w.ask(dia)
		asked = w.asked
		switch {
		case err != nil:
			yield(TipoCambioVigente{Para: para}, err)
			return err
		case tc != nil && !yield(TipoCambioVigente{Para: para, TipoCambio: *tc, Consultas: w.queries}, nil):
			return nil
		}
	}
	return nil
}

const (
	longestWalk = 10 // days looked at: holidays and weekends alone make 5 in a row, decreed days come on top
	recentDays  = 3  // business days on which "no rate" may mean "not yet"
)

// walk is an operation that asks for one day after another.
type walk struct {
	op          Operation
	ctx         context.Context
	service     *TipoCambioService
	opts        []CallOption // of each query
	settings    settings     // what they decide
	start       time.Time
	provisional bool // a day whose rate may still come is passed

	asked   bool // for a day, whatever came of it
	queries int
	last    *Error // the last "no rate"
	passed  bool   // a business day that may still get its rate was passed
}

func (s *TipoCambioService) newWalk(ctx context.Context, op Operation, opts []CallOption) *walk {
	w := &walk{op: op, ctx: ctx, service: s, start: time.Now()}
	for _, opt := range opts {
		if opt == WithProvisional() {
			w.provisional = true
		} else {
			w.opts = append(w.opts, opt)
		}
	}
	w.settings = s.asker.settings(w.opts)
	if ctx == nil {
		w.settings.invalid = noContext()
	}
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
	const noneOf = "none of the %d days up to %s has a rate"
	if w.passed {
		return nil, w.failAfter(w.last, notYetPublished(0, noneOf, longestWalk, desde))
	}
	return nil, w.failAfter(w.last, noRate(noneOf, longestWalk, desde))
}

// ask gets the rate of a business day. It returns neither a rate nor an error for a day to pass.
func (w *walk) ask(dia Fecha) (*TipoCambio, error) {
	if err := w.settings.invalid; err != nil {
		return nil, w.fail(err)
	}
	if wait := w.service.asker.clock.until(dia.Publicacion()); wait > 0 {
		return nil, w.unpublished(nil, notYetPublished(wait, "that of %s normally is after 17:00 in Lima of that day", dia))
	}
	w.asked = true
	var resp Response
	tc, err := w.service.Consultar(w.ctx, dia, append(slices.Clip(w.opts), WithResponse(&resp))...)
	w.note(resp)
	var e *Error
	switch {
	case errors.As(err, &e) && errors.Is(err, ErrNotFound):
		w.last = e
		if recent(dia, earlier(w.service.asker.clock.now().Add(-resp.Age), resp.Header)) {
			return nil, w.unpublished(e, notYetPublished(0, "there is none of %s so far", dia))
		}
		return nil, nil
	case err != nil:
		return nil, w.failAfter(e, copyError(e))
	case tc.Fecha != dia: // what lenient reading lets pass
		e := notContract("asked for the rate of %s, the answer is of %s", dia, tc.Fecha)
		e.StatusCode, e.Delivery = resp.StatusCode, DeliveryAnswered
		return nil, w.tell(w.failAfter(e, e))
	}
	return tc, nil
}

// unpublished passes a day whose rate may still come, or ends with the error.
func (w *walk) unpublished(answered, e *Error) error {
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
	e.Op, e.Attempts = w.op, w.queries
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

// earlier returns the earlier of this client's time and the service's: a clock that is ahead must not
// make a rate that is still to come an old one.
func earlier(now time.Time, h http.Header) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil && date.Before(now) {
		return date
	}
	return now
}
