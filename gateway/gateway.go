// Package gateway serves the contract of the fiscal data service (docs/contract.md) to programs in any language. It asks
// the service through one [fiscope.Client]: all programs share its cache, its quota and its SOL guard.
//
//	g, err := gateway.New(client, gateway.Options{Keys: []gateway.Key{{Name: "tienda", Key: key}}})
//	...
//	http.Handle("/", g)
//
// The command "fiscope serve" is this package as a program: see docs/serve.md.
package gateway

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope"
)

// Key admits one application. It prints without the key.
type Key struct {
	Name    string // of the application, for [Call]
	Key     string `json:"-"` // what it sends as X-API-KEY
	Reserve int    // the application leaves the day's last Reserve queries to the others, see [fiscope.WithQuotaReserve]
}

// Format implements [fmt.Formatter]: no verb shows the key.
func (k Key) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "Key{%s, reserve %d}", k.Name, k.Reserve)
}

// Registro is a local copy of the registry, such as a padron.Follower. It must be safe for concurrent use.
type Registro interface {
	fiscope.Respaldo
	// Buscar returns at most limite taxpayers whose name contains texto, the most relevant first.
	Buscar(ctx context.Context, texto string, limite int) ([]fiscope.Contribuyente, error)
}

// Options configures a [Gateway].
type Options struct {
	Keys     []Key                       // at least one
	Registro Registro                    // answers lookups while the service is away, see [New]; nil for none
	Observe  func(context.Context, Call) // is called after each answer, concurrently: for a log or metrics; nil for none
}

// Call says what a request came to. It holds no key, SOL user or clave.
type Call struct {
	App       string         // the name of its key; "" if that is missing or unknown
	Op        string         // "consultar", "buscar", "validar" or "tipocambio"; "" for another path
	RUC       string         // the taxpayer's or the issuer's, abridged; "" for none
	Status    int            // the HTTP status
	Code      string         // of an error; "" for a 200
	Source    fiscope.Source // where a 200 came from; "" for an error
	Duration  time.Duration  // from the request's header to the answer
	RequestID string         // the caller's X-Request-ID; "" if it is not 1 to 64 printable ASCII characters
}

// Gateway is an [http.Handler] that speaks the contract. It also answers GET /healthz, without a key or a query.
type Gateway struct {
	client   *fiscope.Client // nil without a provider
	registro Registro        // nil for none
	observe  func(context.Context, Call)
	apps     atomic.Pointer[[]app]
}

// app is an application that may ask.
type app struct {
	name string
	hash [sha256.Size]byte    // of its key
	opts []fiscope.CallOption // of each of its calls
}

// New returns a Gateway that asks through client. If client is nil, the Registro answers lookups and searches alone. It
// fails if both are nil, or if [Gateway.SetKeys] refuses the keys.
func New(client *fiscope.Client, o Options) (*Gateway, error) {
	if client == nil && o.Registro == nil {
		return nil, errors.New("gateway: give a Client, a Registro or both")
	}
	g := &Gateway{client: client, registro: o.Registro, observe: o.Observe}
	if err := g.SetKeys(o.Keys); err != nil {
		return nil, err
	}
	return g, nil
}

// SetKeys replaces the keys. It refuses an empty list, a name or key that is empty or used twice, a key with blanks around
// it, and a negative Reserve. After an error the old keys stay. No error shows a key.
func (g *Gateway) SetKeys(keys []Key) error {
	if len(keys) == 0 {
		return errors.New("gateway: no keys: nobody could ask")
	}
	apps, taken := make([]app, len(keys)), map[string]bool{"": true} // names and keys
	for i, k := range keys {
		if taken[k.Name] || taken[k.Key] || k.Key != strings.TrimSpace(k.Key) || k.Reserve < 0 {
			return fmt.Errorf("gateway: key %d, %q: its name or key is empty or another's, the key has blanks around it, or Reserve is negative", i, k.Name)
		}
		a := app{name: k.Name, hash: sha256.Sum256([]byte(k.Key))}
		if k.Reserve > 0 { // otherwise the client's own counts
			a.opts = append(a.opts, fiscope.WithQuotaReserve(k.Reserve))
		}
		if g.registro != nil {
			a.opts = append(a.opts, fiscope.WithRespaldo(g.registro))
		}
		apps[i], taken[k.Name], taken[k.Key] = a, true, true
	}
	g.apps.Store(&apps)
	return nil
}

// admit returns the application of a request; nil if its key is missing, unknown or given twice. It takes the same time
// for every key.
func (g *Gateway) admit(r *http.Request) (found *app) {
	given := r.Header["X-Api-Key"]
	if len(given) != 1 {
		return nil
	}
	hash := sha256.Sum256([]byte(given[0]))
	for _, a := range *g.apps.Load() {
		if subtle.ConstantTimeCompare(a.hash[:], hash[:]) == 1 {
			found = &a
		}
	}
	return found
}

// ServeHTTP answers one request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		write(w, http.StatusOK, map[string]string{"status": "ok"})
		return
	}
	began := time.Now()
	c := &call{gateway: g, w: w, r: r}
	if id := r.Header.Get("X-Request-ID"); len(id) <= 64 && !strings.ContainsFunc(id, func(c rune) bool { return c < ' ' || c > '~' }) {
		c.RequestID = id
	}
	c.write(c.answer())
	if c.Duration = time.Since(began); g.observe != nil {
		g.observe(r.Context(), c.Call)
	}
}
