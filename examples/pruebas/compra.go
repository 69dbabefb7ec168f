package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/fiscope/fiscope"
)

// compra is your own code: what a program decides about a purchase before it pays. It takes a client,
// and so its tests give it one of the mock.
type compra struct {
	client       *fiscope.Client
	credenciales fiscope.CredencialesSOL
}

// decision is what it comes to.
type decision string

const (
	pagar     decision = "pagar"
	noPagar   decision = "no pagar"
	esperar   decision = "esperar" // ask again later: nothing is known
	corregir  decision = "corregir la clave SOL"
	sinCuota  decision = "seguir mañana"
	sinTarifa decision = "esperar el tipo de cambio"
)

// decidir looks at the issuer and at the receipt.
func (c compra) decidir(ctx context.Context, comprobante fiscope.Comprobante) (decision, error) {
	emisor, err := c.client.Contribuyentes.Consultar(ctx, comprobante.RUCEmisor)
	if err != nil {
		return ante(err)
	}
	if !emisor.ActivoYHabido() {
		return noPagar, nil
	}
	v, err := c.client.CPE.Validar(ctx, comprobante, c.credenciales)
	switch {
	case err != nil:
		return ante(err)
	case v.EsValido:
		return pagar, nil
	case v.Codigo.Indeterminado():
		return esperar, nil
	}
	return noPagar, nil
}

// tarifa gets the rate for a purchase in dollars of a date.
func (c compra) tarifa(ctx context.Context, fecha fiscope.Fecha) (string, decision, error) {
	tc, err := c.client.TipoCambio.SUNAT(ctx, fecha)
	if errors.Is(err, fiscope.ErrNotYetPublished) {
		return "", sinTarifa, nil
	}
	if err != nil {
		d, err := ante(err)
		return "", d, err
	}
	return tc.TipoCambio.Venta.StringFixed(3), pagar, nil
}

// ante decides what an error means. Errors that only a person can mend are returned.
func ante(err error) (decision, error) {
	switch {
	case errors.Is(err, fiscope.ErrInvalidSOLCredentials):
		return corregir, nil
	case errors.Is(err, fiscope.ErrQuotaExceeded):
		return sinCuota, nil
	case errors.Is(err, fiscope.ErrUnavailable):
		return esperar, nil
	case errors.Is(err, fiscope.ErrNotFound):
		return noPagar, nil
	}
	return "", fmt.Errorf("compra: %w", err)
}
