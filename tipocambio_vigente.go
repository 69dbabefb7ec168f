package fiscope

import (
	"context"
	"iter"
	"slices"
	"time"
)

// The operations that ask for one day after another until one has a rate. Each of their queries is a
// TipoCambio.Consultar, with its guards.
const (
	OpTipoCambioUltimoPublicado Operation = "TipoCambio.UltimoPublicado"
	OpTipoCambioSUNAT           Operation = "TipoCambio.SUNAT"
	OpTipoCambioMasReciente     Operation = "TipoCambio.MasReciente"
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
func WithProvisional() CallOption {
	return walkOption{"WithProvisional", func(w *walk) error {
		if w.op == OpTipoCambioMasReciente {
			return misuse("MasReciente passes the days without a rate anyway: WithProvisional is not one of its options")
		}
		w.provisional = true
		return nil
	}}
}

// WithNoLaborables takes days that a decree made free for days without a rate, as national holidays are:
// UltimoPublicado, SUNAT, MasReciente and Mes neither ask for the rate of one nor wait for it. Give only days
// on which SBS publishes nothing: it does on some that are free for public offices alone. A day that does not
// exist is an ErrInvalidRequest. Every other operation refuses the option.
func WithNoLaborables(decretados ...NoLaborables) CallOption {
	return walkOption{"WithNoLaborables", func(w *walk) error {
		for _, days := range decretados {
			for _, dia := range days {
				if !dia.Valid() {
					return misuse("WithNoLaborables wants days of the calendar: one is %q", dia)
				}
			}
		}
		w.decretados = append(w.decretados, decretados...)
		return nil
	}}
}

// WithTodosLosDias makes Mes yield a line for every day of the month, as SUNAT's own table has since 2023: a
// day whose eve has no rate has the last one before that. Like SUNAT, it takes none that is more than 10 days
// old, unless its line is Provisional: the table ends there with ErrNotFound. Every other operation refuses the option.
func WithTodosLosDias() CallOption {
	return walkOption{"WithTodosLosDias", func(w *walk) error {
		if w.op != OpTipoCambioMes {
			return misuse("WithTodosLosDias is an option of Mes alone")
		}
		w.everyDay = true
		return nil
	}}
}

// newest makes MasReciente what it is.
var newest = walkOption{"newest", func(w *walk) error {
	w.newest = true
	return nil
}}

// UltimoPublicado gets the rate with the greatest date on or before fecha: the closing rate of the
// banking regulator (SBS) as of that date. Whether a conversion is to use this dating or that of
// [TipoCambioService.SUNAT] is for you and your accountant to decide.
//
// It asks day by day, from fecha back, and only for days that can have a rate: a Monday after a long
// weekend costs one query. It looks at 10 days at most. The calendar is trusted in this: on a weekend, a
// national holiday ([Fecha.Feriado]) and a day of [WithNoLaborables] no rate is looked for, whatever SBS did.
//
// A business day without a rate ends it with ErrNotYetPublished while the rate may still come: where its
// hour, 17:00 in Lima, is ahead (nothing is sent, and the error's RetryAfter is the time until then), and
// afterwards until the rate of a later day is out, for which the business days after it are asked. To walk
// on before would return an older rate as if it were the one of fecha; [WithProvisional] does, and says
// so. Once a later rate is out, or after 10 days, a day without one is taken for one on which SBS published
// nothing, as on 31 December 2009, and is passed.
//
// Errors: ErrInvalidRequest (the zero Fecha, or a day that does not exist: nothing is sent),
// ErrNotYetPublished (also ErrNotFound), ErrNotFound (10 days without a rate), and those of every
// operation. Their Attempts and Delivery are of all its queries.
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
// A credit or debit note is converted at the rate of the receipt that it modifies: give the date of that
// receipt, not the note's. The note changes its amount, and not the date on which the obligation arose
// (SUNAT, Oficio 024-2000-K00000, of credit notes, and Informe 118-2016-SUNAT/5D0000, of debit notes; the
// electronic registers do the same: Resoluciones 112-2021/SUNAT, annex 2, and 040-2022/SUNAT, annex 8).
//
// It costs and fails as UltimoPublicado of the day before does.
func (s *TipoCambioService) SUNAT(ctx context.Context, fecha Fecha, opts ...CallOption) (*TipoCambioVigente, error) {
	return s.back(ctx, OpTipoCambioSUNAT, fecha, fecha.AddDays(-1), opts)
}

// MasReciente gets the last rate that is out now, whichever its date: to show a rate, or to estimate with it.
// It is today's only once that is published; before 17:00 in Lima today's is not asked for, and a day without
// one is passed. For a receipt use [TipoCambioService.SUNAT], which never returns an older rate than the
// official one.
//
// Para is today, and TipoCambio.Fecha says of which day the rate is. It looks at 10 days at most.
//
// Errors: ErrNotFound (10 days without a rate), and those of every operation.
func (s *TipoCambioService) MasReciente(ctx context.Context, opts ...CallOption) (*TipoCambioVigente, error) {
	hoy := FechaEnLima(s.asker.clock.now())
	return s.back(ctx, OpTipoCambioMasReciente, hoy, hoy, append(slices.Clip(opts), newest))
}

// back asks from the day desde on, backwards, for the rate that holds for fecha.
func (s *TipoCambioService) back(ctx context.Context, op Operation, fecha, desde Fecha, opts []CallOption) (*TipoCambioVigente, error) {
	return hooked(ctx, s.asker.hook, op, s.asker.defaults.of(opts), func(ctx context.Context, set *settings) (*TipoCambioVigente, error) {
		w := s.newWalk(ctx, op, append(slices.Clip(opts), WithResponse(set.response)))
		if !fecha.Valid() {
			return nil, w.fail(invalid("fecha must be a day of the calendar: it is %q", fecha))
		}
		tc, err := w.back(desde, 0)
		if err != nil {
			return nil, err
		}
		return &TipoCambioVigente{Para: fecha, TipoCambio: *tc, Consultas: w.queries, Provisional: w.passed}, nil
	})
}

// Mes gets SUNAT's table of a month, in order: for each day after a day with a rate, that rate. A day
// that is not in it has the rate of the last one that is, which for the first days of a month may stand
// in the table of the month before; [WithTodosLosDias] has it stand here. Each line costs one query, and so
// does a day that a decree made free; a line that repeats the one before it costs none.
//
// The table of a running month ends with ErrNotYetPublished at the first day whose rate is not there
// yet; [WithProvisional] leaves such days out instead, or, of every day, gives it the last rate and says so. An
// error is the last that it yields; its line has only the day in Para.
//
// Errors: those of UltimoPublicado.
func (s *TipoCambioService) Mes(ctx context.Context, year int, mes time.Month, opts ...CallOption) iter.Seq2[TipoCambioVigente, error] {
	return func(yield func(TipoCambioVigente, error) bool) {
		_, _ = hooked(ctx, s.asker.hook, OpTipoCambioMes, s.asker.defaults.of(opts), func(ctx context.Context, set *settings) (any, error) {
			w := s.newWalk(ctx, OpTipoCambioMes, append(slices.Clip(opts), WithResponse(set.response)))
			return nil, w.mes(NewFecha(year, mes, 1), yield)
		})
	}
}

// mes yields the table of the month that begins with first. It returns the error that it yields, if any.
func (w *walk) mes(first Fecha, yield func(TipoCambioVigente, error) bool) error {
	if !first.Valid() {
		err := w.fail(invalid("want a month of the years 1 to 9999: it is %q", first))
		yield(TipoCambioVigente{Para: first}, err)
		return err
	}
	var last *TipoCambio
	for para := first; para.Month() == first.Month(); para = para.AddDays(1) {
		tc, err := w.line(para.AddDays(-1), last)
		switch {
		case err != nil:
			yield(TipoCambioVigente{Para: para}, err)
			return err
		case tc == nil:
			continue
		}
		if !yield(TipoCambioVigente{Para: para, TipoCambio: *tc, Consultas: w.queries, Provisional: w.passed}, nil) {
			return nil
		}
		last = tc
		w.nextLine()
	}
	return nil
}

// line returns the rate of the day before a line of the table or, where every day has one, the last before
// that. It is nil for a line that is left out.
func (w *walk) line(dia Fecha, last *TipoCambio) (*TipoCambio, error) {
	if w.diaHabil(dia) {
		if tc, err := w.ask(dia); tc != nil || err != nil {
			w.passed = false // what was passed lies before this rate
			return tc, err
		}
	}
	switch {
	case !w.everyDay:
		return nil, nil
	case last == nil:
		return w.back(dia, 1)
	case !w.passed && last.Fecha.Compare(dia.AddDays(-longestWalk)) <= 0:
		return nil, w.noneUpTo(dia) // as SUNAT, which looks no farther back
	}
	return last, nil
}
