package mockserver

import (
	"cmp"
	"context"
	"encoding/json"
	"hash/maphash"
	"maps"
	"net/http"
	"strconv"
	"sync"

	"github.com/fiscope/fiscope"
)

// UpstreamQuery is a query to a real service, with the caller's key.
type UpstreamQuery struct {
	Op          Operation     // OpConsultar, OpBuscar or OpTipoCambio
	Key         string        `json:"-"`
	Known       bool          // the data have the answer: only the key is to be judged, and nothing is kept
	RUC         string        // of a lookup
	RazonSocial string        // of a search
	Limite      int           // of a search
	Fecha       fiscope.Fecha // of a rate
}

// UpstreamAnswer is a real service's answer, passed on as it is.
type UpstreamAnswer struct {
	Status  int // 0 if it did not answer: the caller gets 502
	Header  http.Header
	Body    []byte
	Away    string // why it did not answer, in Spanish
	Strange bool   // it breaks the contract
	Keep    Data   // what is kept of it; a taxpayer that a search found has Partial's form
}

// Partial returns what a search says of c, and "-" in what else has a form.
func (c Contribuyente) Partial() Contribuyente {
	return Contribuyente{
		RUC: c.RUC, RazonSocial: c.RazonSocial, Estado: c.Estado, Condicion: c.Condicion,
		Ubigeo: "-", FechaInscripcion: "-", FechaInicioActividades: "-",
	}
}

// WithUpstream makes ask answer what the data lack: lookups, empty searches and rates (without a default series
// then), never validations. It also judges unknown keys, once each; a validation is answered from the data unless it
// has refused the key. It is called concurrently.
func WithUpstream(ask func(context.Context, UpstreamQuery) UpstreamAnswer) Option {
	return setUnless(ask == nil, "WithUpstream: la función es nil", func(c *config) { c.upstream = ask })
}

// The values of Request.Upstream.
const (
	upstreamAsked   = "asked"
	upstreamStrange = "strange"
)

// upstream is the real service behind a server. It is nil without WithUpstream.
type upstream struct {
	ask     func(context.Context, UpstreamQuery) UpstreamAnswer
	keep    func(Data)
	account account  // of the keys that the server does not know
	judged  sync.Map // by hashed key: whether the service has admitted it
}

func newUpstream(s *Server) *upstream {
	if s.config.upstream == nil {
		return nil
	}
	return &upstream{ask: s.config.upstream, keep: s.keep, account: account{usage: usage{limit: Unlimited}}}
}

// keep puts what a real service answered. What a search says of a taxpayer replaces nothing.
func (s *Server) keep(d Data) {
	if d.check() != nil { // such as a rate of a holiday
		return
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	into := s.data.Load()
	var cs []Contribuyente
	for _, c := range d.Contribuyentes {
		_, known, _ := into.contribuyentes.porRUC(context.Background(), c.RUC)
		if !known || c != c.Partial() {
			cs = append(cs, c)
		}
	}
	d.Contribuyentes = cs
	into.put(d)
}

// isForeign reports whether only the upstream can know the call's key.
func (c *call) isForeign() bool { return c.up != nil && c.account == &c.up.account }

// verdict is whether the server, or the upstream, has admitted the call's key; nil if the upstream was not asked yet.
func (c *call) verdict() any {
	if !c.isForeign() {
		return true
	}
	admitted, _ := c.up.judged.Load(maphash.String(hashSeed, c.key))
	return admitted
}

// ask returns the upstream's answer to a call for which there are no data, or whose key is to be judged.
func (c *call) ask(lacks bool, q UpstreamQuery) (answer, bool) {
	if c.up == nil || c.replaced || !lacks && c.verdict() == true {
		return answer{}, false
	}
	if c.asked == nil { // a fault may have made it answer before
		q.Op, q.Key, q.Known = c.op, c.key, !lacks
		got := c.up.ask(c.r.Context(), q)
		c.asked = &got
		switch key := maphash.String(hashSeed, c.key); {
		case got.Status == http.StatusUnauthorized, got.Status == http.StatusForbidden:
			c.up.judged.Store(key, false)
		case got.answers() && !got.Strange:
			c.up.judged.Store(key, true)
			if lacks {
				c.up.keep(got.Keep)
			}
		}
	}
	got := c.asked
	if !lacks && got.answers() { // what the data have is never replaced
		return answer{}, false
	}
	if got.Status == 0 {
		return refusal(http.StatusBadGateway, codeUpstream, "el servicio real no respondió: %s", c.keys.Out(cmp.Or(got.Away, "no se sabe por qué"))), true
	}
	var said wireError
	_ = json.Unmarshal(got.Body, &said) // for the journal, if it is one
	header := maps.Clone(got.Header)
	if header == nil {
		header = http.Header{}
	}
	header["Content-Length"] = []string{strconv.Itoa(len(got.Body))}
	return answer{status: got.Status, code: said.Code, body: got.Body, passed: header}, true
}

// answers reports whether the service took the key and looked.
func (a *UpstreamAnswer) answers() bool {
	return a.Status == http.StatusOK || a.Status == http.StatusNotFound
}

// how is Request.Upstream.
func (c *call) how() string {
	switch {
	case c.asked == nil:
		return ""
	case c.asked.Strange:
		return upstreamStrange
	}
	return upstreamAsked
}
