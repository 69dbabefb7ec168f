package fiscope

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/baseurl"
	"github.com/fiscope/fiscope/internal/build"
	"github.com/fiscope/fiscope/internal/scrub"
	"github.com/fiscope/fiscope/internal/solguard"
)

// Client calls the service with one API key. It is safe for concurrent use: make one for each process and share it. It
// prints as its base URL.
type Client struct {
	Contribuyentes *ContribuyentesService // looks up and searches taxpayers
	CPE            *CPEService            // validates electronic receipts
	TipoCambio     *TipoCambioService     // gets exchange rates

	*core // a pointer, so that printing a Client reads no field that calls change
}

// NewClient returns a Client for the service at baseURL, such as "https://api.example.com" (a path is kept as a
// prefix). It authenticates with apiKey (docs/contract.md, 5). NewClient itself sends nothing.
//
// It refuses a base URL that is not absolute, a key that is empty or has blanks around it, and an invalid option. It
// also refuses plain http, except to this machine (localhost, 127.0.0.0/8 and ::1, without a proxy): anyone on the
// network path could read the key and the clave.
func NewClient(baseURL, apiKey string, opts ...Option) (*Client, error) {
	c := config{
		userAgent: userAgent(build.Read().Version),
		calls:     settings{timeout: 10 * time.Second, cpeTimeout: 30 * time.Second, retries: 2},
		retry:     RetryPolicy{}.filled(),
	}
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("fiscope: option %d is nil", i)
		}
		if opt.applyToClient(&c); c.calls.invalid != nil {
			return nil, c.calls.invalid
		}
	}
	baseURL, err := baseurl.Check(baseURL, c.insecure)
	if err != nil {
		return nil, err
	}
	if err := checkAPIKey(apiKey); err != nil {
		return nil, err
	}
	k := newCore(baseURL, NewSecreto(apiKey), c)
	return &Client{
		Contribuyentes: &ContribuyentesService{k, c.strictRUC},
		CPE:            &CPEService{k, c.strictRUC, c.sol},
		TipoCambio:     &TipoCambioService{k},
		core:           k,
	}, nil
}

// newCore builds the lists of layers. ARCHITECTURE.md explains their order.
func newCore(baseURL string, apiKey Secreto, c config) *core {
	memory := newCache(c.cache, c.clock)
	c.calls.secrets = c.calls.secrets.With(apiKey.text())
	o := &observer{notify: c.observers, logger: c.logger}
	if o.logger != nil {
		o.notify = append(o.notify, o.log)
	}
	r := &reporter{c.calls.secrets, c.clock, o}
	respaldos := c.calls.respaldos // [WithoutCache] turns off the client's, not the call's
	c.calls.respaldos = nil
	k := &core{baseURL: baseURL, defaults: &c.calls, hooks: c.hooks, clock: c.clock, serviceClock: &serviceClock{own: c.clock}, report: r}
	runner := &k.runner
	runner.Panicked = k.logPanic
	base, _ := url.Parse(baseURL) // NewClient checked it
	shared := newSharedStore(c.store, baseURL, apiKey, r, runner)
	k.sol = &solGuard{here: solguard.New(c.clock), shared: shared, clock: c.clock, runner: runner}
	k.send = &sender{
		base: base, apiKey: apiKey, userAgent: c.userAgent, transport: c.transportTo(baseURL), bound: c.bound,
		lenient: c.lenient, report: r, sol: k.sol.here, serviceClock: k.serviceClock,
	}
	queries := &flights{Runner: runner}
	retries := retry(c.retry, c.clock, base)
	slow, quota := slowDown(c.noGate, c.clock), limitQuota(c.noGate, shared, c.clock, r.observer)

	kept := keeper{memory, shared, r}
	lookup := func() ask {
		return through(k.send.ask,
			hook(c.hooks),
			report(r),
			newFallback(kept, respaldos, r, runner).layer,
			recall(memory),
			checkInput,
			coalesce(memory != nil || c.coalescing, queries),
			keep(kept),
			retries,
			events(r.observer, r.failure),
			slow,
			quota,
			throttle(c.limiter),
		)
	}
	k.lookups, k.searches, k.rates = lookup(), lookup(), lookup() // each with a breaker of its own
	k.receipts = through(k.send.ask,
		hook(c.hooks),
		report(r),
		checkInput,
		k.sol.permits,
		retries,
		events(r.observer, r.failure),
		slow,
		quota,
		throttle(c.limiter),
		k.sol.claims,
	)
	return k
}

// RateLimit returns the daily quota from the last answer with quota headers, minus what this Client sent since
// (Estimated). It is nil before the first; only lookups are sure to have them. For calls per second see
// [WithRateLimit].
func (c *Client) RateLimit() *RateLimit {
	return c.send.quota.now()
}

// Stats returns the counts so far. Calls under way may be counted in part.
func (c *Client) Stats() Stats { return c.report.observer.stats() }

// Hoy returns today's date in Lima, using the clock of [WithClock].
func (c *Client) Hoy() Fecha { return FechaEnLima(c.Ahora()) }

// Ahora returns the time of the clock of [WithClock]. The age of an answer is the time since its AsOf: see [Response].
func (c *Client) Ahora() time.Time { return c.clock.now() }

// Close waits for background work: queries whose callers have left, a [Respaldo] that has not returned, and writes to
// the Store. Then it closes the idle connections.
//
// If ctx ends first, Close returns its cause, and the work goes on. A closed Client can still make calls: Close it
// again after them.
func (c *Client) Close(ctx context.Context) error {
	defer (&http.Client{Transport: c.send.transport}).CloseIdleConnections()
	if err := c.runner.Wait(ctx); err != nil {
		return fmt.Errorf("fiscope: Close: a call is still under way: %w", err)
	}
	return nil
}

// String returns the base URL, without credentials.
func (c *Client) String() string { return "fiscope.Client(" + c.baseURL + ")" }

// LogValue returns the base URL.
func (c *Client) LogValue() slog.Value { return slog.StringValue(c.baseURL) }

func checkAPIKey(key string) error {
	switch {
	case key == "":
		return errors.New("fiscope: the API key is empty")
	case strings.TrimSpace(key) != key:
		return errors.New("fiscope: the API key has blanks or a line break around it: trim what it was read from")
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("fiscope: the API key holds control characters")
	case key == scrub.Marker:
		return errors.New("fiscope: the API key is the marker [secreto], not the key: read it from where the real one is kept")
	}
	return nil
}

// transportTo returns the transport to the service. It connects to this machine without a proxy, which would read the key
// and the clave; it cannot see the proxy of a RoundTripper other than net/http's.
func (c config) transportTo(baseURL string) http.RoundTripper {
	rt := c.transport
	if rt == nil {
		rt = defaultTransport()
	}
	t, ok := rt.(*http.Transport)
	if !strings.HasPrefix(baseURL, "http:") || c.insecure || !ok || t.Proxy == nil ||
		reflect.ValueOf(t.Proxy).Pointer() == reflect.ValueOf(http.ProxyFromEnvironment).Pointer() { // never a proxy for loopback
		return rt
	}
	t = t.Clone()
	t.Proxy = nil
	return t
}

// defaultTransport returns net/http's transport with its own pool and more idle connections per host: with the default
// of 2, a busy process would reopen connections all the time. Without the pings, calls would use a dead HTTP/2 connection
// until the kernel gives it up, which takes a quarter of an hour.
func defaultTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = 64
	t.IdleConnTimeout = 90 * time.Second
	t.MaxResponseHeaderBytes = maxBody
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second}
	return t
}

// The environment variables. The last is "1" or "true" to permit plain http, see [WithInsecureHTTP].
const (
	envBaseURL  = "FISCOPE_BASE_URL"
	envAPIKey   = "FISCOPE_API_KEY"
	envRUC      = "FISCOPE_SOL_RUC"
	envUsuario  = "FISCOPE_SOL_USUARIO"
	envClave    = "FISCOPE_SOL_CLAVE"
	envInsecure = "FISCOPE_INSECURE_HTTP"
)

// NewClientFromEnv returns the [Client] that the environment describes: FISCOPE_BASE_URL and FISCOPE_API_KEY, and
// FISCOPE_INSECURE_HTTP=1 to permit plain http in a private network. If all three FISCOPE_SOL_* are set, they are its
// credentials ([WithSOL]). opts are applied after them. An error names the variable.
func NewClientFromEnv(opts ...Option) (*Client, error) {
	if err := unset(envBaseURL, envAPIKey); err != nil {
		return nil, err
	}
	var own []Option
	if insecure := os.Getenv(envInsecure); insecure == "1" || insecure == "true" {
		own = append(own, WithInsecureHTTP())
	}
	if unset(envRUC, envUsuario, envClave) == nil {
		credenciales, err := CredencialesSOLFromEnv()
		if err != nil {
			return nil, err
		}
		own = append(own, WithSOL(credenciales))
	}
	client, err := NewClient(os.Getenv(envBaseURL), os.Getenv(envAPIKey), slices.Concat(own, opts)...)
	if err != nil {
		return nil, fmt.Errorf("%w (from %s, %s and %s)", err, envBaseURL, envAPIKey, envInsecure)
	}
	return client, nil
}

// CredencialesSOLFromEnv returns the credentials in FISCOPE_SOL_RUC, FISCOPE_SOL_USUARIO and FISCOPE_SOL_CLAVE. An
// error names the variable that is missing or invalid.
func CredencialesSOLFromEnv() (CredencialesSOL, error) {
	if err := unset(envRUC, envUsuario, envClave); err != nil {
		return CredencialesSOL{}, err
	}
	c := CredencialesSOL{RUC: os.Getenv(envRUC), Usuario: os.Getenv(envUsuario), Clave: NewSecreto(os.Getenv(envClave))}
	if err := c.check(); err != nil {
		return CredencialesSOL{}, fmt.Errorf("%w (from %s, %s and %s)", err, envRUC, envUsuario, envClave)
	}
	return c, nil
}

func unset(names ...string) error {
	for _, name := range names {
		if os.Getenv(name) == "" {
			return fmt.Errorf("fiscope: the variable %s is not set", name)
		}
	}
	return nil
}
