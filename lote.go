package fiscope

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/fiscope/fiscope/internal/batch"
)

// The batches. Each of their queries is a Contribuyentes.Consultar or a CPE.Validar, with its guards.
const (
	OpConsultarLote Operation = "Contribuyentes.ConsultarLote"
	OpValidarLote   Operation = "CPE.ValidarLote"
)

// LotePolicy bounds a batch. Its zero value has sensible limits.
type LotePolicy struct {
	Concurrency int // queries under way and answers waiting to be delivered, together, 1000 at most: 8
	From        int // the position to begin at; the inputs before it are read and passed: 0, the first
	Memory      int // the inputs among which a duplicate is asked once, at about 1 KB each: 100 000; below zero for none
	MaxFailures int // inputs in a row for which there is no usable answer, after which it stops: 20; below zero for never
}

// DeLote is what a batch delivers for one input.
type DeLote[Entrada, Resultado any] struct {
	Posicion  int        // of the input, from 0 on
	Entrada   Entrada    // the input
	Resultado *Resultado // yours alone; nil if and only if there is an error
	Repetido  bool       // a duplicate: an earlier input's query answered it
	Siguiente int        // the lowest position that is not delivered now: where another run goes on
}

// LoteDetenido is the last error of a batch that stopped before the end of its inputs. It unwraps to
// the reason.
type LoteDetenido struct {
	Posicion int   // the lowest position that was not delivered: the From of the next run
	Err      error // the reason: the [*Error] of a query, or the context's error and its cause
}

// Error returns one line in English that is safe to log, where the reason is.
func (e *LoteDetenido) Error() string {
	switch {
	case e == nil:
		return "<nil>"
	case e.Err == nil:
		return fmt.Sprintf("fiscope: the batch stopped before position %d", e.Posicion)
	}
	return fmt.Sprintf("fiscope: the batch stopped before position %d: %s", e.Posicion, strings.TrimPrefix(e.Err.Error(), "fiscope: "))
}

// Unwrap returns the reason.
func (e *LoteDetenido) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// ConsultarLote looks up the taxpayers of many RUCs, with several queries at a time, and yields the
// results as they come: with their input and its position, in no order, each input once. An input's
// error (ErrNotFound, ErrInvalidRequest, ErrUnavailable, ...) is that of its own line, and the batch
// goes on. A duplicate within the last 100 000 inputs is asked once. Each range over the batch asks anew.
//
// What is in flight is bounded by the pace at which results are taken, and the memory by the policy,
// whatever the number of inputs: a window of 1000 positions, and the answers remembered for duplicates.
// The inputs are read one by one in the goroutine of the loop, between two results: one that takes its
// time to come holds back results. The first query goes alone, so that a wrong key or a spent quota cost
// one.
//
// It stops, after it delivered what was under way, when the quota is spent or the rest is kept in
// reserve ([WithQuotaReserve]), when the API key is refused, when MaxFailures inputs in a row had no
// usable answer, and when the context ends. Its last line then holds no input, and its error is a
// [*LoteDetenido] that says where the next run goes on. Since results come in no order, a few may have
// been delivered from there on, and are paid again.
//
// A 429 that leaves queries, or asks for a minute at most, does not stop it: all wait for what it asks
// for, at least a second and doubling, and its input is asked again, up to 5 times in all.
//
// To break out of the loop is safe at any time: what is under way is cancelled, no goroutine is left,
// and Siguiente of the last line taken says where to go on. A panic or runtime.Goexit in what runs for a query
// (an observer, a hook, the transport) ends the loop in its own goroutine, and leaves none either.
func (s *ContribuyentesService) ConsultarLote(ctx context.Context, rucs iter.Seq[string], p LotePolicy, opts ...CallOption) iter.Seq2[DeLote[string, Contribuyente], error] {
	return lote[string, [rucLen]byte, Contribuyente]{
		sender: s.asker.sender,
		op:     OpConsultarLote,
		policy: p,
		batch: batch.Batch[string, [rucLen]byte, Contribuyente]{
			Ask: func(ctx context.Context, ruc string) (*Contribuyente, error) {
				return s.Consultar(ctx, ruc, opts...)
			},
			Key: func(ruc string) (key [rucLen]byte, ok bool) {
				copy(key[:], ruc)
				return key, checkRUC("ruc", ruc) == nil
			},
			Judge:  judge,
			Pack:   (*Contribuyente).pack,
			Unpack: unpackContribuyente,
		},
	}.over(ctx, rucs, nil, opts)
}

// ValidarLote asks the tax authority for the state of many receipts, with the credentials of one
// secondary user. It works as ConsultarLote does, and it also stops when the credentials are refused:
// they are not sent again. What goes on when the loop ends is at most the validation that tries the
// credentials first, see [Client.Close]. "En Proceso" and "Error" are results like any other, see
// [CPEService.Esperar].
func (s *CPEService) ValidarLote(ctx context.Context, comprobantes iter.Seq[Comprobante], credenciales CredencialesSOL, p LotePolicy, opts ...CallOption) iter.Seq2[DeLote[Comprobante, ResultadoCPE], error] {
	return lote[Comprobante, string, ResultadoCPE]{
		sender: s.sender,
		op:     OpValidarLote,
		policy: p,
		batch: batch.Batch[Comprobante, string, ResultadoCPE]{
			Ask: func(ctx context.Context, c Comprobante) (*ResultadoCPE, error) {
				return s.Validar(ctx, c, credenciales, opts...)
			},
			Key:   func(c Comprobante) (string, bool) { return c.String(), c.check() == nil },
			Judge: judge,
		},
	}.over(ctx, comprobantes, credenciales.check(), opts)
}

// lote is a batch of inputs E, which are told apart by their K and answered by R.
type lote[E any, K comparable, R any] struct {
	sender *sender
	op     Operation
	policy LotePolicy
	batch  batch.Batch[E, K, R]
}

// over yields the lines of a batch, and last why it stopped. refused is what keeps it from beginning.
func (l lote[E, K, R]) over(ctx context.Context, inputs iter.Seq[E], refused error, opts []CallOption) iter.Seq2[DeLote[E, R], error] {
	set := l.sender.settings(opts)
	refused = cmp.Or(refused, set.invalid, l.policy.check())
	switch {
	case ctx == nil:
		refused = noContext()
	case refused == nil && inputs == nil:
		refused = invalid("the inputs are nil")
	case refused == nil && set.response != nil:
		refused = invalid("WithResponse is of one call: a batch makes many at a time")
	}
	return func(yield func(DeLote[E, R], error) bool) {
		end := func(low int, reason error) {
			yield(DeLote[E, R]{Posicion: low, Siguiente: low}, &LoteDetenido{low, reason})
		}
		if refused != nil {
			end(l.policy.From, l.sender.refuse(ctx, l.op, refused))
			return
		}
		low, stopped := l.batch.Over(ctx, l.policy.complete(), inputs, func(line batch.Line[E, R]) bool {
			d := DeLote[E, R]{Posicion: line.Position, Entrada: line.Input, Repetido: line.Repeated, Siguiente: line.Next}
			if line.Err != nil {
				return yield(d, copyError(line.Err))
			}
			own := *line.Result
			d.Resultado = &own
			return yield(d, nil)
		})
		if stopped != nil {
			end(low, stoppedBy(ctx, stopped, l.sender.secrets))
		}
	}
}

func (p LotePolicy) check() error {
	if p.Concurrency < 0 || p.From < 0 {
		return invalid("a LotePolicy wants 0 or more in Concurrency and From: it is %+v", p)
	}
	return nil
}

func (p LotePolicy) complete() batch.Policy {
	p.Concurrency, p.Memory, p.MaxFailures = cmp.Or(p.Concurrency, 8), cmp.Or(p.Memory, 100_000), cmp.Or(p.MaxFailures, 20)
	return batch.Policy(p)
}

// judge says what the answer to one input means for the others.
func judge(err error) batch.Verdict {
	var e *Error
	switch {
	case err == nil, errors.Is(err, ErrNotFound):
		return batch.Verdict{Keep: true}
	case !errors.As(err, &e):
		return batch.Verdict{}
	case e.throttled():
		return batch.Verdict{Slower: true, After: e.RetryAfter}
	case errors.Is(e, ErrInvalidSOLCredentials), errors.Is(e, ErrUnauthorized), errors.Is(e, ErrQuotaExceeded):
		return batch.Verdict{Stop: true}
	}
	return batch.Verdict{Local: errors.Is(e, ErrInvalidRequest) && e.Delivery == DeliveryNotSent}
}
