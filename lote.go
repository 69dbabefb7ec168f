package fiscope

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/batch"
	"github.com/fiscope/fiscope/internal/solguard"
)

// The batches. Each of their queries is a Contribuyentes.Consultar or a CPE.Validar, with its guards.
const (
	OpConsultarLote Operation = "Contribuyentes.ConsultarLote"
	OpValidarLote   Operation = "CPE.ValidarLote"
)

// LotePolicy bounds a batch. Its zero value has sensible limits.
type LotePolicy struct {
	Concurrency int      // queries under way and answers waiting to be delivered, together, Window at most: 8
	From        int      // the position to begin at; the inputs before it are read and passed: 0, the first
	Window      int      // how many inputs are asked at most, from the lowest that is not delivered on, which bounds what another run pays again: 1000
	Memory      int      // the inputs among which a duplicate is asked once, see below for what they cost: 100 000; below zero for none
	MaxFailures int      // inputs in a row for which there is no usable answer, or a stale one or a Respaldo's alone, after which it stops: 20; below zero for never
	Progress    Progress // what earlier runs were answered, and need not ask again; nil for nothing
}

// DeLote is what a batch delivers for one input.
type DeLote[Entrada, Resultado any] struct {
	Posicion  int        // of the input, from 0 on
	Entrada   Entrada    // the input
	Resultado *Resultado // yours alone; nil if and only if there is an error
	Response  Response   // what is known of the answer besides; of a duplicate without what is the query's alone: its headers, attempts and time
	Repetido  bool       // a duplicate: an earlier input's query answered it
	Siguiente int        // where another run goes on: the lowest position that is not delivered now, or the first of the failures in a row before it
}

// LoteDetenido is the last error of a batch that stopped before the end of its inputs. It unwraps to
// the reason.
type LoteDetenido struct {
	Posicion int   // the From of the next run: the lowest position that was not delivered, or the first of the failures in a row before it
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
// A line's Response tells an answer of the cache from one of the service, a stale one, and what was odd in one
// that was accepted (Warnings): look at it wherever you allow either ([CachePolicy.StaleIfError],
// [WithLenientReading]).
//
// With [WithRespaldo] a line for which the service cannot be asked is answered by that, and marked
// (Response.FromRespaldo). It counts as the failure that it stands in for: MaxFailures of them in a row stop the
// batch, with the service's error, another run begins with them, no Progress records them, and a later duplicate is
// asked anew. So an outage, or a spent quota, is noticed; with a MaxFailures below zero the batch goes on to its
// end with what the Respaldo has, and stops at a spent quota where that lacks a RUC.
//
// What is in flight is bounded by the pace at which results are taken, and the memory by the policy,
// whatever the number of inputs: a window of positions, and the answers remembered for duplicates. One of these
// takes 0.2 KB for a receipt, 0.45 KB for a record like the contract's, and 0.7 KB for a RUC that nobody has; the
// process takes up to twice that, until its garbage is collected: 40 to 140 MB for the 100 000 of the zero policy.
// The inputs are read one by one in the goroutine of the loop, between two results: one that takes its
// time to come holds back results. One query goes at a time until the service answered one, so that a wrong key
// or a spent quota cost one, whatever comes first.
//
// It stops, after it delivered what was under way, when the quota is spent or the rest is kept in
// reserve ([WithQuotaReserve]), when the API key is refused, when MaxFailures inputs in a row had no
// usable answer, and when the context ends, or its deadline comes before [WithRateLimit] or a [Store] that must be
// heard lets the next query go. Its last line then holds no input, and its error is a [*LoteDetenido] that says
// where the next run goes on. What has no answer is asked then: what was not delivered, and the failures in a row,
// also those that stopped it. Since results come in no order, up to Window - 1 answers may have been delivered from
// there on, and up to Concurrency more are under way when it is broken off: with a From alone these are paid again,
// and so is a duplicate of what an earlier run was answered. With a Progress they are not: see there.
//
// A stale answer ([CachePolicy.StaleIfError]) is delivered as one, and counts among the failures in a row, since it
// stands in for one: a later duplicate is asked anew. A 403 without the contract's error body (a firewall's page, a
// text, nothing), or after the service answered others, is of its input alone, and not a refused key.
//
// A 429 that leaves queries, or asks for a minute at most, does not stop it: all wait for what it asks
// for, at least a second and doubling, and its input is asked again, up to 5 times in all.
//
// To break out of the loop is safe at any time, and Siguiente of the last line taken says where to go on. What is
// under way is cancelled, and no goroutine is left. With a cache, a query that was sent is brought home in the
// background instead: it is paid, and answers the next run. [Client.Close] waits for it. A panic or
// runtime.Goexit in what runs for a query (an observer, a hook, the transport) ends the loop in its own goroutine,
// and leaves none either.
func (s *ContribuyentesService) ConsultarLote(ctx context.Context, rucs iter.Seq[string], p LotePolicy, opts ...CallOption) iter.Seq2[DeLote[string, Contribuyente], error] {
	return lote[string, [rucLen]byte, Contribuyente]{
		sender: s.asker.sender,
		op:     OpConsultarLote,
		policy: p,
		ask: func(ctx context.Context, ruc string, set *settings) (*Contribuyente, error) {
			return s.consultar(ctx, ruc, set)
		},
		key: func(ruc string) (key [rucLen]byte, ok bool) {
			copy(key[:], ruc)
			return key, checkRUC("ruc", ruc) == nil
		},
		text:   func(key [rucLen]byte) string { return string(key[:]) },
		pack:   pack[Contribuyente],
		unpack: unpack[Contribuyente],
	}.over(ctx, rucs, nil, opts)
}

// ValidarLote asks the tax authority for the state of many receipts, with the credentials of one
// secondary user. It works as ConsultarLote does, and it also stops when the credentials are refused:
// they are not sent again. A receipt that has to wait for another validation with them, here or in another process,
// waits for as long as that takes. What goes on when the loop ends is at most the validation that tries the
// credentials first, see [Client.Close]. "En Proceso" and "Error" are results like any other, see
// [CPEService.Esperar].
func (s *CPEService) ValidarLote(ctx context.Context, comprobantes iter.Seq[Comprobante], credenciales CredencialesSOL, p LotePolicy, opts ...CallOption) iter.Seq2[DeLote[Comprobante, ResultadoCPE], error] {
	return lote[Comprobante, string, ResultadoCPE]{
		sender: s.sender,
		op:     OpValidarLote,
		policy: p,
		ask: func(ctx context.Context, c Comprobante, set *settings) (*ResultadoCPE, error) {
			return s.validar(ctx, c, credenciales, set)
		},
		key:    func(c Comprobante) (string, bool) { return c.String(), c.check() == nil },
		text:   func(key string) string { return key },
		pack:   pack[ResultadoCPE],
		unpack: unpack[ResultadoCPE],
	}.over(ctx, comprobantes, credenciales.check(), opts)
}

// lote is a batch of inputs E, which are told apart by their K and answered by R.
type lote[E any, K comparable, R any] struct {
	sender *sender
	op     Operation
	policy LotePolicy
	ask    func(context.Context, E, *settings) (*R, error)
	key    func(E) (K, bool)
	text   func(K) string // the input as a Progress knows it
	pack   func(packing, *respondido[R], time.Time) packing
	unpack func(string, time.Time) *respondido[R]
}

// over yields the lines of a batch, and last why it stopped. refused is what keeps it from beginning.
func (l lote[E, K, R]) over(ctx context.Context, inputs iter.Seq[E], refused error, opts []CallOption) iter.Seq2[DeLote[E, R], error] {
	set := l.sender.defaults.of(opts)
	refused = cmp.Or(refused, set.invalid, l.policy.check())
	switch {
	case ctx == nil:
		refused = noContext()
	case refused == nil && inputs == nil:
		refused = misuse("the inputs are nil")
	case refused == nil && set.response != nil:
		refused = misuse("WithResponse is of one call: a batch makes many at a time, and each line has its own Response")
	}
	return func(yield func(DeLote[E, R], error) bool) {
		end := func(next int, reason error) {
			yield(DeLote[E, R]{Posicion: next, Siguiente: next}, &LoteDetenido{next, reason})
		}
		if refused != nil {
			end(l.policy.From, l.sender.refuse(ctx, l.op, refused))
			return
		}
		next, stopped := l.batch(ctx, set).Over(ctx, l.policy.complete(), inputs, func(line batch.Line[E, *respondido[R]]) bool {
			d := DeLote[E, R]{
				Posicion: line.Position, Entrada: line.Input, Resultado: line.Answer.resultado, Response: line.Answer.response,
				Repetido: line.Repeated, Siguiente: line.Next,
			}
			if line.Err != nil {
				return yield(d, copyError(line.Err))
			}
			return yield(d, nil)
		})
		if stopped != nil {
			end(next, stoppedBy(ctx, stopped, l.sender.secrets))
		}
	}
}

func (l lote[E, K, R]) batch(ctx context.Context, set *settings) batch.Batch[E, K, *respondido[R]] {
	var room packing // Pack is called by the loop alone
	b := batch.Batch[E, K, *respondido[R]]{
		Ask: func(ctx context.Context, input E) (*respondido[R], error) {
			r, its := new(respondido[R]), *set
			its.response, its.instead = &r.response, &r.instead
			var err error
			r.resultado, err = l.ask(ctx, input, &its)
			return r, err
		},
		Key:   l.key,
		Judge: func(r *respondido[R], err error) batch.Verdict { return judge(&r.response, r.instead, err) },
		Pack: func(r *respondido[R]) string {
			room = l.pack(room[:0], r, l.sender.clock.now())
			return string(room)
		},
		Unpack: func(kept string) *respondido[R] { return l.unpack(kept, l.sender.clock.now()) },
	}
	if p := l.policy.Progress; p != nil {
		b.Done = func(key K) (bool, error) {
			done, err := p.Done(ctx, l.text(key))
			return done, progressFailed(err)
		}
		b.Record = func(key K) error { // what was answered is so, also when the context has ended
			return progressFailed(p.Record(context.WithoutCancel(ctx), l.text(key)))
		}
	}
	return b
}

func (p LotePolicy) check() error {
	if p.Concurrency < 0 || p.From < 0 || p.Window < 0 {
		return misuse("a LotePolicy wants 0 or more in Concurrency, From and Window: they are %d, %d and %d", p.Concurrency, p.From, p.Window)
	}
	return nil
}

func (p LotePolicy) complete() batch.Policy {
	return batch.Policy{
		Concurrency: cmp.Or(p.Concurrency, 8),
		From:        p.From,
		Window:      cmp.Or(p.Window, 1000),
		Memory:      cmp.Or(p.Memory, 100_000),
		MaxFailures: cmp.Or(p.MaxFailures, 20),
	}
}

// judge says what the answer to one input means for the others. One of the cache says nothing of the service. One
// that stands in for a failure, stale or of a Respaldo, leaves its input to another run, and serves no later duplicate.
func judge(r *Response, instead, err error) batch.Verdict {
	var e *Error
	switch {
	case err == nil && errors.As(instead, &e):
		return batch.Verdict{Failure: e, Slower: e.throttled(), After: e.RetryAfter}
	case err == nil, errors.Is(err, ErrNotFound):
		return batch.Verdict{Keep: true, Record: true, Works: !r.FromCache}
	case !errors.As(err, &e):
		return batch.Verdict{}
	case errors.Is(e, errNoTimeLeft):
		return batch.Verdict{Stop: true}
	case errors.Is(e, solguard.ErrImpatient):
		return batch.Verdict{Waits: true}
	case e.throttled():
		return batch.Verdict{Slower: true, After: e.RetryAfter}
	case errors.Is(e, ErrUnauthorized) && e.StatusCode == http.StatusForbidden:
		return batch.Verdict{StopAlone: e.ofContract}
	case errors.Is(e, ErrInvalidSOLCredentials), errors.Is(e, ErrUnauthorized), errors.Is(e, ErrQuotaExceeded):
		return batch.Verdict{Stop: true}
	}
	return batch.Verdict{Local: errors.Is(e, ErrInvalidRequest) && e.Delivery == DeliveryNotSent}
}
