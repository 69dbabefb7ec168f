package fiscope

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
)

// TipoCambioVigente is the rate that holds for a date.
type TipoCambioVigente struct {
	Para        Fecha      `json:"para"`              // the date asked about
	TipoCambio  TipoCambio `json:"tipoCambio"`        // the rate; its Fecha is the regulator's closing date
	Consultas   int        `json:"consultas"`         // how many queries it cost
	Provisional bool       `json:"provisional"`       // may still change, with WithProvisional or because of SinTasa
	SinTasa     []Fecha    `json:"sinTasa,omitempty"` // business days that the service has no rate of: look before you book
}

// SUNAT gets the official rate for a receipt of that date: the last one that SBS published before it. Sales use Venta;
// a credit or debit note has the rate of the receipt that it modifies. docs/tipo-de-cambio.md has the law.
//
// It asks for business days only, back from the day before: usually one query, 10 days at most. If the rate of such a
// day may still come, it returns ErrNotYetPublished, not an older rate; RetryAfter is how long to wait.
//
// If the service has no rate of such a day for good, it returns an older one, with that day in SinTasa: look before you
// book. A warning of the [Response] says so too.
//
// Errors: ErrInvalidRequest (no day of the calendar, before July 1991, or more than 31 days ahead: nothing is sent),
// ErrNotYetPublished, ErrNotFound (10 days without a rate), and those of every operation.
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
	hoy := FechaEnLima(s.core.serviceClock.now())
	return s.vigente(ctx, OpTipoCambioMasReciente, hoy, hoy, opts)
}

// vigente gets the rate that holds for fecha: the last one of desde or before.
func (s *TipoCambioService) vigente(ctx context.Context, op Operation, fecha, desde Fecha, opts []CallOption) (*TipoCambioVigente, error) {
	return s.walk(ctx, op, fecha, fecha, opts, func(ctx context.Context, w *walk) (*TipoCambioVigente, error) {
		return w.line(ctx, fecha, desde)
	})
}

// Mes gets SUNAT's table of a month, in order. A day has a line if the day before has a rate of its own; other days
// have the rate of the line before, or of the month before. See [WithTodosLosDias].
//
// A line costs one query, and so does a business day without a rate. SinTasa of the next line has such a day, and of
// each line that repeats the older rate. The running month ends with ErrNotYetPublished at the first day whose rate may
// still come; [WithProvisional] leaves such days out. An error is the last item, with the day in Para. Errors are those
// of SUNAT; a month is refused if all of it is too early or too far ahead.
func (s *TipoCambioService) Mes(ctx context.Context, year int, mes time.Month, opts ...CallOption) iter.Seq2[TipoCambioVigente, error] {
	return func(yield func(TipoCambioVigente, error) bool) {
		first, last := NewFecha(year, mes, 1), NewFecha(year, mes+1, 0)
		_, _ = s.walk(ctx, OpTipoCambioMes, first, last.SumarDias(0), opts, func(ctx context.Context, w *walk) (*TipoCambioVigente, error) {
			for para := first; para.Month() == first.Month(); para = para.SumarDias(1) {
				line, err := w.line(ctx, para, para.SumarDias(-1))
				w.set.fill(&w.answer)
				if err != nil {
					yield(TipoCambioVigente{Para: para}, err)
					return nil, err
				}
				if line != nil && !yield(*line, nil) {
					return line, nil
				}
			}
			if len(w.sums.sinTasa) > 0 { // after the last line
				w.end(w.sums.last)
			}
			return nil, nil
		})
	}
}

// longestWalk is how many days are tried: holidays and weekends make 5 in a row, and decreed days add to them.
const longestWalk = 10

// walk is an operation that asks for one day after another, and what it knows so far.
type walk struct {
	core *core
	op   Operation
	walkOptions
	set     *settings // of each query
	invalid error     // a wrong option or date

	asked  map[Fecha]dayRate
	sums   sums   // for the line in progress
	answer answer // to the last line
}

// dayRate is the answer for a day.
type dayRate struct {
	tc *TipoCambio // nil for none
	*answer
}

// sums are what the queries for a line cost and said. In Mes they include the days before it that have no line.
type sums struct {
	queries  int
	took     time.Duration
	warnings []string
	last     answer
	none     *Error  // the last "no rate"
	sinTasa  []Fecha // business days without one, for good
}

// walk runs an operation for the dates from first to last.
func (s *TipoCambioService) walk(ctx context.Context, op Operation, first, last Fecha, opts []CallOption, run func(context.Context, *walk) (*TipoCambioVigente, error)) (line *TipoCambioVigente, err error) {
	w := &walk{core: s.core, op: op, asked: map[Fecha]dayRate{}}
	set := *s.core.defaults
	set.walk = &w.walkOptions
	ctx, w.set = set.of(ctx, opts)
	if w.todosLosDias && op != OpTipoCambioMes {
		w.invalid = misuse("WithTodosLosDias is an option of Mes alone")
	}
	w.invalid = cmp.Or(w.invalid, w.set.invalid, checkDates(first, last, FechaEnLima(s.core.clock.now())))
	_, err = hooked(ctx, s.core.hooks, op, func(ctx context.Context) (*answer, error) {
		line, err = run(ctx, w)
		return &w.answer, err
	})
	w.set.fill(&w.answer)
	return line, err
}

// line returns the rate that holds for para: the last one of desde or before. It is nil for a day without a line in
// Mes.
func (w *walk) line(ctx context.Context, para, desde Fecha) (*TipoCambioVigente, error) {
	if w.invalid != nil {
		return nil, w.fail(ctx, w.invalid)
	}
	days := longestWalk
	if w.op == OpTipoCambioMes && !w.todosLosDias {
		days = 1
	}
	passed, recent := false, false
	for n := range days {
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
		case day.tc == nil:
			w.sums.sinTasa = append(w.sums.sinTasa, dia)
			recent = recent || w.age(dia) < mayStillCome
		default:
			slices.SortFunc(w.sums.sinTasa, Fecha.Compare)
			line := &TipoCambioVigente{para, *day.tc, w.sums.queries, passed || recent, w.sums.sinTasa}
			w.end(*day.answer)
			return line, nil
		}
	}
	if days < longestWalk {
		return nil, nil
	}
	none := noRate
	if passed {
		none = unpublished
	}
	return nil, w.fail(ctx, newError(none, "none of the %d days up to %s has a rate", longestWalk, desde))
}

// rate gets the rate of a business day, or none: a later one is known, or mayStillCome has passed. Until then the error
// is ErrNotYetPublished, since an older rate must not be used.
func (w *walk) rate(ctx context.Context, dia Fecha) (dayRate, error) {
	if w.age(dia) < 0 {
		return dayRate{}, w.notYet(dia)
	}
	day, err := w.ask(ctx, dia, false)
	if err != nil || day.tc != nil || w.age(dia) >= mayStillCome {
		return day, err
	}
	for n := range longestWalk {
		d := dia.SumarDias(1 + n)
		if !d.DiaHabil(w.decretados...) || w.age(d) < 0 {
			continue
		}
		switch later, err := w.ask(ctx, d, false); {
		case err != nil:
			return later, err
		case later.tc == nil:
		case day.source == SourceCache && !day.asOf.After(later.asOf): // both may have been published since the cached answer
			return w.ask(ctx, dia, true)
		default:
			return day, nil
		}
	}
	return day, w.notYet(dia)
}

// age returns the time since the hour of a day's rate; it is negative before. Each answer may correct the clock.
func (w *walk) age(dia Fecha) time.Duration { return w.core.serviceClock.now().Sub(dia.Publicacion()) }

func (w *walk) notYet(dia Fecha) error {
	e, age := newError(unpublished, "the rate of %s is not out yet", dia), w.age(dia)
	if e.RetryAfter = askAgain; age < 0 {
		e.RetryAfter, e.Message = -age, fmt.Sprintf("the rate of %s is published after 17:00 (Lima) of that day", dia)
	}
	return e
}

// ask gets the rate of a day, once unless again is set. A rate of another date, which lenient reading accepts, is
// ignored.
func (w *walk) ask(ctx context.Context, dia Fecha, again bool) (dayRate, error) {
	if day, ok := w.asked[dia]; ok && !again {
		return day, nil
	}
	set := *w.set
	set.fresh = set.fresh || again
	tc, a, err := put(ctx, w.core.rates, cambio{OpConsultarTipoCambio, dia, w.core.serviceClock}, &set, copyOf[TipoCambio])
	day := dayRate{answer: a}
	if err == nil && tc.Fecha == dia {
		day.tc = tc
	}
	if !a.joined {
		w.sums.queries += a.attempts
	}
	w.sums.took += a.took
	w.sums.last, w.sums.warnings = *a, append(w.sums.warnings, a.warnings...)
	w.asked[dia] = day
	if errors.Is(err, ErrNotFound) {
		w.sums.none, err = copyError(err), nil
	}
	return day, err
}

// end ends a line: its answer is that of the day, with the sums of the line.
func (w *walk) end(day answer) {
	if len(w.sums.sinTasa) > 0 {
		w.sums.warnings = append(w.sums.warnings, fmt.Sprintf("business days without a rate: %s", w.sums.sinTasa))
	}
	w.answer = day
	w.answer.attempts, w.answer.took, w.answer.warnings = w.sums.queries, w.sums.took, w.sums.warnings
	w.sums = sums{}
}

// fail ends a line with the error of a query, or with one of our own and the details of the last missing rate.
func (w *walk) fail(ctx context.Context, err error) error {
	if len(w.asked) == 0 {
		return w.core.refuse(ctx, w.op, err)
	}
	e := copyError(err)
	if none := w.sums.none; e.Op == "" && none != nil {
		e.StatusCode, e.Code, e.RateLimit, e.Delivery, e.body = none.StatusCode, none.Code, none.RateLimit, none.Delivery, none.body
	}
	if e.Delivery == DeliveryNotSent && w.sums.queries > e.Attempts { // earlier queries were sent
		e.Delivery = DeliveryAnswered
	}
	e.Op, e.Attempts = w.op, w.sums.queries
	w.end(w.sums.last)
	return e
}
