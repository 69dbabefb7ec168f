package fiscope

import (
	"context"
	"errors"
	"iter"
	"time"
)

// TipoCambioVigente is the rate that holds for a date.
type TipoCambioVigente struct {
	Para        Fecha      `json:"para"`        // the date asked about
	TipoCambio  TipoCambio `json:"tipoCambio"`  // the rate; its Fecha is the regulator's closing date
	Consultas   int        `json:"consultas"`   // how many queries it cost
	Provisional bool       `json:"provisional"` // not the official one: see WithProvisional
}

// SUNAT gets the official rate for a receipt of that date: the last one that SBS published before it. Sales use Venta;
// a credit or debit note has the rate of the receipt that it modifies. docs/tipo-de-cambio.md has the law.
//
// It asks for business days only, back from the day before: usually one query, 10 days at most. If the rate of such a
// day may still come, it returns ErrNotYetPublished, not an older rate; RetryAfter is how long to wait.
//
// Errors: ErrInvalidRequest (not a day of the calendar: nothing is sent), ErrNotYetPublished, ErrNotFound (10 days
// without a rate), and those of every operation.
func (s *TipoCambioService) SUNAT(ctx context.Context, fecha Fecha, opts ...CallOption) (*TipoCambioVigente, error) {
	return s.vigente(ctx, OpTipoCambioSUNAT, fecha, fecha.SumarDias(-1), opts)
}

// UltimoPublicado gets the closing rate as of fecha, to value a balance: the last one of that date or before. Its cost
// and errors are those of SUNAT for the next day.
func (s *TipoCambioService) UltimoPublicado(ctx context.Context, fecha Fecha, opts ...CallOption) (*TipoCambioVigente, error) {
	return s.vigente(ctx, OpTipoCambioUltimoPublicado, fecha, fecha, opts)
}

// MasReciente gets the last published rate, for display or estimates. For a receipt use SUNAT. It asks for 10 days at
// most. Errors: ErrNotFound (none has a rate), and those of every operation.
func (s *TipoCambioService) MasReciente(ctx context.Context, opts ...CallOption) (*TipoCambioVigente, error) {
	s = s.made()
	hoy := FechaEnLima(s.core.clock.now())
	return s.vigente(ctx, OpTipoCambioMasReciente, hoy, hoy, opts)
}

// vigente gets the rate that holds for fecha: the last one of desde or before.
func (s *TipoCambioService) vigente(ctx context.Context, op Operation, fecha, desde Fecha, opts []CallOption) (*TipoCambioVigente, error) {
	w := s.walk(op, fecha, opts)
	return w.within(ctx, func(ctx context.Context) (*TipoCambioVigente, error) { return w.line(ctx, fecha, desde) })
}

// Mes gets SUNAT's table of a month, in order. A day has a line if the day before has a rate of its own; other days
// have the rate of the line before, or of the month before. See [WithTodosLosDias].
//
// A line costs one query, and so does a business day without a rate. The running month ends with ErrNotYetPublished at
// the first day whose rate may still come; [WithProvisional] leaves such days out. An error is the last item, with the
// day in Para. Errors are those of SUNAT.
func (s *TipoCambioService) Mes(ctx context.Context, year int, mes time.Month, opts ...CallOption) iter.Seq2[TipoCambioVigente, error] {
	return func(yield func(TipoCambioVigente, error) bool) {
		first := NewFecha(year, mes, 1)
		w := s.walk(OpTipoCambioMes, first, opts)
		_, _ = w.within(ctx, func(ctx context.Context) (*TipoCambioVigente, error) {
			for para := first; para.Month() == first.Month(); para = para.SumarDias(1) {
				line, err := w.line(ctx, para, para.SumarDias(-1))
				if err != nil {
					yield(TipoCambioVigente{Para: para}, err)
					return nil, err
				}
				if line != nil && !yield(*line, nil) {
					break
				}
			}
			return nil, nil
		})
	}
}

// walkOption is an option of the operations above. Every other operation refuses it.
type walkOption struct {
	name string
	only Operation // "" for all of them
	set  func(*walk)
}

func (o walkOption) applyToCall(*settings) error {
	if o.only != "" {
		return misuse("%s is an option of %s alone", o.name, o.only)
	}
	return misuse("%s is an option of SUNAT, UltimoPublicado, MasReciente and Mes", o.name)
}

// WithProvisional makes SUNAT and UltimoPublicado skip a business day whose rate may still come, and mark the older
// rate as Provisional: it is not the official one. Mes leaves such days out.
func WithProvisional() CallOption {
	return walkOption{"WithProvisional", "", func(w *walk) { w.provisional = true }}
}

// WithNoLaborables makes SUNAT, UltimoPublicado, MasReciente and Mes skip days that a decree declared free. Without it
// such a day delays the rates after it until the next business day's is published. Leave out days that are free for
// public offices alone: SBS may publish on them.
func WithNoLaborables(decretados ...NoLaborables) CallOption {
	return walkOption{"WithNoLaborables", "", func(w *walk) { w.decretados = append(w.decretados, decretados...) }}
}

// WithTodosLosDias makes Mes yield a line for every day of the month. A line that repeats a rate costs no query.
func WithTodosLosDias() CallOption {
	return walkOption{"WithTodosLosDias", OpTipoCambioMes, func(w *walk) { w.days = longestWalk }}
}

// longestWalk is how many days are tried: holidays and weekends make 5 in a row, and decreed days add to them.
const longestWalk = 10

// walk is an operation that asks for one day after another, and what it knows so far.
type walk struct {
	core        *core
	op          Operation
	set         *settings // of each query; its response is the caller's
	invalid     error     // a wrong option or date
	decretados  []NoLaborables
	provisional bool // a day whose rate may still come is skipped
	days        int  // how many days are tried for a line

	asked map[Fecha]dayRate
	sums  sums // for this line
}

// dayRate is the answer for a day.
type dayRate struct {
	tc   *TipoCambio // nil for none
	resp Response
}

// sums are what the queries for a line cost and said. In Mes they include the days before it that have no line.
type sums struct {
	since    time.Time
	queries  int
	warnings []string
	last     Response
	none     *Error // the last "no rate"
}

func (s *TipoCambioService) walk(op Operation, fecha Fecha, opts []CallOption) *walk {
	s = s.made()
	w := &walk{core: s.core, op: op, days: longestWalk, asked: map[Fecha]dayRate{}, sums: sums{since: time.Now()}}
	if op == OpTipoCambioMes {
		w.days = 1
	}
	var each []CallOption
	for _, opt := range opts {
		if own, ok := opt.(walkOption); ok && (own.only == "" || own.only == op) {
			own.set(w)
		} else {
			each = append(each, opt)
		}
	}
	w.set = s.core.defaults.of(each)
	if w.invalid = w.set.invalid; w.invalid == nil && !fecha.Valid() {
		w.invalid = invalid("fecha", "must be a day of the calendar: it is %q", fecha)
	}
	return w
}

// within runs the operation within the client's hooks.
func (w *walk) within(ctx context.Context, run func(context.Context) (*TipoCambioVigente, error)) (*TipoCambioVigente, error) {
	return hooked(ctx, w.core.hooks, w.op, w.set, func(ctx context.Context, set *settings) (*TipoCambioVigente, error) {
		w.set = set
		if ctx == nil {
			w.invalid = noContext()
		}
		return run(ctx)
	})
}

// line returns the rate that holds for para: the last one of desde or before. It is nil for a day without a line in
// Mes.
func (w *walk) line(ctx context.Context, para, desde Fecha) (*TipoCambioVigente, error) {
	if w.invalid != nil {
		return nil, w.fail(ctx, w.invalid)
	}
	passed := false
	for n := range w.days {
		dia := desde.SumarDias(-n)
		if !dia.DiaHabil(w.decretados...) {
			continue
		}
		day, err := w.rate(ctx, dia)
		switch mayCome := errors.Is(err, ErrNotYetPublished); {
		case mayCome && w.op == OpTipoCambioMasReciente:
		case mayCome && w.provisional:
			passed = true
		case err != nil:
			return nil, w.fail(ctx, err)
		case day.tc != nil:
			found := &TipoCambioVigente{Para: para, TipoCambio: *day.tc, Consultas: w.sums.queries, Provisional: passed}
			w.respond(day.resp)
			return found, nil
		}
	}
	const noneOf = "none of the %d days up to %s has a rate"
	switch {
	case w.days < longestWalk:
		return nil, nil
	case passed:
		return nil, w.fail(ctx, notYetPublished(0, noneOf, longestWalk, desde))
	}
	return nil, w.fail(ctx, noRate(noneOf, longestWalk, desde))
}

// rate gets the rate of a business day, or nil if there is none: a later one is out, or mayStillCome has passed. Until
// then the error is ErrNotYetPublished, since an older rate must not be used.
func (w *walk) rate(ctx context.Context, dia Fecha) (dayRate, error) {
	wait := w.core.clock.until(dia.Publicacion())
	if wait > 0 {
		return dayRate{}, notYetPublished(wait, "the rate of %s is published after 17:00 (Lima) of that day", dia)
	}
	day, err := w.ask(ctx, dia, false)
	if err != nil || day.tc != nil || wait <= -mayStillCome {
		return day, err
	}
	for n := 1; n <= longestWalk; n++ {
		d := dia.SumarDias(n)
		if !d.DiaHabil(w.decretados...) || w.core.clock.until(d.Publicacion()) > 0 {
			continue
		}
		later, err := w.ask(ctx, d, false)
		switch {
		case err != nil:
			return later, err
		case later.tc == nil:
			continue
		case day.resp.FromCache && day.resp.Age >= later.resp.Age: // both may have been published since the cached answer
			return w.ask(ctx, dia, true)
		}
		return day, nil
	}
	return day, notYetPublished(askAgain, "the rate of %s is not out yet", dia)
}

// ask gets the rate of a day, once unless again is set. A rate of another date, which lenient reading accepts, is
// ignored.
func (w *walk) ask(ctx context.Context, dia Fecha, again bool) (dayRate, error) {
	if day, ok := w.asked[dia]; ok && !again {
		return day, nil
	}
	var day dayRate
	set := *w.set
	set.response, set.fresh = &day.resp, set.fresh || again
	tc, err := get(ctx, w.core.rates, cambio{OpConsultarTipoCambio, dia}, &set, copyOf[TipoCambio])
	if err == nil && tc.Fecha == dia {
		day.tc = tc
	}
	if !day.resp.Coalesced {
		w.sums.queries += day.resp.Attempts
	}
	w.sums.last, w.sums.warnings = day.resp, append(w.sums.warnings, day.resp.Warnings...)
	w.asked[dia] = day
	if errors.Is(err, ErrNotFound) {
		w.sums.none, err = copyError(err), nil
	}
	return day, err
}

// respond ends a line: the caller's Response is that of the day, with the sums of the line.
func (w *walk) respond(resp Response) {
	if w.set.response != nil {
		resp.Attempts, resp.Duration, resp.Warnings = w.sums.queries, time.Since(w.sums.since), w.sums.warnings
		*w.set.response = resp
	}
	w.sums = sums{since: time.Now()}
}

// fail ends a line with the error of a query, or with one of our own and the details of the last missing rate.
func (w *walk) fail(ctx context.Context, err error) error {
	if len(w.asked) == 0 {
		return w.core.refuse(ctx, w.op, err)
	}
	e := copyError(err)
	if e.Op == "" && w.sums.none != nil {
		e.after(w.sums.none)
	}
	if e.Delivery == DeliveryNotSent && w.sums.queries > e.Attempts { // earlier queries were sent
		e.Delivery = DeliveryAnswered
	}
	e.Op, e.Attempts = w.op, w.sums.queries
	w.respond(w.sums.last)
	return e
}
