package fiscope

import "strings"

// Estado is a taxpayer's status. The set is open: the contract gives two lists of spellings
// (service.md, 3.1) and the registry has more, without accents and cut at 20 characters. Compare with
// its methods, which know them all, rather than with the constants.
type Estado string

// The values that the contract names (service.md, 3.1).
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

// Baja reports whether the taxpayer is deregistered, provisionally, definitively or ex officio.
func (e Estado) Baja() bool { return family(string(e), "BAJA") }

// Suspendido reports whether the taxpayer's activities are suspended.
func (e Estado) Suspendido() bool { return family(string(e), "SUSPENSION") }

// Condicion is the condition of a taxpayer's fiscal domicile. The set is open: the registry has more
// values than the contract (service.md, 3.2). Compare with its methods rather than with the constants.
type Condicion string

// The values that the contract names (service.md, 3.2).
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

// family reports whether the first words of a value are those given.
func family(value, words string) bool {
	rest, ok := strings.CutPrefix(fold(value), words)
	return ok && (rest == "" || rest[0] == ' ')
}

var withoutAccents = strings.NewReplacer("Á", "A", "É", "E", "Í", "I", "Ó", "O", "Ú", "U", "Ü", "U", "\u0301", "", "\u0308", "")

// fold returns a value as the registry writes it: upper case, without accents, words apart by one space.
func fold(s string) string {
	return withoutAccents.Replace(strings.ToUpper(strings.Join(strings.Fields(s), " ")))
}
