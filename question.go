package fiscope

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/internal/scrub"
	"github.com/fiscope/fiscope/internal/solguard"
	"github.com/fiscope/fiscope/store"
)

// ask answers a question; newCore builds the lists. The answer is the last one that came, and may be an error itself
// (answer.err). The error says why none came, or why there was no further attempt. report joins both into an *Error.
type ask func(ctx context.Context, q *question) (*answer, error)

// layer puts a policy around the rest of its list.
type layer func(next ask) ask

// through puts layers above the last ask. A nil layer is skipped.
func through(last ask, layers ...layer) ask {
	for _, wrap := range slices.Backward(layers) {
		if wrap != nil {
			last = wrap(last)
		}
	}
	return last
}

// question is one call on its way down a list.
type question struct {
	input   subject
	key     cacheKey
	set     *settings
	secrets scrub.Secrets // those that the call sends
	began   time.Time     // when its caller asked; set by report

	request    request     // what is sent; set by checkInput
	attempt    int         // the number of this attempt, from 1 on
	left       int         // queries left after this attempt, according to limitQuota; 0 or less if none or unknown
	sent       bool        // an earlier attempt may have been received
	background *background // what callers see of a question in the background; nil for any other
	permit     *permit     // set by permits; nil for other operations
}

// subject is what an operation asks, and how its answer is read.
type subject interface {
	key() cacheKey
	request() request
	read(*answer) any // the result in a 200; errors go to answer.err
	// lifetime is how long an answer may be cached from now; 0 for never. result is nil for a NOT_FOUND.
	lifetime(p CachePolicy, result any, now time.Time) time.Duration
}

// request is what an operation sends. It holds no API key.
type request struct {
	path    string           // after the base URL; needs no escaping
	query   url.Values       // nil for none
	body    []byte           // JSON, sent by POST; nil for a GET
	sol     *CredencialesSOL // the credentials in the body; nil for none
	invalid error            // the rule that the input breaks; nil if valid
}

// cacheKey identifies a question. It is a value, so that a lookup costs no allocation.
type cacheKey struct {
	op    Operation
	text  string
	n     int
	fecha Fecha
}

func (k cacheKey) parts() []string {
	return []string{string(k.op), k.text, strconv.Itoa(k.n), k.fecha.String()}
}

// checkInput refuses an input that breaks a rule.
func checkInput(next ask) ask {
	return func(ctx context.Context, q *question) (*answer, error) {
		q.request = q.input.request()
		if q.request.sol != nil { // before the check: its error must not show the clave
			q.secrets = q.secrets.With(q.request.sol.Clave.text())
		}
		if q.request.invalid != nil {
			return nil, q.request.invalid
		}
		return next(ctx, q)
	}
}

// background is what callers see of a question that runs in the background.
type background struct {
	sent   atomic.Int32 // attempts that may have reached the service
	answer *answer      // set at the end, with err
	err    error
}

// markSent counts an attempt, unless ctx has ended. A caller that leaves ends ctx before it reads the count, so it
// never reports "not sent" for a sent attempt.
func (b *background) markSent(ctx context.Context) error {
	b.sent.Add(1)
	if err := ctx.Err(); err != nil {
		b.sent.Add(-1)
		return err
	}
	return nil
}

// soFar is the answer for a caller that leaves now.
func (b *background) soFar() *answer {
	n := int(b.sent.Load())
	a := &answer{attempts: n}
	if n > 0 {
		a.delivery = DeliveryUnknown
	}
	return a
}

// permit is a validation's permission to send its credential.
type permit struct {
	*solguard.Permit
	credential *CredencialesSOL
	patience   time.Duration // the longest wait for another call's attempt
	claim      store.Claim   // the Store's grant or proof; zero for none
	granted    bool
	last       *answer // of the last attempt; nil for none
}

// settings are the options of a call. Calls without options share their client's settings, which never change.
type settings struct {
	timeout    time.Duration // of an attempt
	cpeTimeout time.Duration // of a validation's attempt
	retries    int
	header     http.Header   // of the caller; nil for none
	secrets    scrub.Secrets // the API key, and the caller's headers
	reserve    int           // queries kept for others
	fresh      bool          // skip the cache
	respaldos  map[Source]Respaldo
	invalid    error        // an option was invalid
	responses  []*Response  // see WithResponse
	walk       *walkOptions // nil for other operations
	sendBy     time.Time    // no attempt is sent later; zero for no limit
}

// walkOptions are the options of operations that ask for one day after another.
type walkOptions struct {
	provisional  bool
	decretados   []NoLaborables
	todosLosDias bool
}

// beforeSending returns the context for the waits before an attempt.
func (s *settings) beforeSending(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.sendBy.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, s.sendBy, errDeadlineTooClose)
}

// tooClose returns the error of a wait before an attempt: errDeadlineTooClose if the wait ended and ctx did not.
func tooClose(ctx, waiting context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && waiting.Err() != nil && ctx.Err() == nil {
		return errDeadlineTooClose
	}
	return err
}
