package main

import (
	"context"
	"errors"
	"time"

	"github.com/fiscope/fiscope"
)

// explicar says in Spanish what an error of the service means and what to do. Its own errors already do.
func explicar(err error) string {
	if errors.Is(err, context.Canceled) { // Ctrl-C, or cron's SIGTERM
		return "Se interrumpió."
	}
	var e *fiscope.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	switch {
	case errors.Is(err, fiscope.ErrSOLCredentialsBlocked):
		return "Esta clave SOL ya fue rechazada y no se envió otra vez: corríjala. Si ahora es la correcta, use -olvidar-clave."
	case errors.Is(err, fiscope.ErrInvalidSOLCredentials):
		return "La SUNAT rechazó el usuario o la clave SOL: corríjalos antes de volver a ejecutar, porque el usuario se bloquea. Debe ser un usuario secundario."
	case errors.Is(err, fiscope.ErrUnauthorized):
		return "El servicio rechaza la clave de API: revise FISCOPE_API_KEY."
	case errors.Is(err, fiscope.ErrQuotaExceeded):
		if r := e.RateLimit; r != nil && !r.Reset.IsZero() {
			return "Se agotó la cuota: se renueva el " + r.Reset.In(fiscope.Lima).Format("2006-01-02 a las 15:04") + " (Lima)."
		}
		return "Se agotó la cuota del día, o hay demasiadas consultas por segundo."
	case errors.Is(err, fiscope.ErrUnavailable) && e.Delivery == fiscope.DeliveryUnknown:
		return "No llegó respuesta, y la consulta pudo gastarse: intente más tarde."
	case errors.Is(err, fiscope.ErrUnavailable):
		return "La SUNAT o el servicio no responde" + espera(e.RetryAfter) + "."
	case errors.Is(err, fiscope.ErrMalformedResponse), errors.Is(err, fiscope.ErrRedirect):
		return "La respuesta no es la del servicio: revise FISCOPE_BASE_URL y los proxies."
	case errors.Is(err, fiscope.ErrInvalidRequest) && e.Delivery == fiscope.DeliveryAnswered:
		return "El servicio no acepta el dato: " + limpiar(e.Message)
	}
	return err.Error()
}

func espera(d time.Duration) string {
	if d <= 0 {
		return ": intente más tarde"
	}
	return ": intente en " + d.Round(time.Second).String()
}
