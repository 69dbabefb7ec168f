package fiscope

import "time"

// respondido is what came of one input of a batch.
type respondido[R any] struct {
	resultado *R // nil where there is an error
	response  Response
	instead   error // why a stale answer, or a Respaldo's, is one; nil for any other
}

// packed is a result that can be kept in little memory.
type packed[R any] interface {
	*R
	pack(packing) packing
	unpack(*unpacking)
}

// pack adds an answer of now to p, for the duplicates of its input: without what is its query's alone.
func pack[R any, P packed[R]](p packing, r *respondido[R], now time.Time) packing {
	p = p.number(now.Unix()).number(int64(r.response.StatusCode)).number(int64(r.response.Age))
	p = p.flags(r.response.FromCache, r.response.Stale, r.response.Coalesced, r.resultado != nil, r.response.FromRespaldo)
	if r.response.FromRespaldo {
		p = p.fecha(r.response.FechaRespaldo)
	}
	p = p.number(int64(len(r.response.Warnings)))
	for _, warning := range r.response.Warnings {
		p = p.text(warning)
	}
	if r.resultado != nil {
		p = P(r.resultado).pack(p)
	}
	return p
}

// unpack returns an answer that pack kept, as old as it is by now.
func unpack[R any, P packed[R]](kept string, now time.Time) *respondido[R] {
	u, r := unpacking{kept}, new(respondido[R])
	since := now.Truncate(time.Second).Sub(time.Unix(u.number(), 0))
	r.response.StatusCode, r.response.Age = int(u.number()), time.Duration(u.number())
	r.response.Age += max(0, since)
	var there bool
	u.flags(&r.response.FromCache, &r.response.Stale, &r.response.Coalesced, &there, &r.response.FromRespaldo)
	if r.response.FromRespaldo {
		r.response.FechaRespaldo = u.fecha()
	}
	for range u.number() {
		r.response.Warnings = append(r.response.Warnings, u.text())
	}
	if there {
		r.resultado = new(R)
		P(r.resultado).unpack(&u)
	}
	return r
}

func (r *ResultadoCPE) pack(p packing) packing {
	return p.text(string(r.Codigo)).text(r.Mensaje).text(string(r.Estado)).flags(r.EsValido)
}

func (r *ResultadoCPE) unpack(u *unpacking) {
	r.Codigo, r.Mensaje, r.Estado = CodigoCPE(u.text()), u.text(), EstadoCPE(u.text())
	u.flags(&r.EsValido)
}
