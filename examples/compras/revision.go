package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fiscope/fiscope"
)

// estado is where a line of the file stands. Only a payable one is to be paid.
type estado string

const (
	estadoPagable    estado = "pagable"   // accepted, of an issuer that is active and habido
	estadoReparo     estado = "reparo"    // accepted, of an issuer that is not, or is not known
	estadoAceptado   estado = "aceptado"  // accepted, and the issuer was not looked up yet
	estadoRepetido   estado = "repetido"  // the file holds it twice: to be paid once
	estadoAnulado    estado = "anulado"   // codigo 2
	estadoNoExiste   estado = "no existe" // codigo 98
	estadoEnProceso  estado = "en proceso"
	estadoError      estado = "error"       // nothing is known: codigo 99, or no answer
	estadoSinValidar estado = "sin validar" // the run ended before it
	estadoIlegible   estado = "ilegible"    // the line cannot be read
)

// revision is one run over a file.
type revision struct {
	client       *fiscope.Client
	credenciales fiscope.CredencialesSOL
	renglones    []*renglon
}

// validar asks for the state of each receipt, four at a time. The batch stops by itself, and at once, when
// the clave is refused or the quota is spent: what it did not reach stays "sin validar".
func (r *revision) validar(ctx context.Context) error {
	var pendientes []*renglon
	for _, fila := range r.renglones {
		if fila.Estado == "" {
			fila.Estado = estadoSinValidar
			pendientes = append(pendientes, fila)
		}
	}
	comprobantes := func(yield func(fiscope.Comprobante) bool) {
		for _, fila := range pendientes {
			if !yield(fila.Comprobante) {
				return
			}
		}
	}
	lote := r.client.CPE.ValidarLote(ctx, comprobantes, r.credenciales, fiscope.LotePolicy{Concurrency: 4})
	for linea, err := range lote {
		if detenido := (*fiscope.LoteDetenido)(nil); errors.As(err, &detenido) {
			return detenido
		}
		fila := pendientes[linea.Posicion]
		if err != nil {
			fila.Estado, fila.Detalle = estadoError, explicar(err)
			continue
		}
		fila.Estado, fila.Detalle = estadoDe(linea.Resultado), ""
		if fila.Estado != estadoAceptado {
			fila.Detalle = limpiar(linea.Resultado.Mensaje)
		}
		if fila.Estado == estadoNoExiste && fila.Comprobante.Advertencia() != "" {
			fila.Detalle += " ¿Está bien escrito? Esa serie no es la usual de ese tipo."
		}
	}
	return nil
}

// estadoDe reads the codigo, which is one of five. A sixth says nothing about the receipt.
func estadoDe(v *fiscope.ResultadoCPE) estado {
	switch {
	case v.Codigo == fiscope.CodigoAceptado && v.EsValido:
		return estadoAceptado
	case v.Codigo == fiscope.CodigoAnulado:
		return estadoAnulado
	case v.Codigo == fiscope.CodigoNoExiste:
		return estadoNoExiste
	case v.Codigo == fiscope.CodigoEnProceso:
		return estadoEnProceso
	}
	return estadoError
}

// consultarEmisores looks up the issuers of the accepted receipts, each once.
func (r *revision) consultarEmisores(ctx context.Context) error {
	emisores := map[string][]*renglon{}
	var rucs []string
	for _, fila := range r.renglones {
		if fila.Estado != estadoAceptado {
			continue
		}
		ruc := fila.Comprobante.RUCEmisor
		if emisores[ruc] == nil {
			rucs = append(rucs, ruc)
		}
		emisores[ruc] = append(emisores[ruc], fila)
	}
	pendientes := func(yield func(string) bool) {
		for _, ruc := range rucs {
			if !yield(ruc) {
				return
			}
		}
	}
	for linea, err := range r.client.Contribuyentes.ConsultarLote(ctx, pendientes, fiscope.LotePolicy{Concurrency: 4}) {
		if detenido := (*fiscope.LoteDetenido)(nil); errors.As(err, &detenido) {
			return detenido
		}
		e, detalle := juzgar(linea.Resultado, err)
		for _, fila := range emisores[linea.Entrada] {
			fila.Estado, fila.Detalle = e, detalle
		}
	}
	return nil
}

// juzgar is the gate: the SDK knows the spellings of the registry, so nobody compares texts here.
func juzgar(c *fiscope.Contribuyente, err error) (estado, string) {
	switch {
	case errors.Is(err, fiscope.ErrNotFound):
		return estadoReparo, "el emisor no figura en el padrón del RUC"
	case err != nil:
		return estadoReparo, "no se sabe si el emisor está activo y habido: " + explicar(err)
	case !c.ActivoYHabido():
		return estadoReparo, strings.TrimSpace(fmt.Sprintf("el emisor está %s, %s", limpiar(string(c.Estado)), limpiar(string(c.Condicion))))
	}
	return estadoPagable, ""
}
