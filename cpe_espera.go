package fiscope

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// EsperaPolicy bounds a wait for a receipt.
type EsperaPolicy struct {
	MaxAttempts int           // validations. 0: 10; negative: an error
	Base        time.Duration // the span of the first pause, doubled for each next one. 0: 2 seconds; negative: an error
	Cap         time.Duration // the longest span. 0: 1 minute, or Base if that is longer; negative: an error
	Timeout     time.Duration // no validation is sent later than this. 0: 10 minutes; negative: an error

	// HastaQueExista also waits while the receipt does not exist yet: "No Existe" (98) is usual in the minutes after its
	// issue. A boleta may be reported up to 7 days after its date: check it from a job, once or twice a day.
	HastaQueExista bool
}

// Espera is how a wait for a receipt ended.
type Espera struct {
	Resultado ResultadoCPE // the last answer
	Fin       FinEspera    // why the wait ended
	Causa     error        // the *Error after the last answer; nil for none
	Consultas int          // how many queries it cost at most
}

// FinEspera says why a wait for a receipt ended.
type FinEspera string

// The ends of a wait. In all except the first the state of the receipt is still open.
const (
	EsperaFinal       FinEspera = "final"        // the answer is neither "En Proceso" nor "Error"
	EsperaSinIntentos FinEspera = "sin intentos" // MaxAttempts validations were made
	EsperaSinTiempo   FinEspera = "sin tiempo"   // the next would be sent after Timeout or the context's deadline
	EsperaSinCuota    FinEspera = "sin cuota"    // the quota is spent, or the rest is kept in reserve: Causa says until when
)

// Esperar validates a receipt repeatedly while it is "En Proceso" or, if the policy says so, does not exist yet. Each
// attempt costs one query. Pauses grow; each is random, from half of its span to all of it.
//
// "Error" (99), ErrUnavailable and a 429 with queries left count as an attempt, and the wait goes on. It ends if
// unproven credentials get no answer: they may have been refused. Refused credentials are never sent again.
//
// It returns an error if no answer came at all, if the context was cancelled, and if waiting cannot help. Errors:
// ErrInvalidRequest (also for a negative policy: nothing is sent), and those of Validar.
func (s *CPEService) Esperar(ctx context.Context, c Comprobante, credenciales CredencialesSOL, p EsperaPolicy, opts ...CallOption) (*Espera, error) {
	ctx, set := s.core.defaults.of(ctx, opts)
	var e *Espera
	a, err := hooked(ctx, s.core.hooks, OpEsperarCPE, func(ctx context.Context) (a *answer, err error) {
		e, a, err = s.esperar(ctx, s.validacion(c, credenciales), p, set)
		return a, err
	})
	set.fill(a)
	return e, err
}

// esperar returns the last answer too; nil if there is none.
func (s *CPEService) esperar(ctx context.Context, v validacion, p EsperaPolicy, set *settings) (*Espera, *answer, error) {
	err := set.invalid
	if p.MaxAttempts < 0 || p.Base < 0 || p.Cap < 0 || p.Timeout < 0 {
		err = misuse("an EsperaPolicy wants 0 or more in every field: it is %+v", p)
	}
	if err != nil {
		return nil, nil, s.core.refuse(ctx, OpEsperarCPE, err)
	}
	w := espera{policy: p.complete()}
	w.end = time.Now().Add(w.policy.Timeout)
	set.sendBy = w.end
	for {
		r, a, err := put(ctx, s.core.receipts, v, set, copyOf[ResultadoCPE])
		pause := w.record(ctx, r, err)
		if w.fin == "" {
			select {
			case <-time.After(pause):
				continue
			case <-ctx.Done():
			}
			w.failure = s.core.ended(ctx, OpEsperarCPE, ctx.Err())
			if w.fin = esperaFallida; errors.Is(ctx.Err(), context.DeadlineExceeded) {
				w.fin = EsperaSinTiempo
			}
		}
		e, err := w.result()
		return e, a, err
	}
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
	policy EsperaPolicy
	end    time.Time

	attempts int
	queries  int
	delivery Delivery      // of all attempts
	proven   bool          // an answer proved the credentials
	last     *ResultadoCPE // the last answer; nil before the first
	failure  *Error        // the failure after it; nil for none
	fin      FinEspera     // "" while it goes on
}

// esperaFallida ends a wait with its failure.
const esperaFallida FinEspera = "fallida"

// record records an attempt, and returns the pause before the next.
func (w *espera) record(ctx context.Context, r *ResultadoCPE, err error) (pause time.Duration) {
	span := doubled(w.policy.Base, w.policy.Cap, w.attempts)
	w.attempts++
	if pause = span/2 + rand.N(span/2+1); err == nil {
		w.queries, w.delivery, w.last, w.failure = w.queries+1, DeliveryAnswered, r, nil
		codigo := r.decisive()
		w.proven = w.proven || codigo != CodigoError
		if !codigo.Indeterminado() && (codigo != CodigoNoExiste || !w.policy.HastaQueExista) {
			w.fin = EsperaFinal
			return 0
		}
	} else {
		w.failure = copyError(err)
		w.queries += w.failure.Attempts
		if w.failure.Delivery != DeliveryNotSent {
			w.delivery = w.failure.Delivery
		}
		if w.fin = w.endOf(ctx, w.failure); w.fin != "" {
			return 0
		}
		pause = max(pause, w.failure.RetryAfter)
	}
	next := time.Now().Add(pause)
	deadline, bounded := ctx.Deadline()
	switch {
	case w.attempts >= w.policy.MaxAttempts:
		w.fin = EsperaSinIntentos
	case next.After(w.end), bounded && !next.Before(deadline):
		w.fin = EsperaSinTiempo
	}
	return pause
}

// decisive returns the code or, if the contract does not have it, the code that goes with the estado.
func (r *ResultadoCPE) decisive() CodigoCPE {
	if ofEstado, known := r.Estado.codigo(); known && !r.Codigo.known() {
		return ofEstado
	}
	return r.Codigo
}

// endOf returns how a failure ends the wait; "" if the wait goes on.
func (w *espera) endOf(ctx context.Context, e *Error) FinEspera {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(e, errDeadlineTooClose):
		return EsperaSinTiempo
	case e.outcome == quotaSpent, e.outcome == quotaClosed:
		return EsperaSinCuota
	case errors.Is(e, ErrQuotaExceeded), errors.Is(e, ErrUnavailable) && (w.proven || e.Delivery != DeliveryUnknown):
		return ""
	}
	return esperaFallida
}

func (w *espera) result() (*Espera, error) {
	if w.fin == esperaFallida || w.last == nil {
		w.failure.Op, w.failure.Attempts, w.failure.Delivery = OpEsperarCPE, w.queries, w.delivery
		return nil, w.failure
	}
	e := &Espera{Resultado: *w.last, Fin: w.fin, Consultas: w.queries}
	if w.failure != nil {
		e.Causa = w.failure
	}
	return e, nil
}
