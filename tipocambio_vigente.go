package fiscope

import (
	"context"
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
