package main

import (
	"context"
	"fmt"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/shopspring/decimal"
)

// pedido is what a client of ours sends.
type pedido struct {
	RUC    string  `json:"ruc"`
	Fecha  string  `json:"fecha"`  // YYYY-MM-DD; today in Lima where it is left out
	Moneda string  `json:"moneda"` // USD or PEN
	Lineas []linea `json:"lineas"`

	// Of a credit or debit note: the date of the invoice that it modifies, whose exchange rate it has.
	FechaModificado string `json:"fechaModificado"`
}

type linea struct {
	Descripcion   string `json:"descripcion"`
	Cantidad      numero `json:"cantidad"`
	ValorUnitario numero `json:"valorUnitario"` // without IGV, in Moneda
}

// factura is what it gets: every amount is a text with its two decimals, so that no float touches it.
type factura struct {
	Cliente        *cliente  `json:"cliente"`
	Fecha          string    `json:"fecha"`
	Moneda         string    `json:"moneda"`
	TipoCambio     *cambio   `json:"tipoCambio"`     // null where an invoice in soles goes without
	ValoresDeVenta []string  `json:"valoresDeVenta"` // of each line, in its order
	Dolares        *importes `json:"dolares"`        // null without a rate
	Soles          *importes `json:"soles"`
	Advertencias   []string  `json:"advertencias"`
}

type cambio struct {
	Venta  string        `json:"venta"`
	Cierre fiscope.Fecha `json:"cierre"` // the SBS closing date: the last one before that of the invoice, or of the one that a note modifies
}

type cliente struct {
	RUC           string            `json:"ruc"`
	RazonSocial   string            `json:"razonSocial"`
	Direccion     string            `json:"direccion"`
	Estado        fiscope.Estado    `json:"estado"`
	Condicion     fiscope.Condicion `json:"condicion"`
	ActivoYHabido bool              `json:"activoYHabido"`
	Antiguedad    string            `json:"antiguedad,omitempty"` // where it is older than it should be
	DatosDel      fiscope.Fecha     `json:"datosDel,omitzero"`    // where it is of a registry at hand: the day of that
}

const maxLineas = 500

// factura checks all that costs nothing before it spends a query.
func (s *servicio) factura(ctx context.Context, p pedido) (*factura, error) {
	fecha := fiscope.FechaEnLima(s.ahora())
	if p.Fecha != "" {
		var err error
		if fecha, err = s.leerFecha("fecha", p.Fecha); err != nil {
			return nil, err
		}
	}
	fechaDelCambio := fecha
	if p.FechaModificado != "" {
		var err error
		if fechaDelCambio, err = s.leerFecha("fechaModificado", p.FechaModificado); err != nil {
			return nil, err
		}
		if fechaDelCambio.Compare(fecha) > 0 {
			return nil, invalido("«fechaModificado» no puede ser posterior a «fecha»")
		}
	}
	switch {
	case p.Moneda != "USD" && p.Moneda != "PEN":
		return nil, invalido("«moneda» debe ser USD o PEN")
	case len(p.Lineas) == 0 || len(p.Lineas) > maxLineas:
		return nil, invalido("«lineas» debe tener de 1 a %d", maxLineas)
	}
	valores, total, err := totalizar(p.Lineas)
	if err != nil {
		return nil, err
	}

	c, err := s.cliente(ctx, p.RUC)
	if err != nil {
		return nil, err
	}
	f := &factura{
		Cliente: c, Fecha: fecha.String(), Moneda: p.Moneda, ValoresDeVenta: textos(valores), Advertencias: c.advertencias(),
	}
	if p.Moneda == "PEN" {
		s.enSoles(ctx, f, total, fechaDelCambio)
		return f, nil
	}
	return f, s.enDolares(ctx, f, total, fechaDelCambio)
}

// leerFecha refuses what is a mistyped year.
func (s *servicio) leerFecha(campo, texto string) (fiscope.Fecha, error) {
	fecha, err := fiscope.ParseFecha(texto)
	limite := fiscope.FechaEnLima(s.ahora()).AddDays(365)
	if err != nil || fecha.Compare(fiscope.NewFecha(1981, time.January, 1)) < 0 || fecha.Compare(limite) > 0 {
		return fecha, invalido("«%s» debe ser un día que exista, como 2025-07-30, desde 1981 y hasta dentro de un año", campo)
	}
	return fecha, nil
}

// enDolares fills in the totals of an invoice in dollars, which must have a rate.
func (s *servicio) enDolares(ctx context.Context, f *factura, total importes, fecha fiscope.Fecha) error {
	// Not TipoCambio.Consultar, which would give the rate that SUNAT shows for the next day. Nor the date of a
	// note: it has the rate of the invoice that it modifies.
	tc, err := s.client.TipoCambio.SUNAT(ctx, fecha)
	if err != nil {
		return err
	}
	venta := tc.TipoCambio.Venta
	soles := total.aSoles(venta)
	f.TipoCambio, f.Dolares, f.Soles = &cambio{venta.StringFixed(3), tc.TipoCambio.Fecha}, &total, &soles
	return nil
}

// The longest that an invoice in soles waits for a rate.
const plazoDeCambio = 5 * time.Second

// enSoles fills in the totals of an invoice in soles, which needs no rate: where there is none, it goes without
// its totals in dollars.
func (s *servicio) enSoles(ctx context.Context, f *factura, total importes, fecha fiscope.Fecha) {
	f.Soles = &total
	ctx, cancel := context.WithTimeout(ctx, plazoDeCambio)
	defer cancel()
	tc, err := s.client.TipoCambio.SUNAT(ctx, fecha)
	if err != nil {
		s.registro.WarnContext(ctx, "factura en soles sin tipo de cambio", "error", err)
		f.Advertencias = append(f.Advertencias, "sin importes en dólares: no se pudo saber el tipo de cambio de esa fecha")
		return
	}
	venta := tc.TipoCambio.Venta
	dolares := total.aDolares(venta)
	f.TipoCambio, f.Dolares = &cambio{venta.StringFixed(3), tc.TipoCambio.Fecha}, &dolares
}

// cliente fills in a customer.
func (s *servicio) cliente(ctx context.Context, ruc string) (*cliente, error) {
	if fiscope.ValidarRUC(ruc) != nil { // a typing error costs no query
		return nil, invalido("«ruc» debe ser 11 dígitos, y el último los verifica")
	}
	var resp fiscope.Response
	c, err := s.client.Contribuyentes.Consultar(ctx, ruc, fiscope.WithResponse(&resp))
	if err != nil {
		return nil, err
	}
	nuestro := &cliente{
		RUC: c.RUC, RazonSocial: c.RazonSocial, Direccion: c.Direccion,
		Estado: c.Estado, Condicion: c.Condicion, ActivoYHabido: c.ActivoYHabido(),
	}
	if resp.Stale {
		nuestro.Antiguedad = resp.Age.Round(time.Minute).String()
	}
	if resp.FromRespaldo { // ActivoYHabido speaks of that day
		nuestro.DatosDel = resp.FechaRespaldo
	}
	return nuestro, nil
}

// advertencias are for a person to read before the invoice is issued. They never stop it: that is for the
// business to decide.
func (c *cliente) advertencias() []string {
	a := []string{}
	if !c.ActivoYHabido {
		a = append(a, fmt.Sprintf("el cliente está %s, %s", c.Estado, c.Condicion))
	}
	if c.Antiguedad != "" {
		a = append(a, "los datos del cliente tienen "+c.Antiguedad+": el servicio no responde")
	}
	if !c.DatosDel.IsZero() {
		a = append(a, "los datos del cliente son del padrón del "+c.DatosDel.String()+": el servicio no responde")
	}
	return a
}

func textos(ds []decimal.Decimal) (ts []string) {
	for _, d := range ds {
		ts = append(ts, d.StringFixed(2))
	}
	return ts
}
