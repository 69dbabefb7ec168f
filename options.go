package fiscope

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope/internal/build"
	"github.com/fiscope/fiscope/internal/scrub"
)

// Option sets something of a Client. A wrong value makes NewClient fail.
type Option interface{ applyToClient(*config) error }

type option func(*config) error

func (o option) applyToClient(c *config) error { return o(c) }

// config is what the options of a Client decide.
type config struct {
	transport  http.RoundTripper // nil for our own
	clock      clock
	timeout    time.Duration // of the caller's http.Client, for an attempt; 0 for none
	timeouts   timeouts      // of an attempt
	userAgent  string
	insecure   bool  // plain http to other machines
	maxBody    int64 // bytes of an answer
	lenient    bool
	strictRUC  bool
	limiter    *rate.Limiter // nil for none
	retry      RetryPolicy
	noGate     bool // nothing is refused for what the headers say
	reserve    int  // queries that are left to others
	solMemory  time.Duration
	solStore   bool         // a validation needs the store's word
	cache      *CachePolicy // nil for none
	coalescing bool
	respaldo   Respaldo // nil for none
	store      Store    // nil for none
	observers  []func(context.Context, Event)
	logger     *slog.Logger
	hook       Hook // nil for none
}

type timeouts struct{ get, cpe time.Duration }

func defaultConfig() config {
	return config{
		timeouts:  timeouts{get: 10 * time.Second, cpe: 30 * time.Second},
		userAgent: defaultUserAgent(),
		maxBody:   1 << 20,
		retry:     DefaultRetryPolicy(),
		solMemory: 24 * time.Hour,
	}
}

// WithHTTPClient makes the calls with the transport and the timeout of hc, for a proxy, a CA or a
// tracer of your own. hc itself is not changed. Its CheckRedirect and its Jar do not apply: redirects
// are never followed, and the service has no cookies. Its Timeout, if set, bounds each attempt where it
// is shorter than ours.
//
// A RoundTripper of your own must return when the context of its request ends, as http.Client asks of it
// too; a body that goes on is given up by itself. One that sends a request again by itself can repeat a
// receipt validation, against which nothing here can help.
func WithHTTPClient(hc *http.Client) Option {
	return option(func(c *config) error {
		if hc == nil {
			return errors.New("fiscope: WithHTTPClient: the client is nil")
		}
		c.transport = hc.Transport
		if c.transport == nil {
			c.transport = http.DefaultTransport
		}
		c.timeout = hc.Timeout
		return nil
	})
}

// defaultUserAgent names the SDK and its version. There are no parentheses in the version of a product (RFC 9110,
// 10.1.5): what was built of no version is "devel".
var defaultUserAgent = sync.OnceValue(func() string {
	return "fiscope-go/" + strings.TrimPrefix(strings.Trim(build.Read().Version, "()"), "v")
})

// WithUserAgent sends ua as the User-Agent instead of "fiscope-go/VERSION", where VERSION is that of this module
// in the program's build information (runtime/debug): "0.1.0", or "devel" where go.mod or go.work names a
// folder.
func WithUserAgent(ua string) Option {
	return option(func(c *config) error {
		if strings.TrimSpace(ua) == "" || strings.ContainsFunc(ua, func(r rune) bool { return r < ' ' || r > '~' }) {
			return fmt.Errorf("fiscope: WithUserAgent: want printable ASCII, got %q", scrub.Cut(ua, 40))
		}
		c.userAgent = ua
		return nil
	})
}

// WithTimeout bounds each attempt: that of a GET, 10 seconds by default, and that of a receipt
// validation, 30 seconds by default, since the tax authority can be slow. The context bounds the call
// as a whole, with its retries and waits.
func WithTimeout(get, cpe time.Duration) Option {
	return option(func(c *config) error {
		if get <= 0 || cpe <= 0 {
			return fmt.Errorf("fiscope: WithTimeout: want more than 0, got %s and %s", get, cpe)
		}
		c.timeouts = timeouts{get: get, cpe: cpe}
		return nil
	})
}

// WithInsecureHTTP accepts a base URL with plain http to any host. Whoever is on the way reads the API
// key and the clave: it is for a private network whose transport is encrypted otherwise.
func WithInsecureHTTP() Option {
	return option(func(c *config) error {
		c.insecure = true
		return nil
	})
}

// WithMaxResponseBytes sets how many bytes an answer may have: n for its headers, and n for its body after
// decompression. It is 1 MiB by default. No more of a body is read. An answer with longer headers, and one
// with status 200 and a longer body, is [ErrMalformedResponse], and nothing of it is used.
func WithMaxResponseBytes(n int64) Option {
	return option(func(c *config) error {
		if n < 1 || n > math.MaxInt32 {
			return fmt.Errorf("fiscope: WithMaxResponseBytes: want 1 to %d, got %d", math.MaxInt32, n)
		}
		c.maxBody = n
		return nil
	})
}

// WithLenientReading turns the contradictions of an answer (a RUC, a date or a currency other than the
// one asked for, a code and a status that exclude each other, a member that comes twice and differs) into
// warnings of its Response. It is for the day on which the service drifts from its contract, and for
// whoever reads the warnings.
func WithLenientReading() Option {
	return option(func(c *config) error {
		c.lenient = true
		return nil
	})
}

// WithStrictRUC makes Consultar refuse a RUC, and Validar refuse its rucEmisor and rucSolicitante, that
// [ValidarRUC] does not accept, before a query is spent on it. The error is an [ErrInvalidRequest]. By
// default the client asks for 11 digits and no more, as the service does (docs/contrato.md, 4.1): the
// registry is said to have rows with prefixes that this refuses.
func WithStrictRUC() Option {
	return option(func(c *config) error {
		c.strictRUC = true
		return nil
	})
}

// RetryPolicy says what is tried again. Begin with [DefaultRetryPolicy] and change a field.
//
// A GET is tried again after a 502, 503 or 504, a 500 (once), a connection that failed or an answer that
// broke off, and a 429 that says to come back within MaxRetryAfter. A name that does not exist, a TLS
// failure and every other status are final. The waits are random parts of a span that doubles (full
// jitter), after whatever the service asked for with Retry-After, a date of which is taken against the
// answer's own Date; a wait that is longer than MaxRetryAfter or than the context allows ends the call at
// once with the service's error.
//
// All calls of a Client share a budget: an outage is met with at most ten retries, and every call that
// succeeds earns a tenth of one, up to these ten. A retry is set aside when its wait begins, and given back
// if it is not made; a call for which none is left ends at once with the service's error.
type RetryPolicy struct {
	MaxRetries      int           // how often an attempt is repeated: 0 for never
	Base            time.Duration // the span of the first wait, above 0
	Cap             time.Duration // the longest span, at least Base
	MaxRetryAfter   time.Duration // the longest Retry-After that is waited for
	RetryUnsentPOST bool          // repeat a receipt validation that provably was not sent: never another one
}

// DefaultRetryPolicy returns 2 retries, with spans from 250 ms to 4 s and a Retry-After of up to 10 s,
// and none of a receipt validation.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{MaxRetries: 2, Base: 250 * time.Millisecond, Cap: 4 * time.Second, MaxRetryAfter: 10 * time.Second}
}

// WithRetry sets what is tried again.
func WithRetry(p RetryPolicy) Option {
	return option(func(c *config) error {
		if p.MaxRetries < 0 || p.Base <= 0 || p.Cap < p.Base || p.MaxRetryAfter < 0 {
			return fmt.Errorf("fiscope: WithRetry: want MaxRetries >= 0, Base > 0, Cap >= Base and MaxRetryAfter >= 0, got %+v: begin with DefaultRetryPolicy()", p)
		}
		c.retry = p
		return nil
	})
}

// WithRateLimit lets at most limit attempts a second leave, and burst at once. By default nothing is
// limited. A wait that the context's deadline does not allow ends the call at once, not sent.
func WithRateLimit(limit rate.Limit, burst int) Option {
	return option(func(c *config) error {
		if limit <= 0 || math.IsNaN(float64(limit)) || burst < 1 {
			return fmt.Errorf("fiscope: WithRateLimit: want a limit above 0 and a burst of at least 1, got %v and %d", limit, burst)
		}
		c.limiter = rate.NewLimiter(limit, burst)
		return nil
	})
}

// WithoutQuotaGate trusts the service alone with the quota: no call is refused or held back for what
// the headers say. Otherwise a header that says that no query is left closes the gate until the reset,
// but for one call every 15 to 60 minutes that goes to see whether it is still so.
func WithoutQuotaGate() Option {
	return option(func(c *config) error {
		c.noGate = true
		return nil
	})
}

// WithSOLMemory sets for how long a SOL credential is remembered as refused or as proven: 24 hours by
// default. A proven one is sent by many calls at once for 15 minutes of that after each acceptance, and
// then by one first. A 401 that does not say what it refuses blocks a proven one for 5 minutes, then 10,
// and so on, up to that time.
//
// Up to 100 000 refused credentials and 10 000 proven ones are remembered; of more, the oldest are
// forgotten.
func WithSOLMemory(d time.Duration) Option {
	return option(func(c *config) error {
		if d <= 0 {
			return fmt.Errorf("fiscope: WithSOLMemory: want more than 0, got %s", d)
		}
		c.solMemory = d
		return nil
	})
}

// WithSOLStoreRequired makes a validation fail, not sent, with [ErrUnavailable], where the Store ([WithStore])
// cannot say what the fleet knows of its credential: it is away, or hangs. By default each process then goes by
// what it knows itself, so that a wrong clave costs one refusal for each process.
func WithSOLStoreRequired() Option {
	return option(func(c *config) error {
		c.solStore = true
		return nil
	})
}

// WithCache keeps answers, so that the same question is paid once; it implies [WithCoalescing]. With
// [WithStore] the answers are shared by all processes, and each lets one serve for no longer than its own
// policy says. Of two answers to a question, the one whose request left later is kept.
func WithCache(p CachePolicy) Option {
	return option(func(c *config) error {
		if p.Entries < 0 {
			return fmt.Errorf("fiscope: WithCache: want Entries >= 0, got %d", p.Entries)
		}
		c.cache = &p
		return nil
	})
}

// WithCoalescing makes one query of the calls that ask the same at the same time. Each caller has a result,
// a Response and an error of his own, and gives up as if the query were his own: also where it is about to
// wait beyond his deadline, for a retry or for [WithRateLimit], he gets the service's error at once. He
// leaves the others alone. The query goes on as long as one of them waits; when the last one has left, it is
// abandoned, or, with a cache, what is sent is brought home for the next. A receipt validation is never
// shared.
//
// If a query panics (in a RoundTripper, an observer or a [Store]), the panic is raised again in the goroutine
// of the call that began it, with an error that shows the value and the stack, and unwraps to a value that
// is an error. A runtime.Goexit ends that goroutine. The other callers get an [*Error] without a class. The
// panic of a query whose first caller has left is logged (WithLogger).
func WithCoalescing() Option {
	return option(func(c *config) error {
		c.coalescing = true
		return nil
	})
}

// WithStore shares answers (with [WithCache]), the quota and the SOL guard with all processes that use
// the same store and API key. A store that hangs holds no call for more than a few seconds, and is left alone
// for 5 seconds then: see [Store].
func WithStore(s Store) Option {
	return option(func(c *config) error {
		if s == nil {
			return errors.New("fiscope: WithStore: the store is nil")
		}
		c.store = s
		return nil
	})
}

// WithObserver calls f after every attempt, once its answer was read and before another attempt leaves, after
// every call that made none, and after every answer of a [Respaldo]. It is called in the goroutine of the call, or in one of the Client's, where
// a query is shared or a validation may outlive its caller: f must be quick and safe for concurrent use. Of
// several observers each is called, in their order. See [WithContextObserver] for what needs the context of a call,
// and [WithHook] for what needs its end.
func WithObserver(f func(Event)) Option {
	if f == nil {
		return option(func(*config) error { return errors.New("fiscope: WithObserver: the function is nil") })
	}
	return WithContextObserver(func(_ context.Context, e Event) { f(e) })
}

// WithContextObserver is [WithObserver] for a function that also gets the context of the call, as the client's
// [Hook] returned it: a span in it is that of the operation. Of a query that is shared, the attempts come with
// the context of the call that began it. The context may have ended.
func WithContextObserver(f func(context.Context, Event)) Option {
	return option(func(c *config) error {
		if f == nil {
			return errors.New("fiscope: WithContextObserver: the function is nil")
		}
		c.observers = append(c.observers, f)
		return nil
	})
}

// WithHook calls h around every operation: see [Hook]. A panic in it goes to the caller. Of two hooks the last
// one counts.
func WithHook(h Hook) Option {
	return option(func(c *config) error {
		if h == nil {
			return errors.New("fiscope: WithHook: the function is nil")
		}
		c.hook = h
		return nil
	})
}

// WithClock makes the Client go by now() wherever it goes by the calendar, instead of by [time.Now]: for the
// days of the quota and [Error.RetryAfter] until the next one, for the hour at which a rate is published, for
// the day of [TipoCambioService.Hoy], for how old an answer of the cache is, and for how long a SOL
// credential is remembered ([WithSOLMemory]). It is for tests, in which a day is to pass at once: the Client
// method of a mockserver's Server gives the server's clock.
//
// Nothing waits for it, so that a clock that stands still stops nothing. Durations, timeouts, retries, the
// limiter, the pauses of [CPEService.Esperar], how often a spent quota is looked at, and all times of a
// [Store] are real. [HoyEnLima] is this machine's day.
//
// now is called by many goroutines, and must be quick. Its time may jump, forth and back.
func WithClock(now func() time.Time) Option {
	return option(func(c *config) error {
		if now == nil {
			return errors.New("fiscope: WithClock: the function is nil")
		}
		c.clock = now
		return nil
	})
}

// WithLogger logs what an observer sees, with the context of the call whose query it is. At level Debug:
// results, NOT_FOUND, invalid input, and calls that their caller cancelled. At Info: results of the service
// with warnings, and those of a Respaldo ([WithRespaldo]). At Warn: every other error, which is one of the service, or shows that the key, a clave, the
// quota or the base URL needs attention.
func WithLogger(l *slog.Logger) Option {
	return option(func(c *config) error {
		if l == nil {
			return errors.New("fiscope: WithLogger: the logger is nil")
		}
		c.logger = l
		return nil
	})
}
