package fiscope

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/roundtrip"
)

// errorClass is what this package has for a class of errors, besides its sentinel.
type errorClass struct {
	of     error
	word   string
	status int    // for the caller's own service
	texto  string // for a clerk
}

// classes has each special case before its general class.
var classes = []errorClass{
	{ErrNotYetPublished, "not_yet_published", http.StatusConflict, "El tipo de cambio de esa fecha todavía no se publica; suele salir después de las 17:00 de cada día hábil: intente más tarde."},
	{ErrNotFound, "not_found", http.StatusNotFound, "No se encontró lo que se buscaba: revise el dato e intente de nuevo."},
	{ErrSearchTooShort, "search_too_short", http.StatusBadRequest, "El texto para buscar es muy corto: escriba 3 letras o más."},
	{ErrInvalidRequest, "invalid_request", http.StatusBadRequest, "Hay un dato que no es válido: revíselo e intente de nuevo."},
	{ErrSOLCredentialsBlocked, "sol_credentials_blocked", http.StatusUnprocessableEntity, "El usuario o la clave SOL fueron rechazados antes y no se enviaron otra vez, para que SUNAT no bloquee al usuario: corríjalos antes de intentar de nuevo."},
	{ErrInvalidSOLCredentials, "invalid_sol_credentials", http.StatusUnprocessableEntity, "SUNAT rechazó la clave SOL o el usuario, que debe ser secundario: corríjalos antes de intentar de nuevo, pues varios rechazos bloquean al usuario."},
	{ErrUnauthorized, "unauthorized", http.StatusBadGateway, "El servicio de consultas rechazó el acceso de este sistema: avise a quien lo administra."},
	{ErrQuotaExceeded, "quota_exceeded", http.StatusTooManyRequests, "Por ahora no quedan consultas disponibles: intente más tarde, o avise a quien administra este sistema."},
	{errNotSent, "unavailable", http.StatusServiceUnavailable, "La validación no se envió, pues ahora no se puede saber si la clave SOL ya fue rechazada: intente de nuevo en un momento."},
	{ErrUnavailable, "unavailable", http.StatusServiceUnavailable, "El servicio de consultas no responde en este momento: intente de nuevo en unos minutos."},
	{ErrMalformedResponse, "malformed_response", http.StatusBadGateway, "El servicio de consultas respondió algo que no se puede usar: avise a quien administra este sistema."},
	{ErrRedirect, "redirect", http.StatusBadGateway, "El servicio de consultas no está donde se le buscó: avise a quien administra este sistema."},
	{context.Canceled, "canceled", http.StatusInternalServerError, "La consulta fue cancelada antes de terminar."},
	{context.DeadlineExceeded, "deadline_exceeded", http.StatusGatewayTimeout, "Se acabó el tiempo antes de que terminara la consulta: intente de nuevo."},
}

// badJSONClass is of a body that the caller's own service received, and could not read.
var badJSONClass = errorClass{nil, "invalid_request", http.StatusBadRequest, "Los datos no llegaron completos o en el formato esperado: avise a quien administra este sistema."}

var otherClass = errorClass{nil, "other", http.StatusInternalServerError, "Ocurrió un problema que no se esperaba: avise a quien administra este sistema."}

// classOf returns the most specific class that [errors.Is] finds.
func classOf(err error) (c errorClass) {
	if err == nil {
		return errorClass{status: http.StatusOK}
	}
	defer func() {
		if recover() != nil { // its Is or Unwrap panicked, as on a nil pointer
			c = otherClass
		}
	}()
	e := errorOf(err)
	if e != nil && e.outcome != byHand {
		err = outcomes[e.outcome].class
	}
	for _, c := range classes {
		if errors.Is(err, c.of) {
			return c
		}
	}
	if e == nil && badJSON(err) { // an *Error may wrap what was wrong with the service's body
		return badJSONClass
	}
	return otherClass
}

// errorOf returns the *Error that an error is or wraps, nil for none.
func errorOf(err error) (e *Error) {
	defer func() {
		if recover() != nil { // as in classOf
			e = nil
		}
	}()
	errors.As(err, &e)
	return e
}

// badJSON reports whether a body could not be read as JSON.
func badJSON(err error) bool {
	var syntax *json.SyntaxError
	var of *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &of) || errors.Is(err, io.ErrUnexpectedEOF)
}

// outcomeOf returns the outcome of an error or, if it was made by hand, one of its class.
func outcomeOf(err error) outcome {
	e := errorOf(err)
	if e != nil && e.outcome != byHand {
		return e.outcome
	}
	of := classOf(err).of
	if of == ErrQuotaExceeded && e != nil && e.throttled() { //nolint:errorlint // the table's own
		return tooFast
	}
	for o := range lastOutcome {
		if outcomes[o].class == of { //nolint:errorlint // ...
			return o
		}
	}
	return byHand
}

// ErrorClass returns a metric label for an error: "not_found", "not_yet_published", "invalid_request",
// "search_too_short", "invalid_sol_credentials", "sol_credentials_blocked", "unauthorized", "quota_exceeded",
// "unavailable", "malformed_response", "redirect", "canceled", "deadline_exceeded" or "other"; "" for nil. The most
// specific class wins. A timeout of an attempt is "unavailable"; a body that [HTTPStatus] calls the caller's is
// "invalid_request".
func ErrorClass(err error) (word string) { return classOf(err).word }

// textosDeCampo say what is wrong with an input, keyed by [Error.Field].
var textosDeCampo = map[string]string{
	"ruc":             "El RUC no es válido: son 11 dígitos, y el último verifica a los demás.",
	"rucEmisor":       "El RUC del emisor no es válido: son 11 dígitos, y el último verifica a los demás.",
	"rucSolicitante":  "Falta el RUC del usuario SOL, o no es válido: son 11 dígitos, y el último verifica a los demás.",
	"limit":           "La cantidad de resultados no es válida: va de 1 a 50.",
	"tipoComprobante": "El tipo de comprobante no es válido: es 01 (factura), 03 (boleta), 07 (nota de crédito) o 08 (nota de débito).",
	"serie":           "La serie no es válida: son de 1 a 4 letras mayúsculas y dígitos, como F001.",
	"numero":          "El número del comprobante no es válido: va de 1 a 99999999.",
	"usuarioSol":      "El usuario SOL no es válido: no puede estar vacío ni tener espacios o saltos de línea al principio o al final.",
	"claveSol":        "La clave SOL no es válida: no puede estar vacía ni tener espacios o saltos de línea al principio o al final.",
	"comprobante":     "El comprobante no se entiende: escríbalo como 20100070970-01-F001-123, con un guion entre la serie y el número.",
	"fecha":           "La fecha no es válida: escriba un día que exista, como 2026-11-20.",
}

// rucDeCampo names each RUC in [Error.Field].
var rucDeCampo = map[string]string{"ruc": "El RUC", "rucEmisor": "El RUC del emisor", "rucSolicitante": "El RUC del usuario SOL"}

// Texts for a clerk if the text of the class would mislead.
const (
	textoSinRUC        = "No se encontró ningún contribuyente con ese RUC: revíselo e intente de nuevo."
	textoSinTipoCambio = "No hay tipo de cambio de esa fecha: revísela; el de un día hábil suele salir después de las 17:00 de ese día."
	textoSinRed        = "No se encontró el servicio de consultas: revise la conexión a internet; si funciona, la dirección (URL) del servicio."
	textoDelReloj      = "El certificado del servicio de consultas no vale a esta fecha: revise la fecha y la hora de este equipo; si están bien, avise a quien administra este sistema."
	textoDeDireccion   = "El servicio de consultas no está donde se le busca: revise la dirección (URL) del servicio, o avise a quien administra este sistema."
)

// TextoParaUsuario returns one sentence in Spanish that may be shown to a clerk: what happened, and what to do; "" for
// nil. It quotes nothing of the error itself.
func TextoParaUsuario(err error) string {
	texto, _ := forUser(err)
	return texto
}

// HTTPStatus returns the status with which your own service can answer: 400 invalid input, 404 not found, 409 not yet
// published, 422 clave refused or blocked, 429 quota, 502 API key refused, redirect or malformed answer, 503
// unavailable, 504 no time left, 200 nil, otherwise 500. It is also 400 if your caller's JSON is wrong or cut: a
// [json.SyntaxError], a [json.UnmarshalTypeError] or [io.ErrUnexpectedEOF] that is no part of an [*Error].
func HTTPStatus(err error) int {
	_, status := forUser(err)
	return status
}

// WriteError answers a request of your own service: [HTTPStatus], a Retry-After in whole seconds if RetryAfter is known,
// and the body {"error": [TextoParaUsuario], "code": [ErrorClass] in capitals}. Log err yourself.
func WriteError(w http.ResponseWriter, err error) {
	texto, status := forUser(err)
	if e := errorOf(err); e != nil && e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatFloat(math.Ceil(e.RetryAfter.Seconds()), 'f', 0, 64))
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": texto, "code": strings.ToUpper(ErrorClass(err))}) // a caller that left is no failure
}

func forUser(err error) (texto string, status int) {
	class := classOf(err)
	if class.of == nil { // also an error whose Is panics
		return class.texto, class.status
	}
	row := outcomes[outcomeOf(err)]
	texto, status = cmp.Or(row.texto, class.texto), cmp.Or(row.status, class.status)
	e := errorOf(err)
	if e == nil {
		return texto, status
	}
	switch {
	case textosDeCampo[e.Field] != "":
		return cmp.Or(e.texto, textosDeCampo[e.Field]), class.status
	case class.of == ErrNotFound && strings.HasPrefix(string(e.Op), "Contribuyentes."): //nolint:errorlint // the table's own
		texto = textoSinRUC
	case class.of == ErrNotFound && strings.HasPrefix(string(e.Op), "TipoCambio."): //nolint:errorlint // ...
		texto = textoSinTipoCambio
	default:
		_, check := e.toCheck()
		texto = cmp.Or(check, texto)
	}
	return texto, status
}

// toCheck returns what to check after a network error, in English, and the text for a clerk; "" for nothing.
func (e *Error) toCheck() (check, texto string) {
	switch {
	case e.cause == nil, errors.Is(e.Err, errNotSent):
	case roundtrip.NoHost(e.cause):
		return "check the internet connection; if it works, check the base URL", textoSinRed
	case roundtrip.NotTLS(e.cause):
		return "check the base URL", textoDeDireccion
	case roundtrip.WrongTime(e.cause):
		return "check the date and the time of this machine", textoDelReloj
	}
	return "", ""
}

// throttled reports whether a 429, in an error made by hand, asks to slow down.
func (e *Error) throttled() bool {
	return e.StatusCode == http.StatusTooManyRequests && (e.RateLimit == nil || e.RateLimit.left() > 0) && e.RetryAfter <= longestSlowDown
}

// longestSlowDown is the longest Retry-After of a 429 that means "slower", not "tomorrow".
const longestSlowDown = 10 * time.Minute
