// Package pruebas shows how to test your own code with the mock server: data, faults, the clock, the quota and a SOL user.
// compra.go is the code; compra_test.go has the tests to copy:
//
//	go test ./examples/pruebas
package pruebas

import (
	"context"
	"errors"

	"github.com/fiscope/fiscope"
)

// Compra is your own code: it decides about a purchase before the payment. It takes a client, so its tests can pass the
// mock's.
type Compra struct {
	client       *fiscope.Client
	credenciales fiscope.CredencialesSOL
}

// Decision is the result.
type Decision string

// The decisions.
const (
	Pagar    Decision = "pagar"
	NoPagar  Decision = "no pagar"
	Esperar  Decision = "esperar" // ask again later
	Corregir Decision = "corregir la clave SOL"
	Mañana   Decision = "seguir mañana"
)

// Decidir checks the issuer and the receipt.
func (c Compra) Decidir(ctx context.Context, comprobante fiscope.Comprobante) (Decision, error) {
	emisor, err := c.client.Contribuyentes.Consultar(ctx, comprobante.RUCEmisor)
	if err != nil {
		return ante(err)
	}
	if !emisor.ActivoYHabido() {
		return NoPagar, nil
	}
	v, err := c.client.CPE.Validar(ctx, comprobante, c.credenciales)
	switch {
	case err != nil:
		return ante(err)
	case v.EsValido:
		return Pagar, nil
	case v.Codigo.Indeterminado():
		return Esperar, nil
	}
	return NoPagar, nil
}

// Tarifa gets the rate for a purchase in dollars on a date.
func (c Compra) Tarifa(ctx context.Context, fecha fiscope.Fecha) (string, Decision, error) {
	tc, err := c.client.TipoCambio.SUNAT(ctx, fecha)
	if err != nil {
		d, err := ante(err)
		return "", d, err
	}
	return tc.TipoCambio.Venta.StringFixed(3), Pagar, nil
}

// ante decides what an error means. It returns errors that only a person can fix.
func ante(err error) (Decision, error) {
	switch {
	case errors.Is(err, fiscope.ErrInvalidSOLCredentials):
		return Corregir, nil
	case errors.Is(err, fiscope.ErrQuotaExceeded):
		return Mañana, nil
	case errors.Is(err, fiscope.ErrUnavailable), errors.Is(err, fiscope.ErrNotYetPublished):
		return Esperar, nil
	case errors.Is(err, fiscope.ErrNotFound):
		return NoPagar, nil
	}
	return "", err
}
