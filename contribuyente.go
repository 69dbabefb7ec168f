package fiscope

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/relevance"
)

// Estado is a taxpayer's status. The set is open: the registry has more values than the contract (docs/contract.md,
// 3.1), without accents and cut at 20 characters. Use its methods, which ignore case, accents, repeated blanks and the
// cut, instead of comparing with the constants.
type Estado string

// The values that the contract names (docs/contract.md, 3.1).
const (
	EstadoActivo             Estado = "ACTIVO"
	EstadoBaja               Estado = "BAJA"
	EstadoBajaProvisional    Estado = "BAJA PROVISIONAL"
	EstadoBajaDefinitiva     Estado = "BAJA DEFINITIVA"
	EstadoSuspension         Estado = "SUSPENSIÓN"
	EstadoSuspensionTemporal Estado = "SUSPENSIÓN TEMPORAL"
)

// Activo reports whether the taxpayer is active.
func (e Estado) Activo() bool { return folded(string(e), "activo") }

// Baja reports whether the taxpayer is deregistered, in any form: "BAJA DEFINITIVA", "BAJA DE OFICIO", "BAJA
// MULT.INSCR. Y O", ...
func (e Estado) Baja() bool { return family(string(e), "baja") }

// Suspendido reports whether the taxpayer's activities are suspended.
func (e Estado) Suspendido() bool { return family(string(e), "suspension") }

// known reports whether the contract or the registry has the value, or its family. It is false for "".
func (e Estado) known() bool {
	return e.Activo() || e.Baja() || e.Suspendido() ||
		strings.HasPrefix(relevance.Fold(string(e)), "anul") || // "ANULACION - ERROR SU", "ANUL.PROVI.-ACTO ILI"
		family(string(e), "inhabilitado") || family(string(e), "pendiente") || otrosEstados[relevance.Fold(string(e))]
}

// otrosEstados are the registry's states that belong to no family.
var otrosEstados = wholeAndCut("NUM. INTERNO IDENTIF.", "OTROS OBLIGADOS")

// Condicion is the condition of a taxpayer's fiscal domicile. The set is open (docs/contract.md, 3.2): use its methods,
// as for [Estado].
type Condicion string

// The values that the contract names (docs/contract.md, 3.2).
const (
	CondicionHabido    Condicion = "HABIDO"
	CondicionNoHabido  Condicion = "NO HABIDO"
	CondicionNoHallado Condicion = "NO HALLADO"
	CondicionPendiente Condicion = "PENDIENTE"
)

// Habido reports whether the domicile is verified.
func (c Condicion) Habido() bool { return folded(string(c), "habido") }

// NoHallado reports whether the taxpayer was not found at the domicile, for any reason: "NO HALLADO SE MUDO D", "NO
// HALLADO CERRADO", ...
func (c Condicion) NoHallado() bool { return family(string(c), "no hallado") }

// known reports whether the contract or the registry has the value, or its family. It is true for "-" and false for "".
func (c Condicion) known() bool {
	return c.Habido() || c.NoHallado() || family(string(c), "pendiente") || otrasCondiciones[relevance.Fold(string(c))]
}

// otrasCondiciones are the registry's conditions that belong to no family.
var otrasCondiciones = wholeAndCut(
	"-",
	"AUSENCIA DE PERSONA CAPAZ",
	"DEVUELTO",
	"DOMICILIO CERRADO",
	"NEGATIVA RECEPCION X PERSONA CAPAZ",
	"NO APLICABLE",
	"NO APLICABLE X TRAMITE DE REVERSION",
	"NO EXISTE LA DIRECCION DECLARADA",
	"NO HABIDO",
	"POR VERIFICAR",
)

// registryWidth is the length, in characters, at which the registry cuts both columns.
const registryWidth = 20

// wholeAndCut returns the registry's values, folded, whole and cut at its width.
func wholeAndCut(values ...string) map[string]bool {
	set := make(map[string]bool, 2*len(values))
	for _, value := range values {
		set[relevance.Fold(value)] = true
		set[relevance.Fold(value[:min(len(value), registryWidth)])] = true
	}
	return set
}

// folded reports whether a value is the given one, ignoring case, accents and repeated blanks.
func folded(value, as string) bool {
	var b [64]byte // saves an allocation
	return string(relevance.AppendFold(b[:0], value)) == as
}

// family reports whether a value begins with the given words.
func family(value, words string) bool {
	var b [64]byte
	rest, ok := bytes.CutPrefix(relevance.AppendFold(b[:0], value), []byte(words))
	next, _ := utf8.DecodeRune(rest)
	return ok && !unicode.IsLetter(next)
}

// checkTaxpayer warns of odd but harmless values.
func (a *answer) checkTaxpayer(razonSocial string, estado Estado, condicion Condicion) {
	if nameless(razonSocial) {
		a.warn("a taxpayer without a name: razonSocial is %s", a.quote(razonSocial))
	}
	if !estado.known() {
		a.warn("estado %s is unknown", a.quote(string(estado)))
	}
	if !condicion.known() {
		a.warn("condicion %s is unknown", a.quote(string(condicion)))
	}
}

// nameless reports whether a name is empty or "-".
func nameless(razonSocial string) bool {
	name := strings.TrimSpace(razonSocial)
	return name == "" || name == "-"
}

// Contribuyente is a taxpayer's full record (docs/contract.md, 2.1). The texts are the registry's, mostly in upper
// case; a missing one is "" or "-". It marshals to the contract's JSON.
type Contribuyente struct {
	RUC                    string    `json:"ruc"`         // 11 digits
	RazonSocial            string    `json:"razonSocial"` // business name
	Estado                 Estado    `json:"estado"`
	Condicion              Condicion `json:"condicion"`
	Direccion              string    `json:"direccion"` // full fiscal address
	Ubigeo                 string    `json:"ubigeo"`    // location code, 6 digits
	Departamento           string    `json:"departamento"`
	Provincia              string    `json:"provincia"`
	Distrito               string    `json:"distrito"`
	Tipo                   string    `json:"tipo"`                   // taxpayer type
	ActividadEconomica     string    `json:"actividadEconomica"`     // main economic activity
	FechaInscripcion       Fecha     `json:"fechaInscripcion"`       // zero if missing
	FechaInicioActividades Fecha     `json:"fechaInicioActividades"` // zero if missing
}

// ContribuyenteResumen is a taxpayer as a search shows it (docs/contract.md, 2.2).
type ContribuyenteResumen struct {
	RUC         string    `json:"ruc"`         // 11 digits
	RazonSocial string    `json:"razonSocial"` // business name
	Estado      Estado    `json:"estado"`
	Condicion   Condicion `json:"condicion"`
}

// ActivoYHabido reports whether the taxpayer is active and its domicile verified, on the day of the answer: otherwise
// its receipts endanger the tax credit. It is false if the status or the condition is unknown.
func (c Contribuyente) ActivoYHabido() bool { return c.Estado.Activo() && c.Condicion.Habido() }

// ActivoYHabido is [Contribuyente.ActivoYHabido] for a search result.
func (c ContribuyenteResumen) ActivoYHabido() bool { return c.Estado.Activo() && c.Condicion.Habido() }
