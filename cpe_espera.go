package fiscope

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// OpEsperarCPE is the wait for a receipt. Each of its queries is a CPE.Validar, with its guards.
const OpEsperarCPE Operation = "CPE.Esperar"

// EsperaPolicy bounds a wait for a receipt. Its zero value has sensible limits.
type EsperaPolicy struct {
	MaxAttempts int           // validations: 10
	Base        time.Duration // the span of the first pause, which doubles from one to the next: 2 seconds
	Cap         time.Duration // the longest span: 1 minute, or Base if that is longer
	Timeout     time.Duration // no validation is sent later than this, whatever it waits for: 10 minutes

	// HastaQueExista waits for a receipt that does not exist yet too: "No Existe" (98) is the usual first answer
	// right after its issue, and then counts as "En Proceso" does. It is for minutes. A boleta may be informed up
	// to 7 days after its date, and other receipts days later as well: for those ask again from a job of your own,
	// once or twice a day, rather than wait here.
	HastaQueExista bool
}

// Espera is how a wait for a receipt ended.
type Espera struct {
	Resultado ResultadoCPE // the last answer
	Fin       FinEspera    // why no other was asked for
	Causa     error        // the *Error that came after the last answer; nil where none did
	Consultas int          // the queries that it cost at most
}

// FinEspera says why a wait for a receipt ended.
type FinEspera string

// The ends of a wait. In all but the first the state of the receipt is still open.
const (
	EsperaFinal       FinEspera = "final"        // the answer is neither "En Proceso" nor "Error"
	EsperaSinIntentos FinEspera = "sin intentos" // MaxAttempts validations were made
	EsperaSinTiempo   FinEspera = "sin tiempo"   // the next would be sent after Timeout or the context's deadline
	EsperaSinCuota    FinEspera = "sin cuota"    // the quota is spent, or the rest is kept in reserve: Causa says until when
)

// Esperar validates a receipt again and again, with growing pauses, while it is "En Proceso" or, if the policy
// says so, does not exist yet. It ends with a final state, with the last of its attempts, with its time or with
// the quota and its reserve, and says with which. Where codigo is not one of the contract, estado decides. Each attempt costs one query.
//
// "Error" (codigo 99: the query failed at the authority) says as little about the receipt as "En
// Proceso", and so does ErrUnavailable: both count as an attempt, and the wait goes on. So it does after
// a 429 that leaves queries, once what it asks for has passed. But where no answer came and the
// credentials were not proven by an earlier one, it ends: they may have been refused, and a second
// refusal could block the SOL user. Refused credentials are never repeated.
//
// A pause lasts half of its span to all of it, at random, so that many waits do not ask together. It
// ends at once with the context.
//
// It returns an error where no answer came at all, where the context was cancelled, and for whatever
// time does not cure. Errors: ErrInvalidRequest (also of a policy below zero: nothing is sent), and
// those of Validar.
func (s *CPEService) Esperar(ctx context.Context, c Comprobante, credenciales CredencialesSOL, p EsperaPolicy, opts ...CallOption) (*Espera, error) {
	return hooked(ctx, s.sender.hook, OpEsperarCPE, s.sender.defaults.of(opts), func(ctx context.Context, set *settings) (*Espera, error) {
		return s.esperar(ctx, c, credenciales, p, set)
	})
}

func (s *CPEService) esperar(ctx context.Context, c Comprobante, credenciales CredencialesSOL, p EsperaPolicy, set *settings) (*Espera, error) {
	err := cmp.Or(p.check(), set.invalid)
	if ctx == nil {
		err = noContext()
	}
	if err != nil {
		return nil, s.sender.refuse(ctx, OpEsperarCPE, err)
	}
	w := espera{ctx: ctx, policy: p.complete(), end: time.Now().Add(p.complete().Timeout)}
	attempt := *set
	attempt.leaveBy = w.end
	for {
		result, err := s.validar(ctx, c, credenciales, &attempt)
		if w.take(result, err); w.fin != "" {
			return w.result()
		}
		timer := time.NewTimer(w.pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			e := s.sender.failed(OpEsperarCPE, withEndOf(ctx, nil))
			e.Attempts, e.Delivery = w.queries, w.delivery
			if w.last == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, e
			}
			w.fin, w.failure = EsperaSinTiempo, e
			return w.result()
		}
	}
}

func (p EsperaPolicy) check() error {
	if p.MaxAttempts < 0 || p.Base < 0 || p.Cap < 0 || p.Timeout < 0 {
		return misuse("an EsperaPolicy wants 0 or more in every field: it is %+v", p)
	}
	return nil
}

func (p EsperaPolicy) complete() EsperaPolicy {
	p.MaxAttempts = cmp.Or(p.MaxAttempts, 10)
	p.Base = cmp.Or(p.Base, 2*time.Second)
	p.Cap = max(p.Base, cmp.Or(p.Cap, time.Minute))
	p.Timeout = cmp.Or(p.Timeout, 10*time.Minute)
	return p
}

// espera is a wait under way.
type espera struct {
	ctx    context.Context
	policy EsperaPolicy
	end    time.Time

	attempts int
	queries  int
	delivery Delivery      // of all attempts
	proven   bool          // an answer came that only right credentials get
	last     *ResultadoCPE // the last answer; nil before the first
	failure  *Error        // what came after it; nil for nothing
	pause    time.Duration // before the next attempt
	fin      FinEspera     // "" while it goes on
}

// esperaFallida ends a wait by its failure.
const esperaFallida FinEspera = "fallida"

// take decides what comes after an attempt.
func (w *espera) take(result *ResultadoCPE, err error) {
	w.attempts++
	var asked time.Duration
	if err == nil {
		w.queries++
		w.delivery = DeliveryAnswered
		w.last, w.failure = result, nil
		codigo := result.decisive()
		w.proven = w.proven || codigo != CodigoError
		if !w.open(codigo) {
			w.fin = EsperaFinal
			return
		}
	} else {
		w.failure = copyError(err)
		w.queries += w.failure.Attempts
		if w.failure.Delivery != DeliveryNotSent {
			w.delivery = w.failure.Delivery
		}
		if w.fin = w.endOf(w.failure); w.fin != "" {
			return
		}
		asked = w.failure.RetryAfter
	}
	w.pause = max(asked, w.draw())
	next := time.Now().Add(w.pause)
	deadline, bounded := w.ctx.Deadline()
	switch {
	case w.attempts >= w.policy.MaxAttempts:
		w.fin = EsperaSinIntentos
	case next.After(w.end), bounded && !next.Before(deadline):
		w.fin = EsperaSinTiempo
	}
}

// decisive returns the code that says how the receipt stands: that of the estado, where the code is not one of
// the contract.
func (r *ResultadoCPE) decisive() CodigoCPE {
	if ofEstado, known := r.Estado.codigo(); known && !r.Codigo.known() {
		return ofEstado
	}
	return r.Codigo
}

// open reports whether an answer leaves the state open that the wait is for.
func (w *espera) open(codigo CodigoCPE) bool {
	return codigo.Indeterminado() || codigo == CodigoNoExiste && w.policy.HastaQueExista
}

// endOf returns the end that a failure is, and "" for one that may pass.
func (w *espera) endOf(e *Error) FinEspera {
	switch {
	case errors.Is(w.ctx.Err(), context.DeadlineExceeded), errors.Is(e, errNoTimeLeft):
		return EsperaSinTiempo
	case errors.Is(e, ErrQuotaExceeded) && !e.throttled():
		return EsperaSinCuota
	case errors.Is(e, ErrQuotaExceeded):
		return ""
	case errors.Is(e, ErrUnavailable) && (w.proven || e.Delivery != DeliveryUnknown):
		return ""
	}
	return esperaFallida
}

// draw returns the next pause.
func (w *espera) draw() time.Duration {
	span := w.policy.Base
	for n := 1; n < w.attempts && span < w.policy.Cap; n++ {
		span = min(span, w.policy.Cap/2) * 2
	}
	return span/2 + rand.N(span/2+1)
}

func (w *espera) result() (*Espera, error) {
	if w.failure != nil && (w.fin == esperaFallida || w.last == nil) {
		w.failure.Op, w.failure.Attempts, w.failure.Delivery = OpEsperarCPE, w.queries, w.delivery
		return nil, w.failure
	}
	e := &Espera{Resultado: *w.last, Fin: w.fin, Consultas: w.queries}
	if w.failure != nil {
		e.Causa = w.failure
	}
	return e, nil
}
