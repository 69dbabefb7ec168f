package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/fiscope/fiscope"
)

// fallo is an error as our clients see it.
type fallo struct {
	estado     int
	codigo     string // for programs
	mensaje    string // for people, in Spanish
	reintentar time.Duration
}

func (f *fallo) Error() string { return f.mensaje }

func (f *fallo) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"codigo": f.codigo, "error": f.mensaje})
}

func invalido(formato string, args ...any) *fallo {
	return &fallo{http.StatusBadRequest, "dato_invalido", "Dato inválido: " + fmt.Sprintf(formato, args...) + ".", 0}
}

// clasificar gives every error its status. What our client can correct is a 4xx; what the service behind
// us does is a 5xx, and never its own status: its 401 is about our key, and its 429 about our quota.
func clasificar(err error) *fallo {
	var f *fallo
	if errors.As(err, &f) {
		return f
	}
	e := new(fiscope.Error)
	_ = errors.As(err, &e)
	switch {
	case errors.Is(err, fiscope.ErrNotYetPublished): // before ErrNotFound, which it also is
		return &fallo{http.StatusConflict, "tipo_de_cambio_sin_publicar",
			"El tipo de cambio de esa fecha todavía no se publica (sale después de las 17:00 de Lima del último día hábil anterior): reintente luego, o use otra fecha.",
			cmp.Or(e.RetryAfter, 15*time.Minute)}
	case errors.Is(err, fiscope.ErrNotFound) && e.Op == fiscope.OpConsultarContribuyente:
		return &fallo{http.StatusNotFound, "cliente_no_existe", "Ningún contribuyente tiene ese RUC.", 0}
	case errors.Is(err, fiscope.ErrNotFound):
		return &fallo{http.StatusNotFound, "sin_tipo_de_cambio", "No hay tipo de cambio para esa fecha.", 0}
	case errors.Is(err, fiscope.ErrInvalidRequest) && e.Delivery == fiscope.DeliveryNotSent:
		return invalido("no es un RUC o una fecha")
	case errors.Is(err, fiscope.ErrQuotaExceeded):
		espera := e.RetryAfter
		if r := e.RateLimit; espera == 0 && r != nil && !r.Reset.IsZero() {
			espera = time.Until(r.Reset)
		}
		return &fallo{http.StatusServiceUnavailable, "cuota_agotada",
			"Se agotó la cuota de consultas de este servicio.", cmp.Or(max(espera, 0), time.Minute)}
	case errors.Is(err, context.DeadlineExceeded):
		return &fallo{http.StatusGatewayTimeout, "sin_respuesta", "El servicio de datos no respondió a tiempo: reintente.", 30 * time.Second}
	case errors.Is(err, fiscope.ErrUnavailable):
		return &fallo{http.StatusBadGateway, "servicio_no_disponible", "El servicio de datos no responde: reintente más tarde.", cmp.Or(e.RetryAfter, 30*time.Second)}
	case errors.Is(err, fiscope.ErrMalformedResponse), errors.Is(err, fiscope.ErrRedirect):
		return &fallo{http.StatusBadGateway, "respuesta_inesperada", "El servicio de datos respondió algo que no se puede usar.", 0}
	}
	// ErrUnauthorized and whatever else: ours to repair. The log says what it is, and the answer does not.
	return &fallo{http.StatusInternalServerError, "interno", "Este servicio está mal configurado o tiene un error: avise a quien lo administra.", 0}
}

// jsonInvalido says what is wrong with the body of a request.
func jsonInvalido(err error) error {
	var (
		nuestro  *fallo
		grande   *http.MaxBytesError
		sintaxis *json.SyntaxError
		tipo     *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &nuestro):
		return nuestro
	case errors.As(err, &grande):
		return &fallo{http.StatusRequestEntityTooLarge, "pedido_grande", fmt.Sprintf("El pedido pasa de %d KiB.", grande.Limit>>10), 0}
	case errors.As(err, &tipo):
		return invalido("«%s» no puede ser %s", tipo.Field, tipo.Value)
	case errors.As(err, &sintaxis):
		return invalido("el JSON tiene un error en el byte %d", sintaxis.Offset)
	}
	return invalido("el JSON está vacío, cortado o tiene un campo que no existe")
}
