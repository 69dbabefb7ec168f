package fiscope

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/hashicorp/golang-lru/v2/simplelru"
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
// the reason: the [*Error] of a query, or the context's error and its cause.
type LoteDetenido struct {
	Posicion int // the lowest position that was not delivered: the From of the next run
	causa    error
}

// Error returns one line in English that is safe to log.
func (e *LoteDetenido) Error() string {
	return fmt.Sprintf("fiscope: the batch stopped before position %d: %s", e.Posicion, strings.TrimPrefix(e.causa.Error(), "fiscope: "))
}

// Unwrap returns the reason.
func (e *LoteDetenido) Unwrap() error { return e.causa }

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
// and Siguiente of the last line taken says where to go on.
func (s *ContribuyentesService) ConsultarLote(ctx context.Context, rucs iter.Seq[string], p LotePolicy, opts ...CallOption) iter.Seq2[DeLote[string, Contribuyente], error] {
	return lote[string, [rucLen]byte, Contribuyente]{
		call:   newCall(ctx, s.client, request{op: OpConsultarLote}, s.client.settings(opts)),
		policy: p,
		ask: func(ctx context.Context, ruc string) (*Contribuyente, error) {
			return s.Consultar(ctx, ruc, opts...)
		},
		key: func(ruc string) (key [rucLen]byte, ok bool) {
			copy(key[:], ruc)
			return key, checkRUC("ruc", ruc) == nil
		},
	}.over(rucs)
}

// ValidarLote asks the tax authority for the state of many receipts, with the credentials of one
// secondary user. It works as ConsultarLote does, and it also stops when the credentials are refused:
// they are not sent again. "En Proceso" and "Error" are results like any other, see
// [CPEService.Esperar].
func (s *CPEService) ValidarLote(ctx context.Context, comprobantes iter.Seq[Comprobante], credenciales CredencialesSOL, p LotePolicy, opts ...CallOption) iter.Seq2[DeLote[Comprobante, ResultadoCPE], error] {
	return lote[Comprobante, string, ResultadoCPE]{
		call:   newCall(ctx, s.client, request{op: OpValidarLote, invalid: credenciales.check()}, s.client.settings(opts)),
		policy: p,
		ask: func(ctx context.Context, c Comprobante) (*ResultadoCPE, error) {
			return s.Validar(ctx, c, credenciales, opts...)
		},
		key: func(c Comprobante) (string, bool) { return c.String(), c.check() == nil },
	}.over(comprobantes)
}

// lote is a batch of inputs E, which are told apart by their K and answered by R.
type lote[E any, K comparable, R any] struct {
	call   *call // the batch itself, which sends nothing
	policy LotePolicy
	ask    func(context.Context, E) (*R, error)
	key    func(E) (K, bool) // false for an input that is refused locally
}

func (l lote[E, K, R]) over(inputs iter.Seq[E]) iter.Seq2[DeLote[E, R], error] {
	return func(yield func(DeLote[E, R], error) bool) {
		if err := l.check(inputs); err != nil {
			yield(DeLote[E, R]{Posicion: l.policy.From, Siguiente: l.policy.From}, &LoteDetenido{l.policy.From, l.call.failure(err)})
			return
		}
		p := l.policy
		p.Concurrency, p.Memory, p.MaxFailures = min(orDefault(p.Concurrency, 8), loteWindow), orDefault(p.Memory, 100_000), orDefault(p.MaxFailures, 20)
		ctx, cancel := context.WithCancel(l.call.ctx)
		next, stop := iter.Pull(inputs)
		b := &tanda[E, K, R]{
			lote: l, ctx: ctx, policy: p, next: next, yield: yield,
			landed:  make(chan *pregunta[E, K, R], p.Concurrency),
			advance: advance{low: p.From, done: map[int]struct{}{}},
		}
		b.known, _ = simplelru.NewLRU[K, *pregunta[E, K, R]](max(1, p.Memory), nil)
		defer stop()
		defer b.flying.Wait()
		defer cancel()
		b.run()
	}
}

func (l lote[E, K, R]) check(inputs iter.Seq[E]) error {
	switch p := l.policy; {
	case l.call.request.invalid != nil:
		return l.call.request.invalid
	case p.Concurrency < 0 || p.From < 0:
		return invalid("a LotePolicy wants 0 or more in Concurrency and From: it is %+v", p)
	case inputs == nil:
		return invalid("the inputs are nil")
	case l.call.settings.response != nil:
		return invalid("WithResponse is of one call: a batch makes many at a time")
	}
	return nil
}
