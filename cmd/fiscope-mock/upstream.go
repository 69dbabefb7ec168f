package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// realService is the service of -upstream. The SDK makes the calls: it checks the answers, and where a key may be sent.
type realService struct {
	url       string
	transport *http.Transport
	keep      func(mockserver.Data)
}

// checkUpstream refuses a URL to which the SDK would not send a key.
func checkUpstream(url string) error {
	_, err := fiscope.NewClient(url, "x")
	return err
}

func newRealService(url string, keep func(mockserver.Data)) *realService {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 10
	return &realService{url, transport, keep}
}

// close closes its connections. It does nothing if s is nil.
func (s *realService) close() {
	if s != nil {
		s.transport.CloseIdleConnections()
	}
}

// passedOn are the headers passed on from the service's answer: none of them redirects the caller.
var passedOn = []string{"Content-Type", "Retry-After", "Www-Authenticate", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}

// ask makes one call, with the caller's key.
func (s *realService) ask(ctx context.Context, q mockserver.UpstreamQuery) mockserver.UpstreamAnswer {
	seen := &answerSeen{next: s.transport}
	client, err := fiscope.NewClient(s.url, q.Key, fiscope.WithHTTPClient(&http.Client{Transport: seen}), fiscope.WithoutQuotaGate(), fiscope.WithMaxRetries(0))
	if err != nil {
		return mockserver.UpstreamAnswer{Away: "la clave de API no se puede enviar"}
	}
	var how fiscope.Response
	var keep mockserver.Data
	switch q.Op {
	case mockserver.OpConsultar:
		var found *fiscope.Contribuyente
		if found, err = client.Contribuyentes.Consultar(ctx, q.RUC, fiscope.WithResponse(&how)); err == nil {
			keep.Contribuyentes = []mockserver.Contribuyente{wholeContribuyente(found)}
		}
	case mockserver.OpBuscar:
		var found []fiscope.ContribuyenteResumen
		found, err = client.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: q.RazonSocial, Limite: q.Limite}, fiscope.WithResponse(&how))
		for _, r := range found {
			c := fiscope.Contribuyente{RUC: r.RUC, RazonSocial: r.RazonSocial, Estado: r.Estado, Condicion: r.Condicion}
			keep.Contribuyentes = append(keep.Contribuyentes, wholeContribuyente(&c).Partial())
		}
	case mockserver.OpTipoCambio:
		var rate *fiscope.TipoCambio
		if rate, err = client.TipoCambio.Consultar(ctx, q.Fecha, fiscope.WithResponse(&how)); err == nil {
			text, _ := json.Marshal(rate) // with its final zeros
			var digits struct{ Compra, Venta json.Number }
			_ = json.Unmarshal(text, &digits)
			keep.TiposCambio = []mockserver.TipoCambio{{Fecha: q.Fecha.String(), Compra: digits.Compra, Venta: digits.Venta}}
		}
	}
	if seen.status == 0 {
		return mockserver.UpstreamAnswer{Away: whyAway(err)}
	}
	answer := mockserver.UpstreamAnswer{Status: seen.status, Header: http.Header{}, Body: seen.body, Keep: keep}
	for _, name := range passedOn {
		if values := seen.header[name]; values != nil {
			answer.Header[name] = slices.Clone(values)
		}
	}
	if answer.Strange = err != nil && !isRefusal(seen) || len(how.Warnings) > 0; !answer.Strange && !q.Known {
		s.keep(keep)
	}
	return answer
}

// wholeContribuyente converts the service's taxpayer. Missing values are "-": otherwise the mock would invent them.
func wholeContribuyente(c *fiscope.Contribuyente) mockserver.Contribuyente {
	whole := mockserver.Contribuyente{
		RUC:                    c.RUC,
		RazonSocial:            c.RazonSocial,
		Estado:                 cmp.Or(string(c.Estado), "-"),
		Condicion:              cmp.Or(string(c.Condicion), "-"),
		Direccion:              c.Direccion,
		Ubigeo:                 cmp.Or(c.Ubigeo, "-"),
		Departamento:           c.Departamento,
		Provincia:              c.Provincia,
		Distrito:               c.Distrito,
		Tipo:                   c.Tipo,
		ActividadEconomica:     c.ActividadEconomica,
		FechaInscripcion:       dayOrNone(c.FechaInscripcion),
		FechaInicioActividades: dayOrNone(c.FechaInicioActividades),
	}
	if whole == whole.Partial() {
		whole.Direccion = "-"
	}
	return whole
}

func dayOrNone(f fiscope.Fecha) string {
	if f.IsZero() {
		return "-"
	}
	return f.String()
}

// isRefusal reports whether an answer is an error in the contract's form.
func isRefusal(seen *answerSeen) bool {
	var e struct{ Error, Code *string }
	return seen.status >= 400 && json.Unmarshal(seen.body, &e) == nil && e.Error != nil && e.Code != nil
}

// whyAway returns the reason for a missing answer, in Spanish.
func whyAway(err error) string {
	var refused *net.OpError
	var name *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no respondió a tiempo"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "su respuesta se cortó"
	case errors.As(err, &name):
		return "no existe el nombre " + name.Name
	case errors.As(err, &refused):
		return refused.Err.Error()
	case err == nil:
		return ""
	}
	return err.Error()
}

// answerSeen is a transport that records the answer.
type answerSeen struct {
	next   http.RoundTripper
	status int
	header http.Header
	body   []byte
}

// RoundTrip implements [http.RoundTripper].
func (s *answerSeen) RoundTrip(r *http.Request) (*http.Response, error) {
	const most = 4 << 20
	resp, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return nil, err
	}
	s.status, s.header, s.body = resp.StatusCode, resp.Header.Clone(), body
	if _, err := time.Parse(time.RFC3339, resp.Header.Get("X-RateLimit-Reset")); err == nil {
		resp.Header.Del("X-RateLimit-Reset") // by another clock it may be past, which is not an error
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}
