package fiscope

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
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

	baseURL      string // without a slash at the end
	apiKey       Secreto
	userAgent    string
	transport    http.RoundTripper
	insecure     bool          // plain http to other machines
	timeouts     timeouts      // of an attempt
	attemptLimit time.Duration // of the caller's http.Client; 0 for none
	maxBody      int64         // bytes of an answer
	lenient      bool
	strictRUC    bool

	limiter   *rate.Limiter
	quota     *quotaGate // nil for none
	reserve   int        // queries that are left to others
	sol       *solGuard
	retry     RetryPolicy
	budget    retryBudget
	rateLimit atomic.Pointer[RateLimit]
	ledger    ledger
	watchers  watchers

	cache      *cache   // nil for none
	flights    *flights // calls under way that others may join; nil for none
	coalescing bool
	store      Store  // what a fleet shares; nil for none
	account    string // what the store knows the service and the API key by
}

// NewClient returns a Client of the service at baseURL, as in "https://api.example.com" (a path is kept
// as a prefix), that authenticates with apiKey (service.md, 5). Nothing is sent yet.
//
// It refuses a base URL that is not absolute or carries a user, a query or a fragment; plain http to
// another machine, where anyone on the way reads the key and the clave; a key that is empty, has blanks
// around it or holds control characters, which often is a line break of the file it was read from; and
// an option with a wrong value.
func NewClient(baseURL, apiKey string, opts ...Option) (*Client, error) {
	c := &Client{
		baseURL:   strings.TrimRight(baseURL, "/"),
		apiKey:    NewSecreto(apiKey),
		userAgent: defaultUserAgent,
		timeouts:  defaultTimeouts,
		maxBody:   defaultMaxBody,
		limiter:   rate.NewLimiter(rate.Inf, 0),
		quota:     new(quotaGate),
		sol:       newSOLGuard(),
		retry:     DefaultRetryPolicy(),
	}
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("fiscope: option %d is nil", i)
		}
		if err := opt.applyToClient(c); err != nil {
			return nil, err
		}
	}
	if err := checkBaseURL(baseURL, c.insecure); err != nil {
		return nil, err
	}
	if err := checkAPIKey(apiKey); err != nil {
		return nil, err
	}
	if c.attemptLimit > 0 {
		c.timeouts = timeouts{get: min(c.timeouts.get, c.attemptLimit), cpe: min(c.timeouts.cpe, c.attemptLimit)}
	}
	if c.transport == nil {
		c.transport = defaultTransport()
	}
	c.account = c.name("account")
	if c.cache != nil || c.coalescing {
		p := c.retry
		c.flights = &flights{
			keep:  c.cache != nil,
			limit: time.Duration(p.MaxRetries+1)*(c.timeouts.get+p.Cap+p.MaxRetryAfter) + time.Minute,
			under: map[flightKey]*flight{},
		}
	}
	c.Contribuyentes = &ContribuyentesService{c}
	c.CPE = &CPEService{c}
	c.TipoCambio = &TipoCambioService{c}
	return c, nil
}

// operation is one question to the service: what it sends, and how its answer is read.
type operation[T any] interface {
	request(*Client) request
	read(*answer) (T, error)
}

// send is the path of every request. What can be refused locally never leaves; an unproven clave goes
// alone; each attempt of the exchange passes RoundTrip and its guards; and an answer is a result only
// when it is the contract's.
func send[T any, O operation[T]](ctx context.Context, c *Client, op O, s settings) (T, error) {
	call := newCall(ctx, c, op.request(c), s)
	result, err := deliver(call, op.read)
	if err != nil {
		var none T
		result, err = none, call.failure(err)
	}
	call.report(err)
	return result, err
}

func deliver[T any](c *call, read func(*answer) (T, error)) (result T, err error) {
	if err := c.request.invalid; err != nil {
		return result, err
	}
	learn, err := c.enterSOL()
	if err != nil {
		return result, err
	}
	defer func() { learn(err) }()
	if err := c.exchange(); err != nil {
		return result, err
	}
	if err := c.answer.refusal(); err != nil {
		return result, err
	}
	return read(&c.answer)
}

// RateLimit returns the quota as the last answer that carried its headers showed it, and nil before
// the first.
func (c *Client) RateLimit() *RateLimit { return c.rateLimit.Load().copy() }

// CloseIdleConnections closes the connections that are kept open for the next call.
func (c *Client) CloseIdleConnections() {
	(&http.Client{Transport: c.transport}).CloseIdleConnections()
}

// String returns the base URL, and no credential.
func (c *Client) String() string { return "fiscope.Client(" + c.baseURL + ")" }

func checkBaseURL(s string, insecure bool) error {
	u, err := url.Parse(s)
	if err != nil {
		return errors.New("fiscope: the base URL cannot be parsed: want the form https://host[:port][/path]")
	}
	switch {
	case u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		return errors.New("fiscope: the base URL has no host: want the form https://host[:port][/path]")
	case u.User != nil:
		return errors.New("fiscope: the base URL carries a user: credentials do not belong into a URL")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("fiscope: the base URL carries a query or a fragment: want the form https://host[:port][/path]")
	case u.Scheme == "http" && !insecure && !loopback(u.Hostname()):
		return fmt.Errorf("fiscope: the base URL http://%s would send the API key and the clave in clear: use https, or WithInsecureHTTP in a private network", u.Host)
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("fiscope: the base URL has the scheme %q: want https", u.Scheme)
	}
	return nil
}

// loopback reports whether host is this machine: 127.0.0.0/8, ::1, localhost and the names under it
// (RFC 6761, 6.3).
func loopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

func checkAPIKey(key string) error {
	switch {
	case key == "":
		return errors.New("fiscope: the API key is empty")
	case strings.TrimSpace(key) != key:
		return errors.New("fiscope: the API key has blanks or a line break around it: trim what it was read from")
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("fiscope: the API key holds control characters")
	case key == marcaSecreto:
		return errors.New("fiscope: the API key is the marker that stands for a secret, not the key")
	}
	return nil
}

// defaultTransport is net/http's with a pool of its own, and with as many connections kept open to the
// one host as a busy process uses: the default of 2 would reopen them all the time.
func defaultTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = 64
	t.IdleConnTimeout = 90 * time.Second
	return t
}
