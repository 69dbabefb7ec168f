package fiscope_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope"
)

// spellings returns a value of the registry in every form in which it comes: whole, as the registry cuts
// it, in small letters, and with blanks too many.
func spellings(value string) []string {
	runes := []rune(value)
	cut := string(runes[:min(len(runes), 20)])
	return []string{
		value,
		cut,
		strings.TrimSpace(cut),
		strings.ToLower(value),
		strings.ReplaceAll(value, " ", "  "),
		strings.ReplaceAll(value, " ", "\t"),
		strings.ReplaceAll(value, " ", "\u00a0"),
		" " + value,
		value + "\n",
	}
}

func TestEstado(t *testing.T) {
	type is struct{ activo, baja, suspendido, known bool }
	for value, want := range map[string]is{
		// The contract's.
		string(fiscope.EstadoActivo):             {activo: true, known: true},
		string(fiscope.EstadoBaja):               {baja: true, known: true},
		string(fiscope.EstadoBajaProvisional):    {baja: true, known: true},
		string(fiscope.EstadoBajaDefinitiva):     {baja: true, known: true},
		string(fiscope.EstadoSuspension):         {suspendido: true, known: true},
		string(fiscope.EstadoSuspensionTemporal): {suspendido: true, known: true},
		// The registry's, whole; cut by spellings.
		"BAJA PROV. POR OFICIO":    {baja: true, known: true},
		"SUSPENSION TEMPORAL":      {suspendido: true, known: true},
		"ANUL.PROVI.-ACTO ILICITO": {known: true},
		"BAJA DE OFICIO":           {baja: true, known: true},
		"BAJA MULT.INSCR. Y OTROS": {baja: true, known: true},
		"NUM. INTERNO IDENTIF.":    {known: true},
		"OTROS OBLIGADOS":          {known: true},
		"INHABILITADO-VENT.UNICA":  {known: true},
		"ANULACION - ERROR SUNAT":  {known: true},
		"ANULACION - ACTO ILICITO": {known: true},
		"PENDIENTE DE INI. DE.":    {known: true},
		// Of a family, though in no list.
		"BAJA POR FUSION":         {baja: true, known: true},
		"SUSPENSION":              {suspendido: true, known: true},
		"suspensio\u0301n":        {suspendido: true, known: true},
		"ANULACIÓN":               {known: true},
		"INHABILITADO":            {known: true},
		"BAJA-DEFINITIVA":         {baja: true, known: true},
		"PENDIENTE DE ACTIVACIÓN": {known: true},
		// Of none.
		"ACTıVO":               {},
		"actıvo":               {},
		"INACTIVO":             {},
		"NO ACTIVO":            {},
		"ACTIVOS":              {},
		"ACTIVO BAJA":          {},
		"BAJADA":               {},
		"BAJAÑ":                {},
		"BAJAı":                {},
		"ſUSPENSION":           {},
		"SUSPENSIONES":         {},
		"INHABILITADOS":        {},
		"OTROS OBLIGADOS MAS":  {},
		"OTROS OBLIG":          {},
		"NUM. INTERNO":         {},
		"NUM. INTERNO IDENTIX": {},
		"HABIDO":               {},
		"-":                    {},
		"":                     {},
	} {
		t.Run(value, func(t *testing.T) {
			for _, spelling := range spellings(value) {
				e := fiscope.Estado(spelling)
				got := is{e.Activo(), e.Baja(), e.Suspendido(), e.Known()}
				assert.Equal(t, want, got, "%q", spelling)
			}
		})
	}
}

func TestCondicion(t *testing.T) {
	type is struct{ habido, noHallado, known bool }
	for value, want := range map[string]is{
		// The contract's.
		string(fiscope.CondicionHabido):    {habido: true, known: true},
		string(fiscope.CondicionNoHabido):  {known: true},
		string(fiscope.CondicionNoHallado): {noHallado: true, known: true},
		string(fiscope.CondicionPendiente): {known: true},
		// The registry's, whole; cut by spellings.
		"NO HALLADO SE MUDO DE DOMICILIO":     {noHallado: true, known: true},
		"NO HALLADO FALLECIO":                 {noHallado: true, known: true},
		"NO HALLADO NO EXISTE DOMICILIO":      {noHallado: true, known: true},
		"NO HALLADO CERRADO":                  {noHallado: true, known: true},
		"NO HALLADO NRO.PUERTA NO EXISTE":     {noHallado: true, known: true},
		"NO HALLADO DESTINATARIO DESCONOCIDO": {noHallado: true, known: true},
		"NO HALLADO RECHAZADO":                {noHallado: true, known: true},
		"NO HALLADO OTROS MOTIVOS":            {noHallado: true, known: true},
		"NO APLICABLE":                        {known: true},
		"POR VERIFICAR":                       {known: true},
		"NO EXISTE LA DIRECCION DECLARADA":    {known: true},
		"DOMICILIO CERRADO":                   {known: true},
		"NEGATIVA RECEPCION X PERSONA CAPAZ":  {known: true},
		"AUSENCIA DE PERSONA CAPAZ":           {known: true}, // cut at a blank: 19 characters remain
		"NO APLICABLE X TRAMITE DE REVERSION": {known: true},
		"DEVUELTO":                            {known: true},
		"-":                                   {known: true},
		// Of a family, though in no list.
		"NO HALLADO - SE MUDÓ":             {noHallado: true, known: true},
		"NO EXISTE LA DIRECCIÓN DECLARADA": {known: true},
		// Of none.
		"HABıDO":          {},
		"habıdo":          {},
		"NO HABıDO":       {},
		"HABIDOS":         {},
		"HABIDO NO":       {},
		"NO  HABIDO AUN":  {},
		"NOHABIDO":        {},
		"NO HALLADOS":     {},
		"NO EXISTE LA":    {},
		"NO APLICABLE X":  {},
		"DEVUELTOS":       {},
		"POR VERIFICARSE": {},
		"ACTIVO":          {},
		"--":              {},
		"":                {},
	} {
		t.Run(value, func(t *testing.T) {
			for _, spelling := range spellings(value) {
				c := fiscope.Condicion(spelling)
				got := is{c.Habido(), c.NoHallado(), c.Known()}
				assert.Equal(t, want, got, "%q", spelling)
			}
		})
	}
}

func TestActivoYHabido(t *testing.T) {
	for name, test := range map[string]struct {
		estado    fiscope.Estado
		condicion fiscope.Condicion
		want      bool
	}{
		"both":                  {fiscope.EstadoActivo, fiscope.CondicionHabido, true},
		"both in small letters": {" activo", "Habido ", true},
		"no habido":             {fiscope.EstadoActivo, fiscope.CondicionNoHabido, false},
		"no hallado":            {fiscope.EstadoActivo, "NO HALLADO SE MUDO D", false},
		"to be verified":        {fiscope.EstadoActivo, fiscope.CondicionPendiente, false},
		"de baja":               {fiscope.EstadoBajaDefinitiva, fiscope.CondicionHabido, false},
		"de baja de oficio":     {"BAJA DE OFICIO", fiscope.CondicionHabido, false},
		"suspended":             {fiscope.EstadoSuspension, fiscope.CondicionHabido, false},
		"annulled":              {"ANULACION - ERROR SU", fiscope.CondicionHabido, false},
		"an unknown status":     {"REACTIVADO", fiscope.CondicionHabido, false},
		"an unknown condition":  {fiscope.EstadoActivo, "UBICADO", false},
		"a dash":                {fiscope.EstadoActivo, "-", false},
		"nothing":               {"", "", false},
		"neither":               {fiscope.EstadoBaja, fiscope.CondicionNoHallado, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, fiscope.Contribuyente{Estado: test.estado, Condicion: test.condicion}.ActivoYHabido())
			assert.Equal(t, test.want, fiscope.ContribuyenteResumen{Estado: test.estado, Condicion: test.condicion}.ActivoYHabido())
		})
	}
}

func TestTheRegistrysSpellingIsReadWithoutAllocating(t *testing.T) {
	for _, value := range []string{"ACTIVO", "ANULACION - ERROR SU", "NO APLICABLE X TRAMI", "OTRO"} {
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			fiscope.Estado(value).Known()
			fiscope.Condicion(value).Known()
		}), value)
	}
}
