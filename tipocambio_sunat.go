package fiscope

import (
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
	hoy := FechaEnLima(s.core.clock.now())
	return s.vigente(ctx, OpTipoCambioMasReciente, hoy, hoy, opts)
}

// vigente gets the rate that holds for fecha: the last one of desde or before.
func (s *TipoCambioService) vigente(ctx context.Context, op Operation, fecha, desde Fecha, opts []CallOption) (*TipoCambioVigente, error) {
	var line *TipoCambioVigente
	err := s.walk(ctx, op, opts, func(ctx context.Context, w *walk) (err error) {
		line, err = w.line(ctx, fecha, desde)
		return err
	})
	return line, err
}

// Mes gets SUNAT's table of a month, in order. A day has a line if the day before has a rate of its own; other days
// have the rate of the line before, or of the month before. See [WithTodosLosDias].
//
// A line costs one query, and so does a business day without a rate. The running month ends with ErrNotYetPublished at
// the first day whose rate may still come; [WithProvisional] leaves such days out. An error is the last item, with the
// day in Para. Errors are those of SUNAT.
func (s *TipoCambioService) Mes(ctx context.Context, year int, mes time.Month, opts ...CallOption) iter.Seq2[TipoCambioVigente, error] {
	return func(yield func(TipoCambioVigente, error) bool) {
		_ = s.walk(ctx, OpTipoCambioMes, opts, func(ctx context.Context, w *walk) error {
			first := NewFecha(year, mes, 1)
			for para := first; para.Month() == first.Month(); para = para.SumarDias(1) {
				line, err := w.line(ctx, para, para.SumarDias(-1))
				fill(opts, &w.answer)
				switch {
				case err != nil:
					yield(TipoCambioVigente{Para: para}, err)
					return err
				case line == nil: // its queries count for the next line
				case !yield(*line, nil):
					return nil
				default:
					w.answer = answer{}
				}
			}
			return nil
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

// walk is an operation that asks for one day after another.
//
// SBS published nothing on a business day if a later rate is out, or after mayStillCome. Until then its rate may come
// late, and an older one must not be used.
type walk struct {
	core        *core
	op          Operation
	set         *settings // of each query
	decretados  []NoLaborables
	provisional bool // a day whose rate may still come is skipped
	days        int  // how many days are tried for a line

	asked  map[Fecha]dayRate
	answer answer // the last one for this line, with the attempts, time and warnings so far
	none   *Error // the last "no rate" for this line
}

// dayRate is the answer for a day.
type dayRate struct {
	tc *TipoCambio // nil for none
	*answer
}

func (s *TipoCambioService) walk(ctx context.Context, op Operation, opts []CallOption, do func(context.Context, *walk) error) error {
	w := &walk{core: s.core, op: op, days: longestWalk, asked: map[Fecha]dayRate{}}
	if op == OpTipoCambioMes {
		w.days = 1
	}
	var each []CallOption // query
	for _, opt := range opts {
		own, ok := opt.(walkOption)
		if ok && (own.only == "" || own.only == op) {
			own.set(w)
		} else { // a walkOption refuses the call
			each = append(each, opt)
		}
	}
	ctx, w.set = s.core.defaults.of(ctx, each)
	a, err := hooked(ctx, s.core.hooks, op, func(ctx context.Context) (*answer, error) {
		err := do(ctx, w)
		return &w.answer, err
	})
	fill(opts, a)
	return err
}

// line returns the rate that holds for para: the last one of desde or before. It is nil for a day without a line in Mes.
func (w *walk) line(ctx context.Context, para, desde Fecha) (*TipoCambioVigente, error) {
	switch {
	case w.set.invalid != nil:
		return nil, w.core.refuse(ctx, w.op, w.set.invalid)
	case !para.Valid():
		return nil, w.core.refuse(ctx, w.op, invalid("fecha", "must be a day of the calendar: it is %q", para))
	}
	w.none = nil
	passed := false // a day whose rate may still come: the result is provisional
	for n := range w.days {
		dia := desde.SumarDias(-n)
		if !dia.DiaHabil(w.decretados...) {
			continue
		}
		tc, pending, err := w.rate(ctx, dia)
		switch {
		case err != nil:
			return nil, w.whole(err)
		case tc != nil:
			return &TipoCambioVigente{Para: para, TipoCambio: *tc, Consultas: w.answer.attempts, Provisional: passed}, nil
		case pending == nil, w.op == OpTipoCambioMasReciente:
		case w.provisional:
			passed = true
		default:
			return nil, w.fail(ctx, pending)
		}
	}
	const noneOf = "none of the %d days up to %s has a rate"
	switch {
	case w.days < longestWalk:
		return nil, nil
	case passed:
		return nil, w.fail(ctx, notYetPublished(0, noneOf, longestWalk, desde))
	}
	return nil, w.fail(ctx, refused(noRate, noneOf, longestWalk, desde))
}

// rate gets the rate of a business day. Without one, pending says that it may still come, and is nil if it will not.
func (w *walk) rate(ctx context.Context, dia Fecha) (tc *TipoCambio, pending, err *Error) {
	wait := w.core.clock.until(dia.Publicacion())
	if wait > 0 {
		return nil, notYetPublished(wait, "the rate of %s is published after 17:00 (Lima) of that day", dia), nil
	}
	day, err := w.ask(ctx, dia, false)
	if day.tc != nil || err != nil || wait <= -mayStillCome {
		return day.tc, nil, err
	}
	for n := 1; n <= longestWalk; n++ {
		d := dia.SumarDias(n)
		if !d.DiaHabil(w.decretados...) || w.core.clock.until(d.Publicacion()) > 0 {
			continue
		}
		later, err := w.ask(ctx, d, false)
		switch {
		case err != nil:
			return nil, nil, err
		case later.tc == nil:
			continue
		case day.source == SourceCache && !day.asOf.After(later.asOf): // both may have been published since the cached answer
			day, err = w.ask(ctx, dia, true)
		}
		return day.tc, nil, err
	}
	return nil, notYetPublished(askAgain, "the rate of %s is not out yet", dia), nil
}

// ask gets the rate of a day, once unless anew, which skips the cache. A rate of another date, which lenient reading
// accepts, is ignored.
func (w *walk) ask(ctx context.Context, dia Fecha, anew bool) (dayRate, *Error) {
	if day, ok := w.asked[dia]; ok && !anew {
		return day, nil
	}
	set := *w.set
	set.fresh = set.fresh || anew
	tc, a, err := put(ctx, w.core.rates, cambio{OpConsultarTipoCambio, dia}, &set, copyOf[TipoCambio])
	before := w.answer
	w.answer = *a
	w.answer.attempts, w.answer.took, w.answer.warnings = before.attempts, before.took+a.took, slices.Concat(before.warnings, a.warnings)
	if !a.joined {
		w.answer.attempts += a.attempts
	}
	day := dayRate{answer: a}
	switch {
	case err == nil && tc.Fecha == dia:
		day.tc = tc
	case errors.Is(err, ErrNotFound):
		w.none = copyError(err)
	case err != nil:
		return day, copyError(err)
	}
	w.asked[dia] = day
	return day, nil
}

// fail returns e with the details of the last missing rate, if any day was asked for.
func (w *walk) fail(ctx context.Context, e *Error) error {
	if len(w.asked) == 0 {
		return w.core.refuse(ctx, w.op, e)
	}
	if w.none != nil {
		e.after(w.none)
	}
	return w.whole(e)
}

// whole turns the error of the last query into the error of the walk.
func (w *walk) whole(e *Error) error {
	if e.Delivery == DeliveryNotSent && w.answer.attempts > e.Attempts { // earlier queries were sent
		e.Delivery = DeliveryAnswered
	}
	e.Op, e.Attempts = w.op, w.answer.attempts
	return e
}
