package fiscope

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Estado is a taxpayer's status. The set is open: the contract gives two lists of spellings
// (docs/contrato.md, 3.1) and the registry has more, without accents and cut at 20 characters. Compare with
// its methods, which know them all, rather than with the constants. They read a value without regard to
// case, accents and repeated blanks, whole or cut.
type Estado string

// The values that the contract names (docs/contrato.md, 3.1).
const (
	EstadoActivo             Estado = "ACTIVO"
	EstadoBaja               Estado = "BAJA"
	EstadoBajaProvisional    Estado = "BAJA PROVISIONAL"
	EstadoBajaDefinitiva     Estado = "BAJA DEFINITIVA"
	EstadoSuspension         Estado = "SUSPENSIÓN"
	EstadoSuspensionTemporal Estado = "SUSPENSIÓN TEMPORAL"
)

// Activo reports whether the taxpayer is active.
func (e Estado) Activo() bool { return fold(string(e)) == "ACTIVO" }

// Baja reports whether the taxpayer is deregistered, provisionally, definitively or ex officio: "BAJA
// DEFINITIVA", "BAJA DE OFICIO", "BAJA MULT.INSCR. Y O", ...
func (e Estado) Baja() bool { return family(string(e), "BAJA") }

// Suspendido reports whether the taxpayer's activities are suspended.
func (e Estado) Suspendido() bool { return family(string(e), "SUSPENSION") }

// Anulado reports whether the registration is annulled, provisionally or for good, by an error of the
// authority or an unlawful act: "ANULACION - ERROR SU", "ANUL.PROVI.-ACTO ILI", ...
func (e Estado) Anulado() bool { return strings.HasPrefix(fold(string(e)), "ANUL") }

// Inhabilitado reports whether the taxpayer is disqualified: "INHABILITADO-VENT.UN".
func (e Estado) Inhabilitado() bool { return family(string(e), "INHABILITADO") }

// Pendiente reports whether the taxpayer has yet to begin: "PENDIENTE DE INI. DE".
func (e Estado) Pendiente() bool { return family(string(e), "PENDIENTE") }

// known reports whether the value is of the contract's or the registry's vocabulary, or of one of its
// families. The empty one is not.
func (e Estado) known() bool {
	return e.Activo() || e.Baja() || e.Suspendido() || e.Anulado() || e.Inhabilitado() || e.Pendiente() ||
		otrosEstados[fold(string(e))]
}

// otrosEstados are the registry's states that belong to no family.
var otrosEstados = wholeAndCut("NUM. INTERNO IDENTIF.", "OTROS OBLIGADOS")

// Condicion is the condition of a taxpayer's fiscal domicile. The set is open: the registry has more
// values than the contract (docs/contrato.md, 3.2), without accents and cut at 20 characters. Compare with
// its methods rather than with the constants. They read a value as those of [Estado] do.
type Condicion string

// The values that the contract names (docs/contrato.md, 3.2).
const (
	CondicionHabido    Condicion = "HABIDO"
	CondicionNoHabido  Condicion = "NO HABIDO"
	CondicionNoHallado Condicion = "NO HALLADO"
	CondicionPendiente Condicion = "PENDIENTE"
)

// Habido reports whether the domicile is verified.
func (c Condicion) Habido() bool { return fold(string(c)) == "HABIDO" }

// NoHabido reports whether the domicile could not be verified, which endangers the tax credit of the
// taxpayer's receipts.
func (c Condicion) NoHabido() bool { return fold(string(c)) == "NO HABIDO" }

// NoHallado reports whether the taxpayer was not found at the domicile, for whatever reason the
// registry adds: "NO HALLADO SE MUDO D", "NO HALLADO CERRADO", ...
func (c Condicion) NoHallado() bool { return family(string(c), "NO HALLADO") }

// Pendiente reports whether the domicile has yet to be verified: "PENDIENTE" (docs/contrato.md, 3.2) and the
// registry's "POR VERIFICAR".
func (c Condicion) Pendiente() bool {
	return family(string(c), "PENDIENTE") || fold(string(c)) == "POR VERIFICAR"
}

// known reports whether the value is of the contract's or the registry's vocabulary, or of one of its
// families. The registry's "-" is; the empty one is not.
func (c Condicion) known() bool {
	return c.Habido() || c.NoHabido() || c.NoHallado() || c.Pendiente() || otrasCondiciones[fold(string(c))]
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
)

// registryWidth is where the registry cuts both columns, in characters.
const registryWidth = 20

// wholeAndCut returns the values, which are in the registry's spelling, whole and as it cuts them.
func wholeAndCut(values ...string) map[string]bool {
	set := make(map[string]bool, 2*len(values))
	for _, value := range values {
		set[value] = true
		set[strings.TrimSpace(value[:min(len(value), registryWidth)])] = true
	}
	return set
}

// family reports whether the first words of a value are those given.
func family(value, words string) bool {
	rest, ok := strings.CutPrefix(fold(value), words)
	next, _ := utf8.DecodeRuneInString(rest)
	return ok && !unicode.IsLetter(next)
}

var withoutAccents = strings.NewReplacer("Á", "A", "É", "E", "Í", "I", "Ó", "O", "Ú", "U", "Ü", "U", "\u0301", "", "\u0308", "")

// fold returns a value as the registry writes it: upper case, without accents, words apart by one space.
func fold(s string) string {
	if folded(s) {
		return s
	}
	return withoutAccents.Replace(strings.Map(upper, strings.Join(strings.Fields(s), " ")))
}

// upper returns the capital of a letter. That of a dotless i or a long s stays as it is: an I or an S would
// make it another letter.
func upper(r rune) rune {
	if capital := unicode.ToUpper(r); r < utf8.RuneSelf || capital >= utf8.RuneSelf {
		return capital
	}
	return r
}

// folded reports whether s is written so already, as nearly all values are: it costs no allocation.
func folded(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || 'a' <= c && c <= 'z' || c == ' ' && last == ' ' {
			return false
		}
		last = s[i]
	}
	return s == "" || last != ' '
}
