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

func TestBuscarReadsTheContractsArray(t *testing.T) {
	client, _ := answers(t, raw(200, contract(t, "buscar_200.json")))
	got, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "peru"})
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff([]fiscope.ContribuyenteResumen{
		{RUC: "20100047218", RazonSocial: "BANCO DE CREDITO DEL PERU", Estado: "ACTIVO", Condicion: "HABIDO"},
		{RUC: "20100070970", RazonSocial: "SUPERMERCADOS PERUANOS SOCIEDAD ANONIMA", Estado: "ACTIVO", Condicion: "HABIDO"},
		{RUC: "20100000131", RazonSocial: "COMPAÑIA PERUANA DE MUESTRA S.A.C.", Estado: "BAJA DEFINITIVA", Condicion: "NO HABIDO"},
	}, got))
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

func TestUnknownValuesSurviveARoundTrip(t *testing.T) {
	const stored = `{"ruc":"20131312955","razonSocial":"A \u0026 B","estado":"OTROS OBLIGADOS","condicion":"DEVUELTO"}`
	var c fiscope.ContribuyenteResumen
	require.NoError(t, json.Unmarshal([]byte(stored), &c))
	got, err := json.Marshal(c)
	require.NoError(t, err)
	assert.Equal(t, stored, string(got))
}
