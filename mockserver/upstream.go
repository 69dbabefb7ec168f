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
	Known       bool          // the data have the answer: only the key is checked, and nothing is kept
	RUC         string        // of a lookup
	RazonSocial string        // of a search
	Limite      int           // of a search
	Fecha       fiscope.Fecha // of a rate
}

// UpstreamAnswer is a real service's answer, passed on unchanged.
type UpstreamAnswer struct {
	Status  int // 0 if it did not answer: the caller gets 502
	Header  http.Header
	Body    []byte
	Away    string // why it did not answer, in Spanish
	Strange bool   // it breaks the contract
	Keep    Data   // data to keep; taxpayers from a search have Partial's form
}

// Partial returns a search result of c, with "-" in other fields with a form.
func (c Contribuyente) Partial() Contribuyente {
	return Contribuyente{
		RUC: c.RUC, RazonSocial: c.RazonSocial, Estado: c.Estado, Condicion: c.Condicion,
		Ubigeo: "-", FechaInscripcion: "-", FechaInicioActividades: "-",
	}
}

// WithUpstream asks a real service for data that the mock lacks: lookups, empty searches and rates (the default series is
// off), never validations. ask also checks unknown keys, once each; a validation is answered from the data unless the key
// was refused. It is called concurrently.
func WithUpstream(ask func(context.Context, UpstreamQuery) UpstreamAnswer) Option {
	return setUnless(ask == nil, "WithUpstream: la función es nil", func(c *config) { c.upstream = ask })
}

// The values of Request.Upstream.
const (
	upstreamAsked   = "asked"
	upstreamStrange = "strange"
)

// upstream is the real service behind a server; nil without WithUpstream.
type upstream struct {
	ask     func(context.Context, UpstreamQuery) UpstreamAnswer
	keep    func(Data)
	account account  // for keys that the server does not know
	judged  sync.Map // by hashed key: whether the service accepted it
}

func newUpstream(s *Server) *upstream {
	if s.config.upstream == nil {
		return nil
	}
	return &upstream{ask: s.config.upstream, keep: s.keep, account: account{usage: usage{limit: Unlimited}}}
}

// keep adds a real service's answer to the data. A search result replaces nothing.
func (s *Server) keep(d Data) {
	if d.check() != nil { // such as a rate on a holiday
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

// verdict returns whether the server, or the upstream, accepted the call's key; nil if the upstream was not asked yet.
func (c *call) verdict() any {
	if !c.isForeign() {
		return true
	}
	admitted, _ := c.up.judged.Load(maphash.String(hashSeed, c.key))
	return admitted
}

// ask returns the upstream's answer to a call that lacks data, or whose key must be checked.
func (c *call) ask(lacks bool, q UpstreamQuery) (answer, bool) {
	if c.up == nil || c.replaced || !lacks && c.verdict() == true {
		return answer{}, false
	}
	if c.asked == nil { // a fault may have asked before
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
	if !lacks && got.answers() { // stored data are never replaced
		return answer{}, false
	}
	if got.Status == 0 {
		return refusal(http.StatusBadGateway, codeUpstream, "el servicio real no respondió: %s", c.keys.Out(cmp.Or(got.Away, "no se sabe por qué"))), true
	}
	var said wireError
	_ = json.Unmarshal(got.Body, &said) // for the journal, if it is JSON
	header := maps.Clone(got.Header)
	if header == nil {
		header = http.Header{}
	}
	header["Content-Length"] = []string{strconv.Itoa(len(got.Body))}
	return answer{status: got.Status, code: said.Code, body: got.Body, passed: header}, true
}

// answers reports whether the service accepted the key and handled the query.
func (a *UpstreamAnswer) answers() bool {
	return a.Status == http.StatusOK || a.Status == http.StatusNotFound
}

// how returns Request.Upstream.
func (c *call) how() string {
	switch {
	case c.asked == nil:
		return ""
	case c.asked.Strange:
		return upstreamStrange
	}
	return upstreamAsked
}
