package fiscope

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// TipoCambioService gets exchange rates. It is the TipoCambio of a [Client]. For an invoice use SUNAT, not Consultar:
// docs/tipo-de-cambio.md.
type TipoCambioService struct{ core *core }

// TipoCambio is the official exchange rate of a day (docs/contract.md, 2.5), in soles for one US dollar. The rates keep
// their decimals: Venta.StringFixed(3) is "3.750", String drops the zero. It marshals to the contract's JSON.
type TipoCambio struct {
	Compra decimal.Decimal `json:"compra"` // buying rate
	Venta  decimal.Decimal `json:"venta"`  // selling rate
	Moneda string          `json:"moneda"` // "USD", or "" if the answer had none
	Fecha  Fecha           `json:"fecha"`  // the banking regulator's closing date
	Origen string          `json:"origen"` // the acronym of the banking regulator, or "" if the answer had none
}

// Consultar gets the rate of that date. It costs one query. A rate outside 1 to 10 soles, a compra above venta, or a
// venta more than 10 % above compra is ErrMalformedResponse; [WithLenientReading] makes it a warning.
//
// Errors: ErrInvalidRequest (not a day of the calendar: nothing is sent), ErrNotFound (a weekend, a national holiday,
// or not published yet), and those of every operation.
func (s *TipoCambioService) Consultar(ctx context.Context, fecha Fecha, opts ...CallOption) (*TipoCambio, error) {
	return get(ctx, s.core, s.core.rates, cambio{OpConsultarTipoCambio, fecha, s.core.serviceClock}, opts, copyOf[TipoCambio])
}

// Hoy gets today's rate, according to the service's clock. It costs one query and fails as Consultar does: before 17:00
// in Lima, usually with ErrNotFound.
func (s *TipoCambioService) Hoy(ctx context.Context, opts ...CallOption) (*TipoCambio, error) {
	hoy := cambio{OpTipoCambioHoy, FechaEnLima(s.core.serviceClock.now()), s.core.serviceClock}
	return get(ctx, s.core, s.core.rates, hoy, opts, copyOf[TipoCambio])
}

// There was no sol before July 1991. A date further ahead than daysAhead is a typing mistake.
var firstOfSol = NewFecha(1991, time.July, 1)

const daysAhead = 31

// checkDates refuses half-typed dates: the days from first to last if none of them can have a rate.
func checkDates(first, last, hoy Fecha) error {
	end := hoy.SumarDias(daysAhead)
	switch {
	case !first.Valid():
		return invalid("fecha", "must be a day of the calendar: it is %q", first)
	case last.Compare(firstOfSol) < 0 || first.Compare(end) > 0:
		return invalid("fecha", "must be from %s to %s, %d days from today: it is %s", firstOfSol, end, daysAhead, first)
	}
	return nil
}

// cambio is the question for the rate of a date.
type cambio struct {
	op           Operation
	fecha        Fecha // for OpTipoCambioHoy it is not sent: the service has its own today
	serviceClock *serviceClock
}

func (q cambio) request() request {
	r := request{path: "/api/tipocambio"}
	if q.op == OpTipoCambioHoy {
		return r
	}
	if !q.fecha.Valid() {
		r.invalid = invalid("fecha", "must be a day of the calendar: it is %q", q.fecha)
	}
	r.query = url.Values{"fecha": {q.fecha.String()}}
	return r
}

func (q cambio) key() cacheKey { return cacheKey{op: q.op, fecha: q.fecha} }

func (q cambio) lifetime(_ CachePolicy, result any, now time.Time) time.Duration {
	tc, ok := result.(*TipoCambio)
	now = now.Add(q.serviceClock.ahead())
	switch hoy, published := FechaEnLima(now), q.fecha.Publicacion(); {
	case ok && tc.Fecha != q.fecha:
		return 0 // the service's clock differs from ours: the lifetime is unknown
	case ok && q.fecha.Compare(hoy) < 0, !ok && !q.fecha.DiaHabil():
		return forGood
	case ok:
		return hoy.SumarDias(1).En(Lima).Sub(now)
	case now.Before(published):
		return published.Sub(now)
	case now.Before(published.Add(mayStillCome)):
		return askAgain
	}
	return 24 * time.Hour
}

func (q cambio) read(a *answer) any {
	o, ok := a.object()
	if !ok {
		return nil
	}
	moneda, fecha := o.field("moneda"), o.field("fecha")
	tc := &TipoCambio{
		Compra: o.rate("compra"),
		Venta:  o.rate("venta"),
		Moneda: o.expected("moneda"),
		Origen: o.expected("origen"),
	}
	var err error
	if tc.Fecha, err = ParseFecha(strings.TrimSpace(fecha.text)); fecha.text == "" && !fecha.odd() {
		a.refuse(page, "fecha is missing")
	} else if err != nil {
		a.refuse(page, "fecha is not a day of the form YYYY-MM-DD: %s", a.quote(fecha.text))
	}
	if tc.Moneda != "" && !moneda.odd() && !strings.EqualFold(strings.TrimSpace(tc.Moneda), "USD") {
		a.doubt(contradictory, "moneda is %s, want USD", a.quote(tc.Moneda))
	}
	if a.err == nil {
		tc.check(a)
	}
	switch {
	case tc.Fecha == q.fecha:
	case q.op == OpTipoCambioHoy:
		a.warn("asked for the rate of today, which is %s in Lima by this client's clock: the answer is of %s", q.fecha, tc.Fecha)
	default:
		a.doubt(otherSubject, "asked for the rate of %s, the answer is of %s", q.fecha, tc.Fecha)
	}
	return tc
}

const (
	mayStillCome = 10 * 24 * time.Hour // how long after its hour the rate of a business day may still be published
	askAgain     = 15 * time.Minute    // how long a missing rate is remembered meanwhile
)

// A dollar has cost 1 to 4.2 soles since 1991: outside these bounds a decimal point is in the wrong place. Buying and
// selling rates are about 0.3 % apart.
var lowestRate, highestRate, widestSpread = decimal.NewFromInt(1), decimal.NewFromInt(10), decimal.RequireFromString("1.1")

// check refuses impossible rates.
func (t *TipoCambio) check(a *answer) {
	var wrong string
	switch {
	case decimal.Min(t.Compra, t.Venta).LessThan(lowestRate), decimal.Max(t.Compra, t.Venta).GreaterThan(highestRate):
		wrong = "a dollar costs between 1 and 10 soles"
	case t.Compra.GreaterThan(t.Venta):
		wrong = "compra is above venta"
	case t.Venta.GreaterThan(t.Compra.Mul(widestSpread)):
		wrong = "they are more than 10 % apart"
	default:
		return
	}
	a.doubt(contradictory, "compra is %s and venta %s: %s", written(t.Compra), written(t.Venta), wrong)
}

// longestRate is in bytes: parsing a megabyte of digits takes seconds.
const longestRate = 32

// rate returns a rate, which may be a number or a string.
func (o object) rate(name string) (rate decimal.Decimal) {
	f := o.field(name)
	var err error
	if len(f.text) <= longestRate {
		rate, err = decimal.NewFromString(strings.TrimSpace(f.text))
	}
	switch {
	case f.kind == 0:
		o.refuse(page, "%s is missing", name)
	case err != nil, !rate.IsPositive():
		o.refuse(page, "%s must be a number above zero, of at most %d characters: it is %s", name, longestRate, o.quote(f.text))
	}
	return rate
}

// written returns a rate with the decimals it came with.
func written(rate decimal.Decimal) json.Number {
	return json.Number(rate.StringFixed(max(0, -rate.Exponent())))
}

// MarshalJSON writes the contract's object.
func (t TipoCambio) MarshalJSON() ([]byte, error) {
	type plain TipoCambio
	return json.Marshal(struct {
		Compra json.Number `json:"compra"`
		Venta  json.Number `json:"venta"`
		plain
	}{written(t.Compra), written(t.Venta), plain(t)})
}
