package main

import (
	"errors"
	"fmt"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// fallos shows a failure of each kind. Against a server that is not ours it makes only those that cost
// at most one query and put nobody's SOL user at risk.
func (s *sesion) fallos() {
	s.titulo("5. Cuando algo falla")
	consultar := func(client *fiscope.Client, ruc string) error {
		_, err := client.Contribuyentes.Consultar(s.ctx, ruc)
		return err
	}
	s.provocar("un RUC que no existe", consultar(s.client, rucInventado))
	s.provocar("un RUC de 10 dígitos", consultar(s.client, "2013131295"))
	_, err := s.client.Contribuyentes.Buscar(s.ctx, fiscope.Busqueda{RazonSocial: "ab"})
	s.provocar("buscar «ab»", err)
	_, err = s.client.TipoCambio.Consultar(s.ctx, fiscope.NewFecha(2026, 2, 30))
	s.provocar("el 30 de febrero", err)
	if s.mock == nil {
		return
	}

	equivocadas := s.credenciales
	equivocadas.Clave = fiscope.NewSecreto("no-es-la-clave")
	_, err = s.client.CPE.Validar(s.ctx, s.comprobante, equivocadas)
	s.provocar("una clave SOL errada", err)

	s.mock.SetSUNATDown(true)
	_, err = s.client.CPE.Validar(s.ctx, s.comprobante, s.credenciales)
	s.provocar("la SUNAT no responde", err)

	const sinCuota = "clave-sin-cuota"
	if err := s.mock.PutKey(sinCuota, 0); err != nil {
		s.fallo(err)
	}
	for _, caso := range []struct{ que, clave string }{
		{"una clave de API errada", "no-es-la-clave"},
		{"la cuota se agotó", sinCuota},
	} {
		client, err := fiscope.NewClient(s.mock.URL, caso.clave)
		if err != nil {
			s.fallo(err)
			continue
		}
		s.provocar(caso.que, consultar(client, mockserver.RUCSolicitante))
		client.CloseIdleConnections()
	}
}

// provocar shows a failure that was made on purpose.
func (s *sesion) provocar(que string, err error) {
	if err == nil {
		s.linea("  %-25s ✗ no falló, y debía", que)
		s.err = errors.New("un fallo esperado no ocurrió")
		return
	}
	lineas := plegar(explicar(err), anchoPantalla-28)
	s.linea("  %-25s %s", que, lineas[0])
	for _, l := range lineas[1:] {
		s.linea("  %-25s %s", "", l)
	}
}

// explicar says in Spanish what an error means and what to do: the place where your program decides.
func explicar(err error) string {
	var e *fiscope.Error
	switch {
	case errors.Is(err, fiscope.ErrNotFound):
		return "No existe lo que se pidió."
	case errors.Is(err, fiscope.ErrSearchTooShort):
		return "Texto muy corto: escriba al menos 3 letras. No gastó consulta."
	case errors.Is(err, fiscope.ErrInvalidSOLCredentials):
		return "Usuario o clave SOL errados: no reintente, el usuario se bloquea."
	case errors.Is(err, fiscope.ErrUnauthorized):
		return "El servicio rechaza la clave de API: revísela."
	case errors.Is(err, fiscope.ErrQuotaExceeded):
		return "Se agotó la cuota del día: siga mañana."
	case errors.Is(err, fiscope.ErrUnavailable):
		return "El servicio no responde: intente más tarde."
	case errors.As(err, &e) && e.Delivery == fiscope.DeliveryNotSent:
		return "Dato inválido, detectado sin gastar una consulta."
	}
	return fmt.Sprint("Error: ", err)
}
