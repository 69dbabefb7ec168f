package fiscope

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/shopspring/decimal"

	"github.com/fiscope/fiscope/internal/members"
)

// TipoCambioService gets exchange rates. It is the TipoCambio of a [Client].
type TipoCambioService struct{ asker *asker }

// The operations on the exchange rate. The two are one of the service's.
const (
	OpConsultarTipoCambio Operation = "TipoCambio.Consultar"
	OpTipoCambioHoy       Operation = "TipoCambio.Hoy"
)

// TipoCambio is the official exchange rate of a day (docs/contrato.md, 2.5), in soles for one US dollar. The
// rates keep the decimals they came with: Venta.StringFixed(3) is "3.750" where String drops the zero.
// It marshals to the contract's JSON, the rates as numbers with their zeros. A rate that is not between 1
// and 10, or a Compra above Venta, comes with a warning ([Response]).
type TipoCambio struct {
	Compra decimal.Decimal `json:"compra"` // buying rate
	Venta  decimal.Decimal `json:"venta"`  // selling rate
	Moneda string          `json:"moneda"` // always "USD"
	Fecha  Fecha           `json:"fecha"`  // the date of the rate, which is the banking regulator's closing date
	Origen string          `json:"origen"` // the acronym of the banking regulator
}

// Consultar gets the rate of that date. It spends one query.
//
// There is none for Saturdays, Sundays, national holidays, or very recent days; that of a day is
// normally published after 17:00 in Lima (docs/contrato.md, 4.4). All of these are ErrNotFound.
//
// Errors: ErrInvalidRequest (the zero Fecha, or a day that does not exist: nothing is sent),
// ErrNotFound, and those of every operation.
func (s *TipoCambioService) Consultar(ctx context.Context, fecha Fecha, opts ...CallOption) (*TipoCambio, error) {
	return ask(ctx, s.asker, cambio{fecha}, opts)
}

// Hoy gets the rate of today, as the service's clock says it. It spends one query. Before 17:00 in Lima
// it usually is ErrNotFound.
func (s *TipoCambioService) Hoy(ctx context.Context, opts ...CallOption) (*TipoCambio, error) {
	return ask(ctx, s.asker, cambioDeHoy{FechaEnLima(s.asker.clock.now())}, opts)
}

// cambio is the question for the rate of a date.
type cambio struct{ fecha Fecha }

func (q cambio) request() request {
	r := request{op: OpConsultarTipoCambio, path: "/api/tipocambio", query: url.Values{"fecha": {q.fecha.String()}}}
	if !q.fecha.Valid() {
		r.invalid = invalid("fecha must be a day of the calendar: it is %q", q.fecha)
	}
	return r
}

func (q cambio) read(a *answer) (*TipoCambio, error) {
	tc, err := readTipoCambio(a)
	if err == nil && tc.Fecha != q.fecha {
		a.contradicts("asked for the rate of %s, the answer is of %s", q.fecha, tc.Fecha)
	}
	return tc, cmp.Or(err, a.contradiction)
}

// cambioDeHoy is the question for the rate of today, whichever day that is for the service.
type cambioDeHoy struct{ hoy Fecha }

func (q cambioDeHoy) request() request {
	return request{op: OpTipoCambioHoy, path: "/api/tipocambio"}
}

func (q cambioDeHoy) read(a *answer) (*TipoCambio, error) {
	tc, err := readTipoCambio(a)
	if err == nil && tc.Fecha != q.hoy {
		a.warn("asked for the rate of today, which is %s in Lima by this client's clock: the answer is of %s", q.hoy, tc.Fecha)
	}
	return tc, cmp.Or(err, a.contradiction)
}

var membersOfTipoCambio = members.NewNames("compra", "venta", "moneda", "fecha", "origen", "error", "code")

func readTipoCambio(a *answer) (*TipoCambio, error) {
	o, err := a.object(membersOfTipoCambio)
	if err != nil {
		return nil, err
	}
	fecha, unreadable := o.date("fecha")
	tc := &TipoCambio{
		Compra: rateIn(&o, "compra"),
		Venta:  rateIn(&o, "venta"),
		Moneda: o.optional("moneda"),
		Fecha:  fecha,
		Origen: o.optional("origen"),
	}
	if o.err != nil {
		return nil, o.err
	}
	for _, rate := range []struct {
		field string
		value decimal.Decimal
	}{{"compra", tc.Compra}, {"venta", tc.Venta}} {
		if rate.value.LessThan(lowestRate) || rate.value.GreaterThan(highestRate) {
			a.warn("%s %s is not between %s and %s soles for a dollar", rate.field, written(rate.value), lowestRate, highestRate)
		}
	}
	if tc.Compra.GreaterThan(tc.Venta) {
		a.warn("compra %s is above venta %s", written(tc.Compra), written(tc.Venta))
	}
	switch {
	case unreadable != "":
		return nil, notContract("fecha is not a day of the form YYYY-MM-DD: %s", a.quote(unreadable))
	case tc.Moneda == "":
		return nil, notContract("moneda is missing")
	case tc.Fecha.IsZero():
		return nil, notContract("fecha is missing")
	case tc.Moneda != "USD":
		a.contradicts("moneda is %s, want USD", a.quote(tc.Moneda))
	}
	return tc, nil
}

// A rate outside of these is odd: since the sol replaced the inti in 1991, a dollar was never below 1 nor
// above 4.2 soles, and a point in another place leads out of them.
var lowestRate, highestRate = decimal.NewFromInt(1), decimal.NewFromInt(10)

// The longest rate that is read: to make a decimal of a megabyte of digits takes seconds.
const longestRate = 64

// rateIn returns a rate, which may be a number or a string.
func rateIn(o *object, name string) (rate decimal.Decimal) {
	switch raw := o.value(name); {
	case raw == nil:
		o.fail("%s is missing", name)
	case len(raw) > longestRate:
		o.fail("%s has too many digits", name)
	case rate.UnmarshalJSON(raw) != nil:
		o.fail("%s is no number", name)
	case !printable(rate):
		o.fail("%s is not above zero, or has too many digits", name)
	}
	return rate
}

// printable reports whether a rate is above zero and of a size that can be written out: a decimal's
// exponent may be so large that its digits fill the memory.
func printable(rate decimal.Decimal) bool {
	return rate.IsPositive() && rate.Exponent() >= -12 && rate.Exponent() <= 6 && rate.NumDigits() <= 18
}

// written returns a rate with the decimals it came with.
func written(rate decimal.Decimal) string { return rate.StringFixed(max(0, -rate.Exponent())) }

// MarshalJSON writes the contract's object.
func (t TipoCambio) MarshalJSON() ([]byte, error) {
	type plain TipoCambio
	compra, err := number(t.Compra)
	if err != nil {
		return nil, err
	}
	venta, err := number(t.Venta)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Compra json.Number `json:"compra"`
		Venta  json.Number `json:"venta"`
		plain
	}{compra, venta, plain(t)})
}

// number returns a rate with the decimals it came with.
func number(rate decimal.Decimal) (json.Number, error) {
	if !rate.IsZero() && !printable(rate.Abs()) {
		return "", fmt.Errorf("fiscope: a rate with exponent %d is not written", rate.Exponent())
	}
	return json.Number(written(rate)), nil
}
