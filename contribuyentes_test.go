package fiscope_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestConsultarReadsTheContractsRecord(t *testing.T) {
	client, s := answers(t, raw(200, contract(t, "consultar_200.json")))

	got, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.NoError(t, err)

	want := &fiscope.Contribuyente{
		RUC:                    rucSUNAT,
		RazonSocial:            "SUPERINTENDENCIA NACIONAL DE ADUANAS Y DE ADMINISTRACION TRIBUTARIA - SUNAT",
		Estado:                 fiscope.EstadoActivo,
		Condicion:              fiscope.CondicionHabido,
		Direccion:              "AV. GARCILASO DE LA VEGA NRO. 1472 LIMA - LIMA - LIMA",
		Ubigeo:                 "150101",
		Departamento:           "LIMA",
		Provincia:              "LIMA",
		Distrito:               "LIMA",
		Tipo:                   "INSTITUCIONES PUBLICAS",
		ActividadEconomica:     "ACTIVIDADES DE LA ADMINISTRACION PUBLICA EN GENERAL",
		FechaInscripcion:       fiscope.NewFecha(1993, time.May, 7),
		FechaInicioActividades: fiscope.NewFecha(1988, time.June, 8),
	}
	assert.Empty(t, cmp.Diff(want, got))

	require.Len(t, s.seen(), 1)
	request := s.seen()[0]
	assert.Equal(t, http.MethodGet, request.method)
	assert.Equal(t, baseURL+"/api/contribuyentes/20131312955", request.url)
	assert.Equal(t, apiKey, request.header.Get("X-API-KEY"))
	assert.Equal(t, "application/json", request.header.Get("Accept"))
	assert.Empty(t, request.body)
}

func TestConsultarRefusesLocallyWhatIsNotElevenDigits(t *testing.T) {
	for name, test := range map[string]struct{ ruc, says string }{
		"empty":             {"", "it has 0"},
		"ten digits":        {"2013131295", "it has 10"},
		"twelve digits":     {"201313129555", "it has 12"},
		"a letter":          {"2013131295A", `character 11 is 'A'`},
		"a line break":      {"20131312955\n", `character 12 is '\n'`},
		"full width digits": {"２０１３１３１２９５５", "character 1 is"},
		"arabic digits":     {"٢٠١٣١٣١٢٩٥٥", "character 1 is"},
		"another path":      {"../tipocambio", "character 1 is '.'"},
		"another operation": {"search", "character 1 is 's'"},
		"an escaped slash":  {"2013131295%2", "character 11 is '%'"},
		"a query":           {"2013131295?", "character 11 is '?'"},
		"a sign":            {"+2013131295", "character 1 is '+'"},
	} {
		t.Run(name, func(t *testing.T) {
			client, s := answers(t, raw(200, contract(t, "consultar_200.json")))
			got, err := client.Contribuyentes.Consultar(t.Context(), test.ruc)
			assert.Nil(t, got)
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			assert.ErrorContains(t, err, "ruc must be exactly 11 digits: ")
			assert.ErrorContains(t, err, test.says)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
			assert.Zero(t, e.Attempts)
			assert.Empty(t, s.seen(), "nothing may be sent")
		})
	}
}

func TestConsultarReadsARecordWithWhatTheRegistryLacks(t *testing.T) {
	record := `{"ruc":"20131312955","razonSocial":"SUNAT","estado":"ANUL.PROVI.-ACTO ILI","condicion":"NO HALLADO NRO.PUERT",
		"direccion":"-","ubigeo":"","tipo":null,"fechaInscripcion":%s,"fechaInicioActividades":"-","otro":{"campo":[1]}}`
	for name, test := range map[string]struct {
		date     string
		want     fiscope.Fecha
		warnings int
	}{
		"a date":          {`"1993-05-07"`, fiscope.NewFecha(1993, time.May, 7), 0},
		"empty":           {`""`, fiscope.Fecha{}, 0},
		"a dash":          {`"-"`, fiscope.Fecha{}, 0},
		"null":            {`null`, fiscope.Fecha{}, 0},
		"another form":    {`"07/05/1993"`, fiscope.Fecha{}, 1},
		"with an hour":    {`"1993-05-07T00:00:00"`, fiscope.Fecha{}, 1},
		"not a day":       {`"1993-02-30"`, fiscope.Fecha{}, 1},
		"a number":        {`19930507`, fiscope.Fecha{}, 1},
		"a whole object":  {`{"year":1993}`, fiscope.Fecha{}, 1},
		"0000 as nothing": {`"0000-00-00"`, fiscope.Fecha{}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, raw(200, strings.Replace(record, "%s", test.date, 1)))
			var resp fiscope.Response
			got, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
			require.NoError(t, err)
			assert.Equal(t, test.want, got.FechaInscripcion)
			assert.Equal(t, fiscope.Estado("ANUL.PROVI.-ACTO ILI"), got.Estado)
			assert.Equal(t, fiscope.Condicion("NO HALLADO NRO.PUERT"), got.Condicion)
			assert.Len(t, resp.Warnings, test.warnings)
		})
	}
}

func TestBuscarEscapesTheTextAndSendsTheLimit(t *testing.T) {
	for name, test := range map[string]struct {
		busqueda fiscope.Busqueda
		query    string
	}{
		"default limit":   {fiscope.Busqueda{RazonSocial: "gloria"}, "razonSocial=gloria"},
		"a limit":         {fiscope.Busqueda{RazonSocial: "gloria", Limite: 50}, "limit=50&razonSocial=gloria"},
		"ampersand":       {fiscope.Busqueda{RazonSocial: "A & B"}, "razonSocial=A+%26+B"},
		"Ñ and accents":   {fiscope.Busqueda{RazonSocial: "ÑANDÚ"}, "razonSocial=%C3%91AND%C3%9A"},
		"percent":         {fiscope.Busqueda{RazonSocial: "100%"}, "razonSocial=100%25"},
		"plus":            {fiscope.Busqueda{RazonSocial: "A+B"}, "razonSocial=A%2BB"},
		"another limit":   {fiscope.Busqueda{RazonSocial: "abc&limit=50"}, "razonSocial=abc%26limit%3D50"},
		"fragment":        {fiscope.Busqueda{RazonSocial: "a#b"}, "razonSocial=a%23b"},
		"blanks around":   {fiscope.Busqueda{RazonSocial: "  ñañ\t"}, "razonSocial=%C3%B1a%C3%B1"},
		"three runes":     {fiscope.Busqueda{RazonSocial: "ñañ"}, "razonSocial=%C3%B1a%C3%B1"},
		"the lowest":      {fiscope.Busqueda{RazonSocial: "abc", Limite: 1}, "limit=1&razonSocial=abc"},
		"quotes and more": {fiscope.Busqueda{RazonSocial: `"O'HIGGINS"; <x>`}, "razonSocial=%22O%27HIGGINS%22%3B+%3Cx%3E"},
	} {
		t.Run(name, func(t *testing.T) {
			client, s := answers(t, raw(200, contract(t, "buscar_200.json")))
			_, err := client.Contribuyentes.Buscar(t.Context(), test.busqueda)
			require.NoError(t, err)
			require.Len(t, s.seen(), 1)
			assert.Equal(t, baseURL+"/api/contribuyentes/search?"+test.query, s.seen()[0].url)
		})
	}
}

func TestBuscarWithoutMatchesIsEmptyAndNotNil(t *testing.T) {
	client, _ := answers(t, raw(200, contract(t, "buscar_200_vacio.json")))
	got, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "zzzzz"})
	require.NoError(t, err)
	assert.NotNil(t, got)
	assert.Empty(t, got)
}

func TestBuscarRefusesLocally(t *testing.T) {
	for name, test := range map[string]struct {
		busqueda fiscope.Busqueda
		is       error
		isNot    error
		says     string
	}{
		"empty":            {fiscope.Busqueda{}, fiscope.ErrSearchTooShort, nil, "it has 0"},
		"two runes":        {fiscope.Busqueda{RazonSocial: "ññ"}, fiscope.ErrSearchTooShort, nil, "it has 2"},
		"blanks":           {fiscope.Busqueda{RazonSocial: "   "}, fiscope.ErrSearchTooShort, nil, "it has 0"},
		"blanks and two":   {fiscope.Busqueda{RazonSocial: " ab "}, fiscope.ErrSearchTooShort, nil, "it has 2"},
		"limit too high":   {fiscope.Busqueda{RazonSocial: "abc", Limite: 51}, fiscope.ErrInvalidRequest, fiscope.ErrSearchTooShort, "it is 51"},
		"limit below zero": {fiscope.Busqueda{RazonSocial: "abc", Limite: -1}, fiscope.ErrInvalidRequest, fiscope.ErrSearchTooShort, "it is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			client, s := answers(t, raw(200, "[]"))
			got, err := client.Contribuyentes.Buscar(t.Context(), test.busqueda)
			assert.Nil(t, got)
			require.ErrorIs(t, err, test.is)
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			if test.isNot != nil {
				require.NotErrorIs(t, err, test.isNot)
			}
			assert.ErrorContains(t, err, test.says)
			assert.Empty(t, s.seen(), "nothing may be sent")
		})
	}
}

func TestContribuyenteMarshalsToTheContractsFields(t *testing.T) {
	for name, target := range map[string]any{
		"consultar_200.json":    new(fiscope.Contribuyente),
		"buscar_200.json":       new([]fiscope.ContribuyenteResumen),
		"buscar_200_vacio.json": new([]fiscope.ContribuyenteResumen),
	} {
		t.Run(name, func(t *testing.T) {
			bytes := contract(t, name)
			require.NoError(t, json.Unmarshal([]byte(bytes), target))
			got, err := json.Marshal(target)
			require.NoError(t, err)
			assert.Equal(t, compact(t, bytes), string(got), "the same members, in the same order, with the same values")
		})
	}
}

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
	skipUnlessCounted(t)
	for _, value := range []string{"ACTIVO", "ANULACION - ERROR SU", "NO APLICABLE X TRAMI", "OTRO"} {
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			fiscope.Estado(value).Known()
			fiscope.Condicion(value).Known()
		}), value)
	}
}
