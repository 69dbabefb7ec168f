package fiscope

import "encoding/json"

// CodigoCPE is the tax authority's response code, in the vocabulary of this service. The same digits
// mean other things in the authority's own interfaces, so it is never a bare number.
type CodigoCPE string

// The codes (docs/contrato.md, 2.4).
const (
	CodigoAceptado  CodigoCPE = "0"  // exists and is accepted
	CodigoAnulado   CodigoCPE = "2"  // was cancelled
	CodigoEnProceso CodigoCPE = "4"  // not yet processed
	CodigoNoExiste  CodigoCPE = "98" // not found: normal for a boleta of the last 7 days
	CodigoError     CodigoCPE = "99" // the query failed at the authority
)

// Final reports whether the authority answered the question: accepted, cancelled or not found. A
// boleta is informed up to 7 days after its date, so for a recent one "not found" may still change.
func (c CodigoCPE) Final() bool {
	return c == CodigoAceptado || c == CodigoAnulado || c == CodigoNoExiste
}

// Indeterminado reports whether the answer says nothing about the receipt: it is being processed, or
// the query failed.
func (c CodigoCPE) Indeterminado() bool { return c == CodigoEnProceso || c == CodigoError }

// UnmarshalJSON accepts the code as a string or as a number.
func (c *CodigoCPE) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && (raw[0] == '-' || digits(string(raw[:1]))) {
		*c = CodigoCPE(raw)
		return nil
	}
	return json.Unmarshal(raw, (*string)(c))
}

// EstadoCPE is the status of a receipt in words.
type EstadoCPE string

// The values (docs/contrato.md, 3.3).
const (
	EstadoCPEAceptado  EstadoCPE = "Aceptado"
	EstadoCPEAnulado   EstadoCPE = "Anulado"
	EstadoCPEEnProceso EstadoCPE = "En Proceso"
	EstadoCPENoExiste  EstadoCPE = "No Existe"
	EstadoCPEError     EstadoCPE = "Error"
)

// codigos says which code goes with which status (docs/contrato.md, 2.4).
var codigos = map[EstadoCPE]CodigoCPE{
	EstadoCPEAceptado:  CodigoAceptado,
	EstadoCPEAnulado:   CodigoAnulado,
	EstadoCPEEnProceso: CodigoEnProceso,
	EstadoCPENoExiste:  CodigoNoExiste,
	EstadoCPEError:     CodigoError,
}

// codigo returns the code that goes with a status, however that is spelled.
func (e EstadoCPE) codigo() (codigo CodigoCPE, known bool) {
	if codigo, known = codigos[e]; known {
		return codigo, true
	}
	for estado, codigo := range codigos {
		if fold(string(estado)) == fold(string(e)) {
			return codigo, true
		}
	}
	return "", false
}

func (c CodigoCPE) known() bool { return c.Final() || c.Indeterminado() }
