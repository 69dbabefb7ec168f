package fiscope

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// Event is one attempt, or one call that was answered without any. It holds no URL, body, RUC or name.
type Event struct {
	Op         Operation
	Attempt    int           // from 1 on; 0 where none was made
	StatusCode int           // 0 where no answer came
	Code       string        // of an error answer, as in NOT_FOUND
	Duration   time.Duration // of the attempt; of the call where none was made
	RateLimit  *RateLimit    // as this answer's headers said; nil where none came
	Delivery   Delivery      // whether the service can have received it
	Avoided    Avoided       // why no attempt was made; "" where one was
}

// Avoided says why a call spent no query.
type Avoided string

// The reasons.
const (
	AvoidedInvalid   Avoided = "invalid"     // the input breaks a rule
	AvoidedQuota     Avoided = "quota"       // the quota is known to be spent, or the rest is kept in reserve
	AvoidedSOL       Avoided = "sol"         // the SOL credential was refused before
	AvoidedOutOfTime Avoided = "out of time" // the context ended before the first attempt
	AvoidedCached    Avoided = "cached"      // an earlier answer served, see WithCache
	AvoidedCoalesced Avoided = "coalesced"   // another call's query served, see WithCoalescing
	avoidedNot       Avoided = ""
)

// WithObserver calls f after every attempt and after every call that made none, in the goroutine of the
// call: f must be quick and safe for concurrent use.
func WithObserver(f func(Event)) Option {
	return option(func(c *Client) error {
		if f == nil {
			return errors.New("fiscope: WithObserver: the function is nil")
		}
		c.watchers.observer = f
		return nil
	})
}

// WithLogger logs what an observer sees: what was answered at level Debug, and what was not, or shows
// that a key, a clave or the quota needs attention, at level Warn.
func WithLogger(l *slog.Logger) Option {
	return option(func(c *Client) error {
		if l == nil {
			return errors.New("fiscope: WithLogger: the logger is nil")
		}
		c.watchers.logger = l
		return nil
	})
}

type watchers struct {
	observer func(Event)
	logger   *slog.Logger
}

func (w watchers) watching() bool { return w.observer != nil || w.logger != nil }

func (w watchers) tell(ctx context.Context, e Event) {
	if w.observer != nil {
		w.observer(e)
	}
	if w.logger != nil {
		w.logger.LogAttrs(ctx, e.level(), "fiscope", slog.Any("event", e))
	}
}

func (e Event) level() slog.Level {
	switch e.StatusCode {
	case http.StatusOK, http.StatusBadRequest, http.StatusNotFound:
		return slog.LevelDebug
	}
	switch e.Avoided {
	case AvoidedInvalid, AvoidedCached, AvoidedCoalesced:
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// LogValue returns a group of what is known.
func (e Event) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("op", string(e.Op)), slog.Int("attempt", e.Attempt), slog.Duration("duration", e.Duration), slog.String("delivery", e.Delivery.String())}
	if e.StatusCode != 0 {
		attrs = append(attrs, slog.Int("status", e.StatusCode))
	}
	if e.Code != "" {
		attrs = append(attrs, slog.String("code", e.Code))
	}
	if e.Avoided != avoidedNot {
		attrs = append(attrs, slog.String("avoided", string(e.Avoided)))
	}
	if e.RateLimit != nil {
		attrs = append(attrs, slog.String("quota", e.RateLimit.String()))
	}
	return slog.GroupValue(attrs...)
}

// attempted enters an attempt into the ledger, and tells who watches.
func (c *call) attempted(w *wire, took time.Duration) {
	c.client.ledger.attempt(c.attempts, w.written())
	if !c.client.watchers.watching() {
		return
	}
	e := Event{Op: c.request.op, Attempt: c.attempts, StatusCode: c.answer.status, Duration: took, RateLimit: c.answer.rateLimit.copy()}
	switch {
	case c.answer.status != 0:
		e.Delivery = Answered
	case !w.unsent:
		e.Delivery = Unknown
	}
	if said, ok := readErrorBody(c.answer.body); ok {
		e.Code = c.scrubber().line(said.Code)
	}
	c.client.watchers.tell(c.ctx, e)
}

// ended enters the call into the ledger, and tells who watches of one that made no attempt.
func (c *call) ended(err error) {
	if err == nil {
		c.client.budget.earn()
	}
	avoided := c.avoided(err)
	c.client.ledger.call(avoided)
	if avoided != avoidedNot && c.client.watchers.watching() {
		c.client.watchers.tell(c.ctx, Event{Op: c.request.op, Duration: time.Since(c.start), Avoided: avoided})
	}
}

// answeredWithout enters a call into the ledger that another one's query answers.
func (c *Client) answeredWithout(why Avoided, op Operation) {
	c.ledger.call(why)
	if c.watchers.watching() {
		c.watchers.tell(context.Background(), Event{Op: op, Avoided: why})
	}
}

func (c *call) avoided(err error) Avoided {
	switch {
	case err == nil || c.attempts > 0:
		return avoidedNot
	case errors.Is(err, ErrSOLCredentialsBlocked):
		return AvoidedSOL
	case errors.Is(err, ErrQuotaExceeded):
		return AvoidedQuota
	case errors.Is(err, ErrInvalidRequest):
		return AvoidedInvalid
	}
	return AvoidedOutOfTime
}
