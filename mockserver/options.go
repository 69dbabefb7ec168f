package mockserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fiscope/fiscope"
)

// Option configures a Server. The last one wins; an invalid one is an error.
type Option func(*config) error

// set returns an option that accepts every value.
func set(change func(*config)) Option { return setUnless(false, "", change) }

// setUnless returns an option that refuses a bad value, with the reason.
func setUnless(bad bool, why string, change func(*config)) Option {
	return func(c *config) error {
		if bad {
			return errors.New(why)
		}
		change(c)
		return nil
	}
}

// config is a server's initial state, which a reset restores.
type config struct {
	assume        Assumptions
	key           string           // from WithAPIKey; "" for DefaultAPIKey, or the data's if they delete that
	now           func() time.Time // the clock's source
	at            time.Time        // the clock's initial time; zero for now's
	frozen        bool
	withoutSocket bool
	defaultData   bool
	registro      Registro
	data          []Data // added in order to the default data
	sunatDown     bool
	journal       int       // requests kept per key
	upstream      *Upstream // from WithUpstream, or WithRecording without a URL
}

func newConfig(opts []Option) (*config, error) {
	c := &config{
		assume:      DefaultAssumptions(),
		now:         time.Now,
		defaultData: true,
		journal:     journalDefault,
	}
	for _, opt := range opts {
		if err := opt(c); err != nil {
			return nil, err
		}
	}
	return c, c.assume.validate()
}

// keys returns the keys that the server starts with, [Server.APIKey] first. Of duplicates, the last one wins.
func (c *config) keys() []Key {
	keys := []Key{{cmp.Or(c.key, DefaultAPIKey), c.assume.Quota}}
	for _, d := range c.data {
		if c.withoutDefaultKey(d) {
			keys = slices.DeleteFunc(keys, func(k Key) bool { return k.Key == DefaultAPIKey })
		}
		keys = append(keys, d.Keys...)
	}
	own := slices.IndexFunc(keys, func(k Key) bool { return k.Key != "" })
	if own < 0 {
		return nil
	}
	for i := range keys {
		keys[i].Key = cmp.Or(keys[i].Key, keys[own].Key) // see WithQuota
	}
	return keys
}

// withoutDefaultKey reports whether d deletes the default key.
func (c *config) withoutDefaultKey(d Data) bool {
	return d.Deleted.DefaultKey && c.key != DefaultAPIKey
}

// apiKey returns [Server.APIKey].
func (c *config) apiKey() string {
	if keys := c.keys(); len(keys) > 0 {
		return keys[0].Key
	}
	return DefaultAPIKey // the data deleted every key: this one is refused too
}

// dataset returns the initial data.
func (c *config) dataset() (*dataset, error) {
	d, err := newDataset(c.defaultData, c.registro)
	if err != nil {
		return nil, err
	}
	if c.upstream != nil { // the real service's answers are never mixed with data
		d.contribuyentes.base, d.tiposCambio.series = nil, false
	}
	for _, data := range c.data {
		if c.upstream != nil {
			data.Contribuyentes, data.TiposCambio = nil, nil
		}
		d.put(data)
	}
	d.sunatDown.Store(c.sunatDown)
	return d, nil
}

// WithQuota sets the own key's daily quota. Default: [Assumptions.Quota].
func WithQuota(n int) Option {
	return func(c *config) error {
		c.data = append(c.data, Data{Keys: []Key{{"", n}}}) // the own key, whichever that will be
		return Key{DefaultAPIKey, n}.check()
	}
}

// WithAPIKey sets the server's own key. The journal hides keys: do not use a RUC, nor a word of a path.
func WithAPIKey(key string) Option {
	return func(c *config) error {
		c.key = key
		return Key{Key: key}.check()
	}
}

// WithKey adds a key with its own daily quota. See [Server.PutKey].
func WithKey(key string, quota int) Option { return WithData(Data{Keys: []Key{{key, quota}}}) }

// WithClock sets the source of the server's clock. It is called concurrently.
func WithClock(now func() time.Time) Option {
	return setUnless(now == nil, "WithClock: el reloj es nil", func(c *config) { c.now = now })
}

// WithAssumptions sets the readings. Change fields of [DefaultAssumptions].
func WithAssumptions(a Assumptions) Option { return set(func(c *config) { c.assume = a }) }

// WithoutSocket opens no socket, for a testing/synctest bubble.
func WithoutSocket() Option { return set(func(c *config) { c.withoutSocket = true }) }

// WithoutDefaultData starts without data, but with the default key.
func WithoutDefaultData() Option { return set(func(c *config) { c.defaultData = false }) }

// WithRegistro takes taxpayers from r. Those set on the server override them.
func WithRegistro(r Registro) Option {
	return setUnless(r == nil, "WithRegistro: el registro es nil", func(c *config) { c.registro = r })
}

// WithContribuyentes adds taxpayers; see [Server.PutContribuyente].
func WithContribuyentes(cs ...Contribuyente) Option { return WithData(Data{Contribuyentes: cs}) }

// WithComprobantes adds receipts; see [Server.PutComprobante].
func WithComprobantes(cs ...Comprobante) Option { return WithData(Data{Comprobantes: cs}) }

// WithUsuariosSOL adds SOL users. See [Server.PutUsuarioSOL].
func WithUsuariosSOL(us ...SOL) Option { return WithData(Data{Usuarios: us}) }

// WithTipoCambio sets the rate of one day; see [Server.PutTipoCambio].
func WithTipoCambio(fecha, compra, venta string) Option {
	return WithData(Data{TiposCambio: []TipoCambio{{fecha, json.Number(compra), json.Number(venta)}}})
}

// WithSUNATDown starts with the tax authority down.
func WithSUNATDown() Option { return set(func(c *config) { c.sunatDown = true }) }

// WithData adds d to the default data. See [LoadData] for a file.
func WithData(d Data) Option {
	return func(c *config) error {
		if _, _, err := d.firstWrong(); err != nil {
			return err
		}
		c.data = append(c.data, d)
		c.defaultData = c.defaultData && !d.WithoutDefaults
		return nil
	}
}

// WithUpstream answers lookups, searches and rates from a recording, or asks a real service with the caller's key and
// records what it answers. It asks all validations, and records none.
func WithUpstream(u Upstream) Option {
	_, err := fiscope.NewClient(u.URL, "x") // which refuses to send a key there
	return setUnless(err != nil, "WithUpstream: se espera la URL de un servicio con https; con http, solo de esta máquina", func(c *config) { c.upstream = &u })
}

// WithRecording answers lookups, searches and rates from a file of fiscope-mock -record, and any other with a 501. The clock
// starts at the last answer, unless [WithNow] sets it. Validations are answered from the data.
func WithRecording(path string) Option {
	return set(func(c *config) { c.upstream = &Upstream{File: path} })
}

// WithJournal sets how many requests per key are kept. Default: 1000.
func WithJournal(n int) Option {
	return setUnless(n < 0, "WithJournal: el número de llamadas es negativo", func(c *config) { c.journal = n })
}

// WithNow starts the server's clock at t. See [Server.SetNow].
func WithNow(t time.Time) Option {
	err := checkTime(t)
	return setUnless(err != nil, fmt.Sprint("WithNow: ", err), func(c *config) { c.at = t })
}

// WithFrozenClock starts with the clock stopped. See [Server.Resume].
func WithFrozenClock() Option { return set(func(c *config) { c.frozen = true }) }
