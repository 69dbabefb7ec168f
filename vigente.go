package fiscope

import (
	"context"
	"iter"
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
	Provisional bool       `json:"provisional"` // a later rate is due that would hold instead: see Provisional
}

// Provisional makes UltimoPublicado and SUNAT walk past a business day whose rate is not published yet.
// The rate they then return is not the official one, and their result says so. [TipoCambioService.Mes]
// leaves such days out. Every other operation refuses the option.
func Provisional() CallOption { return provisional{} }

type provisional struct{}

func (provisional) applyToCall(*settings) error {
	return invalid("Provisional is an option of UltimoPublicado, SUNAT and Mes alone")
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
// return an older rate as if it were the one of fecha; [Provisional] does, and says so. A day before
// those is taken for one that a decree made free.
//
// Errors: ErrInvalidRequest (the zero Fecha, or a day that does not exist: nothing is sent),
// ErrNotYetPublished (also ErrNotFound), ErrNotFound (10 days without a rate), and those of every
// operation.
func (s *TipoCambioService) UltimoPublicado(ctx context.Context, fecha Fecha, opts ...CallOption) (*TipoCambioVigente, error) {
	return s.newWalk(ctx, OpTipoCambioUltimoPublicado, opts).back(fecha, fecha)
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
	return s.newWalk(ctx, OpTipoCambioSUNAT, opts).back(fecha, fecha.AddDays(-1))
}

// Mes gets SUNAT's table of a month, in order: for each day after a day with a rate, that rate. A day
// that is not in it has the rate of the last one that is, which for the first days of a month may stand
// in the table of the month before. Each line costs one query, and so does a day that a decree made free.
//
// The table of a running month ends with ErrNotYetPublished at the first day whose rate is not there
// yet; [Provisional] leaves such days out instead. An error is the last that it yields; its line has only
// the day in Para.
//
// Errors: those of UltimoPublicado.
func (s *TipoCambioService) Mes(ctx context.Context, year int, mes time.Month, opts ...CallOption) iter.Seq2[TipoCambioVigente, error] {
	return func(yield func(TipoCambioVigente, error) bool) {
		first := NewFecha(year, mes, 1)
		if !first.Valid() {
			yield(TipoCambioVigente{Para: first}, s.newWalk(ctx, OpTipoCambioMes, opts).fail(invalid("want a month of the years 1 to 9999: it is %q", first)))
			return
		}
		for para := first; para.Month() == mes; para = para.AddDays(1) {
			dia := para.AddDays(-1)
			if !dia.Valid() || !dia.DiaHabil() {
				continue
			}
			w := s.newWalk(ctx, OpTipoCambioMes, opts)
			tc, err := w.ask(dia)
			switch {
			case err != nil:
				yield(TipoCambioVigente{Para: para}, err)
				return
			case tc != nil && !yield(TipoCambioVigente{Para: para, TipoCambio: *tc, Consultas: w.queries}, nil):
				return
			}
		}
	}
}
