package mockserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fiscope/fiscope/mockserver/internal/clock"
)

// Option configures a Server when it starts; an unusable value makes [Start] return an error and [New]
// end the test. Later options win over earlier ones.
type Option func(*config) error

// config is how a server starts, and what a reset goes back to.
type config struct {
	assume        Assumptions
	key           *string          // the server's own; nil for DefaultAPIKey, or the data's where they delete that
	quota         *int             // of the own key; nil for that of the assumptions
	quotaOver     int              // how many of data it wins over: those that were given before it
	alike         []string         // keys with the quota of the own one
	now           func() time.Time // where the clock reads the time
	at            time.Time        // where the clock begins; zero for now's
	frozen        bool
	addr          string
	withoutSocket bool
	defaultData   bool
	registro      Registro
	data          []Data // put in order, over the default data
	sunatDown     bool
	journal       int           // requests of each key
	holdMost      time.Duration // 0 for no limit
}

func newConfig(opts []Option) (*config, error) {
	c := &config{
		assume:      DefaultAssumptions(),
		now:         time.Now,
		addr:        "127.0.0.1:0",
		defaultData: true,
		journal:     journalDefault,
	}
	for _, opt := range opts {
		if err := opt(c); err != nil {
			return nil, err
		}
	}
	return c, cmp.Or(c.assume.validate(), c.startKey().check())
}

// startKey is the server's own key with its quota, whatever the data say.
func (c *config) startKey() Key {
	own := Key{DefaultAPIKey, c.assume.Quota}
	if c.key != nil {
		own.Key = *c.key
	}
	if c.quota != nil {
		own.Quota = *c.quota
	}
	return own
}

// keys are the keys that the server starts with, [Server.APIKey] first. Of those that are the same, the last
// one wins: at the end stand those of which something else than the data has the last word.
func (c *config) keys() []Key {
	keys := []Key{c.startKey()}
	for _, d := range c.data {
		if c.withoutDefaultKey(d) {
			keys = slices.DeleteFunc(keys, func(k Key) bool { return k.Key == DefaultAPIKey })
		}
		keys = append(keys, d.Keys...)
	}
	if len(keys) == 0 {
		return nil
	}
	own := keys[0]
	for _, k := range keys {
		if k.Key == own.Key {
			own.Quota = k.Quota
		}
	}
	later := func(d Data) bool { return slices.ContainsFunc(d.Keys, func(k Key) bool { return k.Key == own.Key }) }
	if c.quota != nil && !slices.ContainsFunc(c.data[c.quotaOver:], later) {
		own.Quota = *c.quota
	}
	keys = append(keys, own)
	for _, key := range c.alike {
		keys = append(keys, Key{key, c.startKey().Quota})
	}
	return keys
}

// withoutDefaultKey reports whether data take the default key away.
func (c *config) withoutDefaultKey(d Data) bool {
	asked := c.key != nil && *c.key == DefaultAPIKey
	return d.Deleted.DefaultKey && !asked
}

// apiKey is [Server.APIKey].
func (c *config) apiKey() string {
	if keys := c.keys(); len(keys) > 0 {
		return keys[0].Key
	}
	return DefaultAPIKey // where the data left none, this one is refused too
}

// dataset returns the data that the server starts with.
func (c *config) dataset() (*dataset, error) {
	d, err := newDataset(c.defaultData, c.registro)
	if err != nil {
		return nil, err
	}
	for _, data := range c.data {
		d.put(data)
	}
	d.sunatDown.Store(c.sunatDown)
	return d, nil
}

// WithQuota sets the daily quota of the server's own key ([Server.APIKey]), in calls: 0 refuses every
// call, [Unlimited] none. Without it the quota is [Assumptions.Quota], unless [WithData] names the key. Keys
// added with [WithKey] have their own.
func WithQuota(n int) Option {
	return func(c *config) error {
		c.quota, c.quotaOver = &n, len(c.data)
		return nil
	}
}

// WithAPIKey sets the server's own key, instead of [DefaultAPIKey]: a text of printable ASCII. The journal and the
// error texts show no key of 6 characters or more, wherever it stands: one of digits is shown by its fingerprint
// where it is a RUC too, so take none that is a taxpayer's.
func WithAPIKey(key string) Option {
	return func(c *config) error {
		c.key = &key
		return nil
	}
}

// WithKey adds a key with its own daily quota; see [Server.PutKey], and [WithAPIKey] for a key of digits.
func WithKey(key string, quota int) Option {
	return WithData(Data{Keys: []Key{{key, quota}}})
}

// WithKeys adds keys without a quota of their own: they have that of [WithQuota] or else of [Assumptions.Quota], also
// when [Server.SetAssumptions] changes it, until [Server.PutKey] or data give them one.
func WithKeys(keys ...string) Option {
	return func(c *config) error {
		for _, key := range keys {
			if err := (Key{Key: key}).check(); err != nil {
				return err
			}
		}
		c.alike = append(c.alike, keys...)
		return nil
	}
}

// WithClock sets where the server's clock reads the time, instead of [time.Now]; [WithNow],
// [Server.Advance] and their like lie over it. The function is called from many goroutines.
func WithClock(now func() time.Time) Option {
	return func(c *config) error {
		if now == nil {
			return errors.New("WithClock: the clock is nil")
		}
		c.now = now
		return nil
	}
}

// WithHoldLimit releases a fault that has held a call for d of real time (virtual in a testing/synctest
// bubble): whoever was to do it may be gone. 0, the default, is without a limit: [Hold] then lasts until
// [ActiveFault.Release].
func WithHoldLimit(d time.Duration) Option {
	return func(c *config) error {
		if d < 0 {
			return errors.New("WithHoldLimit: the time is negative")
		}
		c.holdMost = d
		return nil
	}
}

// WithAssumptions replaces every reading of what the contract leaves open. Begin with
// [DefaultAssumptions] and change a field; a literal with fields left out is refused.
func WithAssumptions(a Assumptions) Option {
	return func(c *config) error {
		c.assume = a
		return nil
	}
}

// WithAddr sets the TCP address to listen on, instead of a free loopback port ("127.0.0.1:0").
func WithAddr(addr string) Option {
	return func(c *config) error {
		if addr == "" {
			return errors.New("WithAddr: the address is empty") // net.Listen would take it for any port of any interface
		}
		c.addr = addr
		return nil
	}
}

// WithoutSocket opens no socket: only [Server.Transport], [Server.Client] and ServeHTTP reach the
// server, and its URL is "http://127.0.0.1". It is needed inside a testing/synctest bubble, where
// waiting on a socket stops virtual time.
func WithoutSocket() Option {
	return func(c *config) error {
		c.withoutSocket = true
		return nil
	}
}

// WithoutDefaultData starts with no taxpayers, receipts, SOL users or exchange rates. The key stays.
func WithoutDefaultData() Option {
	return func(c *config) error {
		c.defaultData = false
		return nil
	}
}

// WithRegistro answers lookups and searches from r instead of the default taxpayers. What is put with
// [Server.PutContribuyente] lies over r and hides its record of the same RUC.
func WithRegistro(r Registro) Option {
	return func(c *config) error {
		if r == nil {
			return errors.New("WithRegistro: the registry is nil")
		}
		c.registro = r
		return nil
	}
}

// WithContribuyentes adds taxpayers; see [Server.PutContribuyente].
func WithContribuyentes(cs ...Contribuyente) Option {
	return WithData(Data{Contribuyentes: cs})
}

// WithComprobantes adds receipts; see [Server.PutComprobante].
func WithComprobantes(cs ...Comprobante) Option {
	return WithData(Data{Comprobantes: cs})
}

// WithUsuariosSOL adds users of the tax authority's portal; see [Server.PutUsuarioSOL].
func WithUsuariosSOL(us ...SOL) Option {
	return WithData(Data{Usuarios: us})
}

// WithTipoCambio sets the rate of one day; see [Server.PutTipoCambio].
func WithTipoCambio(fecha, compra, venta string) Option {
	return WithData(Data{TiposCambio: []TipoCambio{{fecha, json.Number(compra), json.Number(venta)}}})
}

// WithSUNATDown starts with the tax authority not responding; see [Server.SetSUNATDown].
func WithSUNATDown() Option {
	return func(c *config) error {
		c.sunatDown = true
		return nil
	}
}

// WithData puts d on the server when it starts, over the default data; see [LoadData] for a file.
func WithData(d Data) Option {
	return func(c *config) error {
		if err := d.check(); err != nil {
			return err
		}
		c.data = append(c.data, d)
		c.alike = slices.DeleteFunc(c.alike, func(key string) bool { // it has a quota of its own now
			return slices.ContainsFunc(d.Keys, func(k Key) bool { return k.Key == key })
		})
		c.defaultData = c.defaultData && !d.WithoutDefaults
		return nil
	}
}

// WithJournal sets how many requests of each key the journal keeps, instead of 1000; the requests without
// a known key have as many together. 0 keeps none: each one then counts as dropped, and no assertion about
// requests passes.
func WithJournal(n int) Option {
	return func(c *config) error {
		if n < 0 {
			return errors.New("WithJournal: the number of requests is negative")
		}
		c.journal = n
		return nil
	}
}

// WithNow sets the server's clock to t when it starts; it runs on from there. It takes what [Server.SetNow] takes.
func WithNow(t time.Time) Option {
	return func(c *config) error {
		if err := clock.Check(t); err != nil {
			return fmt.Errorf("WithNow: %w", err)
		}
		c.at = t
		return nil
	}
}

// WithFrozenClock starts with a clock that stands still, at the time of [WithNow] or else at the present
// one, until [Server.Advance], [Server.SetNow] or [Server.Resume].
func WithFrozenClock() Option {
	return func(c *config) error {
		c.frozen = true
		return nil
	}
}
