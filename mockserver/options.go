package mockserver

import (
	"errors"
	"time"
)

// Option configures a Server when it starts; an unusable value makes [Start] return an error and [New]
// end the test. Later options win over earlier ones.
type Option func(*config) error

type config struct {
	assume        Assumptions
	key           string
	quota         *int
	now           func() time.Time
	addr          string
	withoutSocket bool
	defaultData   bool
	registro      Registro
	data          []func(*Server) error // applied in order, after the default data
}

// WithQuota sets the daily quota of the server's own key ([Server.APIKey]), in calls: 0 refuses every
// call, [Unlimited] none. Without it the quota is [Assumptions.Quota]. Keys added with [WithKey] have
// their own.
func WithQuota(n int) Option {
	return func(c *config) error {
		c.quota = &n
		return nil
	}
}

// WithAPIKey sets the server's own key, instead of [DefaultAPIKey]: a text of printable ASCII.
func WithAPIKey(key string) Option {
	return func(c *config) error {
		c.key = key
		return nil
	}
}

// WithKey adds a key with its own daily quota; see [Server.PutKey].
func WithKey(key string, quota int) Option {
	return data(func(s *Server) error { return s.putKey(key, quota) })
}

// WithClock sets where the server reads the time that decides on "today" in Lima, on publication at
// 17:00, on the quota's reset and on the end of a SOL block. The default is [time.Now]. The function is
// called from many goroutines.
func WithClock(now func() time.Time) Option {
	return func(c *config) error {
		if now == nil {
			return errors.New("WithClock: the clock is nil")
		}
		c.now = now
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
	return data(func(s *Server) error { return s.contribuyentes.over.Put(cs...) })
}

// WithComprobantes adds receipts; see [Server.PutComprobante].
func WithComprobantes(cs ...Comprobante) Option {
	return data(func(s *Server) error { return s.comprobantes.put(cs...) })
}

// WithUsuariosSOL adds users of the tax authority's portal; see [Server.PutUsuarioSOL].
func WithUsuariosSOL(us ...SOL) Option {
	return data(func(s *Server) error { return s.sol.put(us...) })
}

// WithTipoCambio sets the rate of one day; see [Server.PutTipoCambio].
func WithTipoCambio(fecha, compra, venta string) Option {
	return data(func(s *Server) error { return s.rates.put(fecha, compra, venta) })
}

// WithSUNATDown starts with the tax authority not responding; see [Server.SetSUNATDown].
func WithSUNATDown() Option {
	return data(func(s *Server) error { s.sunatDown.Store(true); return nil })
}

func data(put func(*Server) error) Option {
	return func(c *config) error {
		c.data = append(c.data, put)
		return nil
	}
}
