package fiscope

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

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

	sender *sender
}

// NewClient returns a Client of the service at baseURL, as in "https://api.example.com" (a path is kept
// as a prefix), that authenticates with apiKey (docs/contrato.md, 5). Nothing is sent yet.
//
// It refuses a base URL that is not absolute or carries a user, a query or a fragment; plain http to
// another machine, where anyone on the way reads the key and the clave; a key that is empty, has blanks
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
	if err := checkBaseURL(baseURL, c.insecure); err != nil {
		return nil, err
	}
	if err := checkAPIKey(apiKey); err != nil {
		return nil, err
	}
	sender := newSender(strings.TrimRight(baseURL, "/"), NewSecreto(apiKey), c)
	asker, err := newAsker(sender, c)
	if err != nil {
		return nil, err
	}
	return &Client{
		Contribuyentes: &ContribuyentesService{asker, c.strictRUC},
		CPE:            &CPEService{sender, c.strictRUC},
		TipoCambio:     &TipoCambioService{asker},
		sender:         sender,
	}, nil
}

// newSender wires what every call passes.
func newSender(baseURL string, apiKey Secreto, c config) *sender {
	fleet := newFleet(c.store, baseURL, apiKey)
	s := &sender{
		baseURL:   baseURL,
		apiKey:    apiKey,
		userAgent: c.userAgent,
		transport: c.transport,
		timeouts:  c.timeouts,
		maxBody:   c.maxBody,
		lenient:   c.lenient,
		retry:     exchange.Policy(c.retry),
		reserve:   c.reserve,
		limiter:   c.limiter,
		sol:       solGuard{here: solguard.New(c.solMemory), fleet: fleet, memory: c.solMemory},
		observer:  observer{tell: c.observer, logger: c.logger},
	}
	if c.timeout > 0 {
		s.timeouts = timeouts{get: min(c.timeouts.get, c.timeout), cpe: min(c.timeouts.cpe, c.timeout)}
	}
	if s.transport == nil {
		s.transport = defaultTransport()
	}
	if !c.noGate {
		s.quota, s.fleet = new(quota.Gate), fleet
	}
	return s
}

// newAsker wires what the answers to questions pass besides.
func newAsker(s *sender, c config) (*asker, error) {
	a := &asker{sender: s}
	if c.cache == nil && !c.coalescing {
		return a, nil
	}
	if c.cache != nil {
		var err error
		if a.cache, err = newCache(*c.cache, s.sol.fleet); err != nil {
			return nil, err
		}
	}
	a.queries = &coalesce.Group[sharedQuery, *shared]{Keep: c.cache != nil, Lost: a.lost}
	return a, nil
}

// RateLimit returns the quota as the last answer that carried its headers showed it, and nil before
// the first.
func (c *Client) RateLimit() *RateLimit { return c.sender.rateLimit.Load().copy() }

// Stats returns the counts so far. Those of calls under way may be in part.
func (c *Client) Stats() Stats { return c.sender.observer.stats() }

// CloseIdleConnections closes the connections that are kept open for the next call.
func (c *Client) CloseIdleConnections() {
	(&http.Client{Transport: c.sender.transport}).CloseIdleConnections()
}

// String returns the base URL, and no credential.
func (c *Client) String() string { return "fiscope.Client(" + c.sender.baseURL + ")" }

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
	case key == scrub.Marker:
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
