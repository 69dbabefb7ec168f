package fiscope

import (
	"errors"
	"net/http"
)

// textos are what a clerk may read of each class of [ErrorClass].
var textos = map[string]string{
	"not_found":               "No se encontró lo que se buscaba: revise el dato e intente de nuevo.",
	"not_yet_published":       "El tipo de cambio de esa fecha todavía no se publica; suele salir después de las 17:00 de cada día hábil: intente más tarde.",
	"search_too_short":        "El texto para buscar es muy corto: escriba 3 letras o más.",
	"invalid_request":         "Hay un dato que no es válido: revíselo e intente de nuevo.",
	"sol_credentials_blocked": "El usuario o la clave SOL fueron rechazados antes y no se enviaron otra vez, para que SUNAT no bloquee al usuario: corríjalos antes de intentar de nuevo.",
	"invalid_sol_credentials": "SUNAT rechazó el usuario o la clave SOL: corríjalos antes de intentar de nuevo, pues varios rechazos bloquean al usuario.",
	"unauthorized":            "El servicio de consultas rechazó el acceso de este sistema: avise a quien lo administra.",
	"quota_exceeded":          "Por ahora no quedan consultas disponibles: intente más tarde, o avise a quien administra este sistema.",
	"unavailable":             "El servicio de consultas no responde en este momento: intente de nuevo en unos minutos.",
	"malformed_response":      "El servicio de consultas respondió algo que no se puede usar: avise a quien administra este sistema.",
	"redirect":                "El servicio de consultas no está donde se le buscó: avise a quien administra este sistema.",
	"canceled":                "La consulta fue cancelada antes de terminar.",
	"deadline_exceeded":       "Se acabó el tiempo antes de que terminara la consulta: intente de nuevo.",
	"other":                   "Ocurrió un problema que no se esperaba: avise a quien administra este sistema.",
}

// What a clerk may read where the class alone would mislead him.
const (
	textoDeMalUso  = "La consulta no se hizo como el servicio la pide: avise a quien administra este sistema."
	textoMasLento  = "El servicio de consultas pide ir más despacio: intente de nuevo en unos minutos."
	textoDeUnaDuda = "El servicio rechazó antes una consulta igual sin decir si fue por el acceso de este sistema o por la clave SOL: avise a quien lo administra."
)

// TextoParaUsuario returns one sentence in Spanish that may be shown to a clerk: what happened, and what to do.
// It goes by the class of [ErrorClass], and says besides who can do something: what no input cures is for whoever
// administers the system, and so is a 401 that may be of the service's key as well as of the clave SOL. It is ""
// for nil; an error that is none of this package's has a text too. It holds nothing of the error itself, and so no
// credential, no RUC and no text of the service: the error's own text is for a log.
func TextoParaUsuario(err error) string {
	class := ErrorClass(err)
	if class == "other" { // also one that cannot be asked
		return textos[class]
	}
	var e *Error
	switch known := errors.As(err, &e) && e != nil; {
	case class == "invalid_request" && (errors.Is(err, errMisuse) || known && !aboutInput(e.StatusCode)):
		return textoDeMalUso
	case class == "quota_exceeded" && known && e.throttled():
		return textoMasLento
	case class == "sol_credentials_blocked" && known && e.mayBeKey:
		return textoDeUnaDuda // what another process was refused for is not known here
	}
	return textos[class]
}

// aboutInput reports whether an answer with this status, 0 for none, is about what was typed.
func aboutInput(status int) bool {
	return status == 0 || status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusUnprocessableEntity
}
