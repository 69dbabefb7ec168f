package fiscope

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
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
	return s.walk(ctx, op, opts, func(w *walk) (*TipoCambioVigente, error) { return w.line(fecha, desde) })
}

// Mes gets SUNAT's table of a month, in order. A day has a line if the day before has a rate of its own; other days
// have the rate of the line before, or of the month before. See [WithTodosLosDias].
//
// A line costs one query, and so does a business day without a rate. The running month ends with ErrNotYetPublished at
// the first day whose rate may still come; [WithProvisional] leaves such days out. An error is the last item, with the
// day in Para. Errors are those of SUNAT.
func (s *TipoCambioService) Mes(ctx context.Context, year int, mes time.Month, opts ...CallOption) iter.Seq2[TipoCambioVigente, error] {
	return func(yield func(TipoCambioVigente, error) bool) {
		_, _ = s.walk(ctx, OpTipoCambioMes, opts, func(w *walk) (*TipoCambioVigente, error) {
			first := NewFecha(year, mes, 1)
			for para := first; para.Month() == first.Month(); para = para.SumarDias(1) {
				line, err := w.line(para, para.SumarDias(-1))
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

// walk is an operation that asks for one day after another.
//
// SBS published nothing on a business day if a later rate is out, or after mayStillCome. Until then its rate may come
// late, and an older one must not be used.
type walk struct {
	core     *core
	op       Operation
	ctx      context.Context
	opts     []CallOption // of each query
	response *Response    // of the caller; nil for none
	invalid  error        // a wrong option
	start    time.Time

	decretados  []NoLaborables
	provisional bool // a day whose rate may still come is skipped
	days        int  // how many days are tried for a line

	asked   map[Fecha]dayRate
	queries int    // for this line
	passed  bool   // a day whose rate may still come was skipped: the result is provisional
	none    *Error // the last "no rate" for this line
}

// dayRate is the answer for a day.
type dayRate struct {
	tc   *TipoCambio // nil for none
	resp Response
}

func (s *TipoCambioService) walk(ctx context.Context, op Operation, opts []CallOption, do func(*walk) (*TipoCambioVigente, error)) (*TipoCambioVigente, error) {
	s = s.made()
	w := &walk{core: s.core, op: op, start: time.Now(), days: longestWalk, asked: map[Fecha]dayRate{}}
	if op == OpTipoCambioMes {
		w.days = 1
	}
	for _, opt := range opts {
		switch own, ok := opt.(walkOption); {
		case !ok:
			w.opts = append(w.opts, opt)
		case own.only != "" && own.only != op:
			w.invalid = misuse("%s is an option of %s alone", own.name, own.only)
		default:
			own.set(w)
		}
	}
	return hooked(ctx, s.core.hooks, op, s.core.defaults.of(w.opts), func(ctx context.Context, set *settings) (*TipoCambioVigente, error) {
		w.ctx, w.response, w.invalid = ctx, set.response, cmp.Or(w.invalid, set.invalid)
		if ctx == nil {
			w.invalid = noContext()
		}
		return do(w)
	})
}

// line returns the rate that holds for para: the last one of desde or before. It is nil for a day without a line in
// Mes, whose queries count for the next line.
func (w *walk) line(para, desde Fecha) (*TipoCambioVigente, error) {
	w.none = nil
	if w.queries == 0 && w.response != nil {
		*w.response = Response{}
	}
	if !para.Valid() {
		w.invalid = cmp.Or(w.invalid, invalid("fecha", "must be a day of the calendar: it is %q", para))
	}
	if w.invalid != nil {
		return nil, w.core.refuse(w.ctx, w.op, w.invalid)
	}
	for n := range w.days {
		dia := desde.SumarDias(-n)
		if !dia.DiaHabil(w.decretados...) {
			continue
		}
		tc, err := w.rate(dia)
		if err != nil {
			return nil, err
		}
		if tc != nil {
			found := &TipoCambioVigente{Para: para, TipoCambio: *tc, Consultas: w.queries, Provisional: w.passed}
			w.queries = 0
			return found, nil
		}
	}
	const noneOf = "none of the %d days up to %s has a rate"
	switch {
	case w.days < longestWalk:
		return nil, nil
	case w.passed:
		return nil, w.fail(notYetPublished(0, noneOf, longestWalk, desde))
	}
	return nil, w.fail(noRate(noneOf, longestWalk, desde))
}

// rate gets the rate of a business day. It returns nil, nil for a day to skip.
func (w *walk) rate(dia Fecha) (*TipoCambio, error) {
	wait := w.core.clock.until(dia.Publicacion())
	if wait > 0 {
		return nil, w.pass(notYetPublished(wait, "the rate of %s is published after 17:00 (Lima) of that day", dia))
	}
	day, err := w.ask(dia)
	if day.tc != nil || err != nil || wait <= -mayStillCome {
		return day.tc, err
	}
	for n := 1; n <= longestWalk; n++ {
		d := dia.SumarDias(n)
		if !d.DiaHabil(w.decretados...) || w.core.clock.until(d.Publicacion()) > 0 {
			continue
		}
		later, err := w.ask(d)
		switch {
		case err != nil:
			return nil, err
		case later.tc == nil:
			continue
		case day.resp.FromCache && day.resp.Age >= later.resp.Age: // both may have been published since the cached answer
			day, err = w.ask(dia, WithoutCache())
		}
		return day.tc, err
	}
	return nil, w.pass(notYetPublished(askAgain, "the rate of %s is not out yet", dia))
}

// pass skips a day whose rate may still come, or returns the error.
func (w *walk) pass(e *Error) error {
	if w.op == OpTipoCambioMasReciente {
		return nil
	}
	if w.passed = true; w.provisional {
		return nil
	}
	return w.fail(e)
}

// ask gets the rate of a day, once unless there are options. A rate of another date, which lenient reading accepts, is
// ignored.
func (w *walk) ask(dia Fecha, opts ...CallOption) (dayRate, error) {
	if day, ok := w.asked[dia]; ok && len(opts) == 0 {
		return day, nil
	}
	var day dayRate
	tc, err := (&TipoCambioService{w.core}).consultar(w.ctx, cambio{OpConsultarTipoCambio, dia}, slices.Concat(w.opts, opts, []CallOption{WithResponse(&day.resp)}))
	w.note(day.resp)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return day, w.whole(copyError(err))
	}
	if err != nil {
		w.none = copyError(err)
	} else if tc.Fecha == dia {
		day.tc = tc
	}
	w.asked[dia] = day
	return day, nil
}

// note adds a query to the line's Response: its last answer, and the sum of attempts and warnings.
func (w *walk) note(resp Response) {
	if !resp.Coalesced {
		w.queries += resp.Attempts
	}
	if w.response == nil {
		return
	}
	resp.Attempts, resp.Duration = w.queries, time.Since(w.start)
	resp.Warnings = append(w.response.Warnings, resp.Warnings...)
	*w.response = resp
}

// fail returns e with the details of the last missing rate, if any day was asked for.
func (w *walk) fail(e *Error) error {
	if len(w.asked) == 0 {
		return w.core.refuse(w.ctx, w.op, e)
	}
	if w.none != nil {
		e.after(w.none)
	}
	return w.whole(e)
}

// whole turns the error of the last query into the error of the walk.
func (w *walk) whole(e *Error) error {
	if e.Delivery == DeliveryNotSent && w.queries > e.Attempts { // earlier queries were sent
		e.Delivery = DeliveryAnswered
	}
	e.Op, e.Attempts = w.op, w.queries
	return e
}
