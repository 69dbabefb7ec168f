package fiscope

// textos are what a clerk may read of each class of [ErrorClass].
var textos = map[string]string{
	"not_found":               "No se encontró lo que se buscaba. Revise el dato e intente de nuevo.",
	"not_yet_published":       "El tipo de cambio de esa fecha todavía no se publica. Suele salir después de las 17:00 de cada día hábil: intente más tarde.",
	"search_too_short":        "El texto para buscar es muy corto. Escriba 3 letras o más.",
	"invalid_request":         "Hay un dato que no es válido. Revíselo e intente de nuevo.",
	"sol_credentials_blocked": "El usuario o la clave SOL fueron rechazados antes y no se enviaron otra vez, para que SUNAT no bloquee al usuario. Corríjalos antes de intentar de nuevo.",
	"invalid_sol_credentials": "SUNAT rechazó el usuario o la clave SOL. Corríjalos antes de intentar de nuevo: varios rechazos bloquean al usuario.",
	"unauthorized":            "El servicio de consultas rechazó el acceso de este sistema. Avise a quien lo administra.",
	"quota_exceeded":          "Por ahora no quedan consultas disponibles. Intente más tarde, o avise a quien administra este sistema.",
	"unavailable":             "El servicio de consultas no responde en este momento. Intente de nuevo en unos minutos.",
	"malformed_response":      "El servicio de consultas respondió algo que no se puede usar. Avise a quien administra este sistema.",
	"redirect":                "El servicio de consultas no está donde se le buscó. Avise a quien administra este sistema.",
	"canceled":                "La consulta fue cancelada antes de terminar.",
	"deadline_exceeded":       "Se acabó el tiempo antes de que terminara la consulta. Intente de nuevo.",
	"other":                   "Ocurrió un problema que no se esperaba. Avise a quien administra este sistema.",
}

// TextoParaUsuario returns one or two short sentences in Spanish that may be shown to a clerk: what happened, and
// what to do. There is one text for each class of [ErrorClass], and "" for nil; an error that is none of this
// package's has one too. It holds nothing of the error itself, and so no credential, no RUC and no text of the
// service: the error's own text is for a log.
func TextoParaUsuario(err error) string { return textos[ErrorClass(err)] }
