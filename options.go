package fiscope

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope/internal/scrub"
	"github.com/fiscope/fiscope/store"
)

// Option configures a Client. NewClient fails if its value is invalid.
type Option interface{ applyToClient(*config) }

type option func(*config)

func (o option) applyToClient(c *config) { o(c) }

// refuse makes NewClient fail if the value of an option is wrong.
func (c *config) refuse(wrong bool, format string, args ...any) {
	if wrong {
		c.calls.invalid = fmt.Errorf("fiscope: "+format, args...)
	}
}

// config is what the options of a Client decide.
type config struct {
	transport  http.RoundTripper // nil for our own
	bound      time.Duration     // the Timeout of the caller's http.Client, for an attempt; 0 for none
	clock      calendar
	userAgent  string
	calls      settings // of a call without options
	insecure   bool     // plain http to other machines
	lenient    bool
	strictRUC  bool
	sol        CredencialesSOL // zero for none
	limiter    *rate.Limiter   // nil for none
	retry      RetryPolicy
	noGate     bool         // no call is refused because of the quota
	cache      *CachePolicy // nil for none
	coalescing bool
	store      store.Store // nil for none
	observers  []notice
	logger     *slog.Logger
	hooks      []Hook
}

// WithHTTPClient makes the calls with the transport of hc, for a proxy, a CA or tracing. Its Timeout, if set, bounds
// each attempt. Its CheckRedirect and Jar do not apply: redirects are never followed.
//
// Without a Transport the calls use the client's own. It pings an HTTP/2 connection that is silent for 15 seconds, and
// closes it if no answer comes in 5; a transport of yours needs [http.HTTP2Config] for that.
//
// A RoundTripper of your own, and its bodies, must end with the context of the request. It must not repeat requests:
// one may be a receipt validation.
func WithHTTPClient(hc *http.Client) Option {
	return option(func(c *config) {
		if c.refuse(hc == nil, "WithHTTPClient: the client is nil"); hc != nil {
			c.transport, c.bound = hc.Transport, hc.Timeout
		}
	})
}

// userAgent names the SDK and its version, without parentheses (RFC 9110, 10.1.5).
func userAgent(version string) string {
	return "fiscope-go/" + strings.TrimPrefix(strings.Trim(version, "()"), "v")
}

// WithUserAgent sends ua as the User-Agent instead of "fiscope-go/VERSION", the version of this module in your build
// ("devel" for a folder).
func WithUserAgent(ua string) Option {
	return option(func(c *config) {
		c.refuse(strings.TrimSpace(ua) == "" || strings.ContainsFunc(ua, func(r rune) bool { return r < ' ' || r > '~' }), "WithUserAgent: want printable ASCII, got %q", scrub.Cut(ua, 40))
		c.userAgent = ua
	})
}

// WithInsecureHTTP accepts plain http to any host, which sends the API key and the clave unencrypted. It is for a
// private network that is encrypted by other means.
func WithInsecureHTTP() Option {
	return option(func(c *config) { c.insecure = true })
}

// WithLenientReading turns contradictions in an answer (a RUC, a date or a currency other than asked for, an impossible
// rate, a code and a status that exclude each other) and values of another JSON type into warnings. Use it if the
// service drifts from its contract. Such an answer is not cached.
func WithLenientReading() Option {
	return option(func(c *config) { c.lenient = true })
}

// WithStrictRUC makes Consultar and Validar refuse a RUC that [ValidarRUC] refuses: no query is spent on it. By default
// any 11 digits are a RUC, as for the service (docs/contract.md, 4.1).
func WithStrictRUC() Option {
	return option(func(c *config) { c.strictRUC = true })
}

// WithRateLimit sends at most limit attempts a second, and burst at once. By default there is no limit. A call that
// would wait past its deadline fails at once; nothing is sent. Set the limit of your provider, if it has one.
func WithRateLimit(limit rate.Limit, burst int) Option {
	return option(func(c *config) {
		c.refuse(limit <= 0 || math.IsNaN(float64(limit)) || burst < 1, "WithRateLimit: want a limit above 0 and a burst of at least 1, got %v and %d", limit, burst)
		c.limiter = rate.NewLimiter(limit, burst)
	})
}

// WithoutQuotaGate sends every call, even if headers or a 429 said that the quota is spent.
func WithoutQuotaGate() Option {
	return option(func(c *config) { c.noGate = true })
}

// WithCache keeps answers, so that the same question is paid once; it implies [WithCoalescing]. With [WithStore] all
// processes share the answers, each for at most the lifetimes of its own policy.
func WithCache(p CachePolicy) Option {
	return option(func(c *config) {
		c.refuse(p.Entries < 0, "WithCache: want Entries >= 0, got %d", p.Entries)
		c.cache = &p
	})
}

// WithCoalescing lets simultaneous identical calls with the same timeout and retries share one query. Each caller has
// its own result, Response and error. Cancelling one caller does not cancel the others. Receipt validations are never
// shared.
func WithCoalescing() Option {
	return option(func(c *config) { c.coalescing = true })
}

// WithStore shares answers (with [WithCache]), the quota and the SOL guard among all processes with the same Store and
// API key. While the Store is away, lookups use this process's memory; the first waits a second at most. A clave is
// then sent only if this process saw it accepted within 24 hours; otherwise the error is ErrUnavailable. The log has a
// line when the Store begins to fail and one when it answers again. See docs/fleet.md.
func WithStore(s store.Store) Option {
	return option(func(c *config) {
		c.refuse(s == nil, "WithStore: the store is nil")
		c.store = s
	})
}

// WithSOL gives the Client its SOL credentials, for Validar, Esperar and batches that get the zero CredencialesSOL.
// Credentials given to a call win.
func WithSOL(credenciales CredencialesSOL) Option {
	return option(func(c *config) {
		err := credenciales.check()
		c.refuse(err != nil, "WithSOL: %w", err)
		c.sol = credenciales
	})
}

// WithObserver calls f after every attempt, every call that made none, and every answer of a [Respaldo]. ctx is the
// call's, as its [Hook] returned it, and may have ended; for a shared query it is that of the call that began it. f
// runs in the goroutine of the call or in the background: it must be quick and safe for concurrent use. Several
// observers run in the order given.
func WithObserver(f func(ctx context.Context, e Event)) Option {
	return option(func(c *config) {
		c.refuse(f == nil, "WithObserver: the function is nil")
		c.observers = append(c.observers, func(ctx context.Context, e Event, _ *Error) { f(ctx, e) })
	})
}

// WithHook calls h around every operation: see [Hook]. A panic of h reaches the caller. The first of several hooks is
// outermost.
func WithHook(h Hook) Option {
	return option(func(c *config) {
		c.refuse(h == nil, "WithHook: the function is nil")
		c.hooks = append(c.hooks, h)
	})
}

// WithClock replaces [time.Now] for the calendar: the days of the quota, the hour at which a rate is published, the age
// of cached answers and SOL verdicts. Waits, timeouts and the times of a Store stay real. It is for tests: the Client
// method of a mockserver's Server sets the server's clock. now must be safe for concurrent use. Without it the hour of a
// rate is by the Date of the service's last answer.
func WithClock(now func() time.Time) Option {
	return option(func(c *config) {
		c.refuse(now == nil, "WithClock: the function is nil")
		c.clock = now
	})
}

// WithLogger logs events: errors at level Warn, a refused API key at Error, results with warnings and answers of a
// fallback at Info, and results, NOT_FOUND, invalid input and cancelled calls at Debug.
//
// A failure that repeats itself is logged at its level when it begins, once a minute with the count of calls, and when
// the service answers again; otherwise at Debug. It is the same failure if operation and [ErrorClass] are the same.
func WithLogger(l *slog.Logger) Option {
	return option(func(c *config) {
		c.refuse(l == nil, "WithLogger: the logger is nil")
		c.logger = l
	})
}
