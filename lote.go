package fiscope

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/fiscope/fiscope/internal/batch"
)

// LotePolicy bounds a batch. Its zero value has sensible limits.
type LotePolicy struct {
	Concurrency     int      // queries at a time. 0: 8; negative: an error
	From            int      // position to begin at, such as a Siguiente; inputs before it are skipped. 0: the first; negative: an error
	MaxFailures     int      // consecutive failures after which the batch stops, or pauses if the service is away. 0: 20; negative: never
	Progress        Progress // inputs that earlier runs answered: this one skips them. nil: none
	NoExisteEsFinal bool     // record receipts that do not exist (98) too: by default the next run asks for them again
}

// LineaLote is what a batch delivers for one input.
type LineaLote[Entrada, Resultado any] struct {
	Posicion  int        // of the input, from 0 on
	Entrada   Entrada    // the input
	Resultado *Resultado // your own copy; nil if and only if there is an error
	Response  Response   // what else is known about the answer; a duplicate has no headers, attempts or time of its own
	Repetido  bool       // a duplicate: an earlier input's query answered it
	Siguiente int        // the From of the next run, if this line is the last one taken
}

// LoteDetenidoError is the last error of a batch that stopped before the end of its inputs. It unwraps to the reason.
type LoteDetenidoError struct {
	Siguiente int   // the From of the next run
	Err       error // the [*Error] of a query, the context's error and its cause, or the error of a Progress
}

// Error returns one line in English that is safe to log.
func (e *LoteDetenidoError) Error() string {
	return fmt.Sprintf("fiscope: the batch stopped before position %d: %s", e.Siguiente, strings.TrimPrefix(fmt.Sprint(e.Err), "fiscope: "))
}

// Unwrap returns the reason.
func (e *LoteDetenidoError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// ConsultarLote looks up many taxpayers, several at a time. It yields each input once, in no particular order, with its
// answer or error. A duplicate of one of the last 10 000 inputs costs no query. Breaking out of the loop is safe.
//
// An error of one input does not stop the others, nor does a row of inputs that always fail. After several consecutive
// [ErrUnavailable], or a 429 that asks for a slower pace, the batch pauses, then probes with one input, each time further
// ahead. It stops after ten minutes without an answer, if the quota is spent or the API key refused, and if ctx ends: the
// last error is then a [*LoteDetenidoError] with the From of the next run. docs/batches.md says what is delivered,
// recorded and paid again.
func (s *ContribuyentesService) ConsultarLote(ctx context.Context, rucs iter.Seq[string], p LotePolicy, opts ...CallOption) iter.Seq2[LineaLote[string, Contribuyente], error] {
	return lote[string, Contribuyente]{
		core:   s.core,
		op:     OpConsultarLote,
		policy: p,
		list:   s.core.lookups,
		input:  func(ruc string) subject { return consulta{ruc, s.strictRUC} },
		key:    func(ruc string) (string, error) { return ruc, checkRUC("ruc", ruc) },
		final:  func(*Contribuyente) bool { return true },
	}.over(ctx, rucs, nil, opts)
}

// ValidarLote validates many receipts with the credentials of one secondary user. It works as
// [ContribuyentesService.ConsultarLote], and also stops if the credentials are refused.
//
// A receipt that was sent but not answered is never asked again in the same run. "En Proceso", "No Existe" and "Error"
// are answers, but a [Progress] does not record them: the next run asks again. [WithQuotaReserve] works only after a
// lookup. docs/batches.md says what is delivered, recorded and paid again.
func (s *CPEService) ValidarLote(ctx context.Context, comprobantes iter.Seq[Comprobante], credenciales CredencialesSOL, p LotePolicy, opts ...CallOption) iter.Seq2[LineaLote[Comprobante, ResultadoCPE], error] {
	return lote[Comprobante, ResultadoCPE]{
		core:   s.core,
		op:     OpValidarLote,
		policy: p,
		list:   s.core.receipts,
		input:  func(c Comprobante) subject { return s.validacion(c, credenciales) },
		key:    func(c Comprobante) (string, error) { return c.String(), c.check() },
		final: func(r *ResultadoCPE) bool {
			return r.Codigo == CodigoAceptado || r.Codigo == CodigoAnulado || p.NoExisteEsFinal && r.Codigo == CodigoNoExiste
		},
		once: true,
	}.over(ctx, comprobantes, s.credenciales(credenciales).check(), opts)
}

// lote is a batch of inputs E with answers R.
type lote[E, R any] struct {
	core   *core
	op     Operation
	policy LotePolicy
	list   ask
	input  func(E) subject
	key    func(E) (string, error) // identifies the input, also to a Progress
	final  func(*R) bool           // a Progress records it
	once   bool                    // an input that may have been received is asked again only after a 5xx or a 429
}

// respuesta is the answer to one input of a batch.
type respuesta[R any] struct {
	resultado *R // nil if there is an error
	response  Response
	behind    *Error // the failure behind a fallback's answer; nil for any other
}

// over yields the lines of a batch and, last, why it stopped. refused is why it does not begin; nil if it may.
func (l lote[E, R]) over(ctx context.Context, inputs iter.Seq[E], refused error, opts []CallOption) iter.Seq2[LineaLote[E, R], error] {
	p := l.policy
	ctx, set := l.core.defaults.of(ctx, opts)
	refused = cmp.Or(refused, set.invalid)
	switch {
	case refused != nil:
	case p.Concurrency < 0 || p.From < 0:
		refused = misuse("a LotePolicy wants 0 or more in Concurrency and From: they are %d and %d", p.Concurrency, p.From)
	case set.responses != nil:
		refused = misuse("WithResponse is for one call: a batch makes many at a time, and each line has its own Response")
	}
	return func(yield func(LineaLote[E, R], error) bool) {
		end := func(next int, reason error) {
			yield(LineaLote[E, R]{Posicion: next, Siguiente: next}, &LoteDetenidoError{next, reason})
		}
		if refused != nil {
			end(p.From, l.core.refuse(ctx, l.op, refused))
			return
		}
		policy := batch.Policy{Concurrency: cmp.Or(p.Concurrency, 8), From: p.From, MaxFailures: cmp.Or(p.MaxFailures, 20)}
		next, stopped := l.batch(ctx, set).Over(ctx, policy, inputs, func(line batch.Line[E, respuesta[R]]) bool {
			var err error
			if line.Err != nil {
				err = copyError(line.Err)
			}
			return yield(LineaLote[E, R]{
				Posicion: line.Position, Entrada: line.Input, Resultado: line.Answer.resultado, Response: line.Answer.response,
				Repetido: line.Repeated, Siguiente: line.Next,
			}, err)
		})
		if stopped != nil {
			end(next, stoppedBy(ctx, stopped, l.core.report.secrets))
		}
	}
}

func (l lote[E, R]) batch(ctx context.Context, set *settings) batch.Batch[E, respuesta[R]] {
	b := batch.Batch[E, respuesta[R]]{
		Ask: func(ctx context.Context, input E) (r respuesta[R], err error) {
			var a *answer
			r.resultado, a, err = put(ctx, l.list, l.input(input), set, copyOf[R])
			r.response, r.behind = a.response(), a.behind
			return r, err
		},
		Panicked: l.panicError,
		Key:      l.key,
		Judge:    l.judge,
		Copy:     respuesta[R].forDuplicate,
	}
	if p := l.policy.Progress; p != nil {
		b.Done = func(key string) (bool, error) { return p.Done(ctx, key) }
		b.Record = func(key string, _ respuesta[R], _ error, final bool) error {
			if !final {
				return nil
			}
			return p.Record(context.WithoutCancel(ctx), key) // it was answered, even if ctx has ended
		}
		if results, keeps := p.(resultKeeper); keeps {
			results.use(l.core.clock)
			b.Record = func(key string, r respuesta[R], err error, final bool) error {
				return results.keep(key, r.resultado, r.response, err, final)
			}
		}
	}
	return b
}

// panicError is the error of a query that panicked in a hook, an observer or the transport, or ended its goroutine
// there.
func (l lote[E, R]) panicError(panicked any) error {
	e := panickedError(l.op)
	if panicked != nil {
		text := fmt.Sprint("a query panicked: ", panicked)
		e.Message = l.core.report.secrets.Line(text)
		l.core.logPanic(text, debug.Stack())
	}
	return e
}

// forDuplicate returns a copy without the fields that describe the query.
func (r respuesta[R]) forDuplicate() respuesta[R] {
	r.response.Header, r.response.RateLimit, r.response.Attempts, r.response.Duration = nil, nil, 0, 0
	r.response.Warnings = slices.Clone(r.response.Warnings)
	if r.resultado != nil {
		r.resultado = copyOf(r.resultado)
	}
	return r
}

// judge says what the answer to one input means for the others. A cached answer says nothing about the service. A
// fallback's answer is delivered, but counts as the failure behind it.
func (l lote[E, R]) judge(r respuesta[R], err error) batch.Verdict {
	if err == nil && r.behind == nil || outcomes[outcomeOf(err)].verdict == batch.Answered {
		v := batch.Verdict{Outcome: batch.Answered, Final: err != nil || l.final(r.resultado)}
		if r.response.Source == SourceCache {
			v.Outcome = batch.Aside
		}
		return v
	}
	e := r.behind
	if err != nil {
		e = copyError(err)
	}
	v := batch.Verdict{
		Outcome: outcomes[outcomeOf(e)].verdict,
		Once:    l.once && e.Delivery != DeliveryNotSent && e.StatusCode < http.StatusInternalServerError, // 0 without an answer
		After:   e.RetryAfter,
	}
	if r.behind != nil {
		v.Fallback = r.behind
	}
	switch {
	case v.Outcome == batch.TooFast:
		v.Once = false
		if e.outcome == silent {
			v.Pause, v.After = e.RetryAfter, 0
		}
	case r.behind == nil, errors.Is(e, ErrUnauthorized): // nobody answers the rest with a refused key
	case v.Outcome == batch.Stop:
		v.Outcome = batch.Failed // no pause helps
	default:
		v.Outcome = batch.Away
	}
	return v
}
