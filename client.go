package fiscope

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/broken"
	"github.com/fiscope/fiscope/internal/coalesce"
	"github.com/fiscope/fiscope/internal/exchange"
	"github.com/fiscope/fiscope/internal/quota"
	"github.com/fiscope/fiscope/internal/scrub"
	"github.com/fiscope/fiscope/internal/solguard"
)

// Client calls the service with one API key. It is safe for concurrent use: make one for each process
// and share it. It prints as its base URL.
type Client struct {
	// Contribuyentes looks up and searches taxpayers.
	Contribuyentes *ContribuyentesService
	// CPE validates electronic receipts.
	CPE *CPEService
	// TipoCambio gets exchange rates.
	TipoCambio *TipoCambioService

	sender *sender // a pointer, so that what prints a Client's fields reads none that calls change
}

// NewClient returns a Client of the service at baseURL, as in "https://api.example.com" (a path is kept
// as a prefix), that authenticates with apiKey (docs/contrato.md, 5). Nothing is sent yet.
//
// It refuses a base URL that is not absolute, carries a user, a query or a fragment, or has a host, a port
// or a path that leads nowhere ("https://h:99999", "https://h/../a", "https://h/ "); plain http to
// another machine, where anyone on the way reads the key and the clave (this one is localhost, 127.0.0.0/8
// and ::1, and no proxy is asked for it); a key that is empty, has blanks
// around it or holds control characters, which often is a line break of the file it was read from; and
// an option with a wrong value.
func NewClient(baseURL, apiKey string, opts ...Option) (*Client, error) {
	c := defaultConfig()
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("fiscope: option %d is nil", i)
		}
		if err := opt.applyToClient(&c); err != nil {
			return nil, err
		}
	}
	baseURL, err := checkBaseURL(baseURL, c.insecure)
	if err != nil {
		return nil, err
	}
	if err := checkAPIKey(apiKey); err != nil {
		return nil, err
	}
	if c.solStore && c.store == nil {
		return nil, errors.New("fiscope: WithSOLStoreRequired: there is no store: give WithStore one")
	}
	s := newSender(baseURL, NewSecreto(apiKey), c)
	a, err := newAsker(s, c)
	if err != nil {
		return nil, err
	}
	return &Client{
		Contribuyentes: &ContribuyentesService{a, c.strictRUC, c.respaldo},
		CPE:            &CPEService{s, c.strictRUC},
		TipoCambio:     &TipoCambioService{a},
		sender:         s,
	}, nil
}

// newSender makes what every call passes.
func newSender(baseURL string, apiKey Secreto, c config) *sender {
	base, _ := url.Parse(baseURL) // which was checked
	s := &sender{
		baseURL:   baseURL,
		base:      base,
		apiKey:    apiKey,
		secrets:   scrub.Secrets{}.With(apiKey.text()),
		userAgent: c.userAgent,
		transport: c.transport,
		timeouts:  c.timeouts,
		maxBody:   c.maxBody,
		lenient:   c.lenient,
		clock:     c.clock,
		retry:     exchange.Policy(c.retry),
		defaults:  settings{reserve: c.reserve},
		limiter:   c.limiter,
		observer:  observer{tell: c.observers, logger: c.logger},
		hook:      c.hook,
	}
	if c.timeout > 0 {
		s.timeouts = timeouts{get: min(c.timeouts.get, c.timeout), cpe: min(c.timeouts.cpe, c.timeout)}
	}
	fleet := newFleet(c.store, baseURL, apiKey, c.clock, s.start, func(p *broken.Panic) { s.lost("fiscope: the Store panicked", p) })
	s.sol = solGuard{here: solguard.New(c.solMemory, c.clock), fleet: fleet, required: c.solStore, memory: c.solMemory, attempt: s.timeouts.cpe, clock: c.clock}
	if s.transport == nil {
		s.transport = defaultTransport(c.maxBody)
	}
	if strings.HasPrefix(baseURL, "http:") && !c.insecure {
		s.transport = withoutProxy(s.transport)
	}
	if !c.noGate {
		s.quota, s.fleet = &quota.Gate{Now: c.clock}, fleet
	}
	return s
}

// newAsker adds the cache and the sharing of queries.
func newAsker(s *sender, c config) (*asker, error) {
	a := &asker{sender: s}
	if c.cache == nil && !c.coalescing {
		return a, nil
	}
	if c.cache != nil {
		var err error
		if a.cache, err = newCache(*c.cache, s.sol.fleet, s.secrets, s.maxBody, c.clock); err != nil {
			return nil, err
		}
		s.observer.cache = a.cache
	}
	a.queries = &coalesce.Group[sharedQuery, *shared]{Go: s.start, Keep: c.cache != nil, Lost: s.lostCall}
	return a, nil
}

// shared returns what the calls share: nothing of a Client that NewClient did not make.
func (c *Client) shared() *sender {
	if c.sender == nil {
		return new(sender)
	}
	return c.sender
}

// RateLimit returns the quota as the last answer that carried its headers showed it, and nil before
// the first.
func (c *Client) RateLimit() *RateLimit { return c.shared().rateLimit.Load().copy() }

// Stats returns the counts so far. Those of calls under way may be in part.
func (c *Client) Stats() Stats { return c.shared().observer.stats() }

// CloseIdleConnections closes the connections that are kept open for the next call.
func (c *Client) CloseIdleConnections() {
	(&http.Client{Transport: c.shared().transport}).CloseIdleConnections()
}

// Close waits for what goes on in the background: validations that were sent and whose callers have left,
// queries that are finished for the cache, a [Respaldo] that has not returned, and what the [Store] is being told. Then it tells the Store the
// refusals of SOL credentials that it could not be told before, and closes the idle connections. No
// goroutine of the Client is left then.
//
// It ends with ctx, and returns its cause; what is under way then goes on for at most the time of an
// attempt. Otherwise an error is the Store's. Calls that begin later are made as before: Close once more
// after them.
func (c *Client) Close(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
	defer c.CloseIdleConnections()
	if err := c.shared().wait(ctx); err != nil {
		return fmt.Errorf("fiscope: Close: a call is still under way: %w", err)
	}
	err := c.shared().sol.fleet.close(ctx)
	_ = c.shared().wait(ctx) // for the goroutine that told it
	if err != nil {
		return fmt.Errorf("fiscope: Close: the store was not told of a refusal: %w", err)
	}
	return nil
}

// String returns the base URL, and no credential.
func (c *Client) String() string { return "fiscope.Client(" + c.shared().baseURL + ")" }

// checkBaseURL returns a base URL as it is used: with its scheme and host in lower case, and without a
// slash at the end.
func checkBaseURL(s string, insecure bool) (string, error) {
	switch {
	case s == "":
		return "", errors.New("fiscope: the base URL is empty: want the form https://host[:port][/path]")
	case s != strings.TrimSpace(s):
		return "", errors.New("fiscope: the base URL has a blank before or after it: want the form https://host[:port][/path]")
	case !strings.Contains(s, "://"):
		return "", errors.New("fiscope: the base URL has no https:// at its beginning: want the form https://host[:port][/path]")
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", errors.New("fiscope: the base URL cannot be parsed: want the form https://host[:port][/path]")
	}
	switch {
	case u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		return "", errors.New("fiscope: the base URL has no host: want the form https://host[:port][/path]")
	case u.User != nil:
		return "", errors.New("fiscope: the base URL carries a user: credentials do not belong into a URL")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("fiscope: the base URL carries a query or a fragment: want the form https://host[:port][/path]")
	case u.Scheme == "http" && !insecure && !loopback(strings.ToLower(u.Hostname())):
		return "", fmt.Errorf("fiscope: the base URL http://%s would send the API key and the clave in clear: use https, or http://localhost for this machine, or WithInsecureHTTP in a private network", u.Host)
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("fiscope: the base URL has the scheme %q: want https", u.Scheme)
	}
	if err := checkHostAndPath(s, u); err != nil {
		return "", err
	}
	s = u.Scheme + strings.Replace(s[len(u.Scheme):], u.Host, strings.ToLower(u.Host), 1)
	return strings.TrimRight(s, "/"), nil
}

// loopback reports whether host is this machine, in the spellings for which net/http asks for no proxy
// that the environment names. The names under localhost, localhost with a final dot, and 127.1 are not
// among them (golang.org/x/net/http/httpproxy).
func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// withoutProxy returns a transport that reaches this machine itself: a proxy would read the key and the
// clave. The proxy of a RoundTripper that is not net/http's cannot be seen.
func withoutProxy(rt http.RoundTripper) http.RoundTripper {
	t, ok := rt.(*http.Transport)
	if !ok || t.Proxy == nil || reflect.ValueOf(t.Proxy).Pointer() == reflect.ValueOf(http.ProxyFromEnvironment).Pointer() {
		return rt // the environment's proxy is never asked for the spellings of loopback
	}
	t = t.Clone()
	t.Proxy = nil
	return t
}

func checkAPIKey(key string) error {
	switch {
	case key == "":
		return errors.New("fiscope: the API key is empty")
	case strings.TrimSpace(key) != key:
		return errors.New("fiscope: the API key has blanks or a line break around it: trim what it was read from")
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("fiscope: the API key holds control characters")
	case key == scrub.Marker:
		return errors.New("fiscope: the API key is the marker that stands for a secret, not the key")
	}
	return nil
}

// defaultTransport is net/http's with a pool of its own, and with as many connections kept open to the
// one host as a busy process uses: the default of 2 would reopen them all the time.
//
// Headers that are longer than maxBytes are refused once they are read. A little later the transport stops
// reading them: it counts in a way of its own.
func defaultTransport(maxBytes int64) http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = 64
	t.IdleConnTimeout = 90 * time.Second
	t.MaxResponseHeaderBytes = maxBytes + 64<<10
	return t
}
