package fiscope_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestValidarReadsEachState(t *testing.T) {
	for name, want := range map[string]fiscope.ResultadoCPE{
		"aceptado":   {Codigo: fiscope.CodigoAceptado, Estado: fiscope.EstadoCPEAceptado, EsValido: true},
		"anulado":    {Codigo: fiscope.CodigoAnulado, Estado: fiscope.EstadoCPEAnulado},
		"en_proceso": {Codigo: fiscope.CodigoEnProceso, Estado: fiscope.EstadoCPEEnProceso},
		"no_existe":  {Codigo: fiscope.CodigoNoExiste, Estado: fiscope.EstadoCPENoExiste},
		"error":      {Codigo: fiscope.CodigoError, Estado: fiscope.EstadoCPEError},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, raw(200, contract(t, "validar_200_"+name+".json")))
			got, err := client.CPE.Validar(t.Context(), factura, credenciales)
			require.NoError(t, err)
			assert.NotEmpty(t, got.Mensaje)
			want.Mensaje = got.Mensaje
			assert.Empty(t, cmp.Diff(&want, got))
		})
	}
}

func TestValidarSendsTheContractsRequestOnce(t *testing.T) {
	client, s := answers(t, raw(200, contract(t, "validar_200_aceptado.json")))
	_, err := client.CPE.Validar(t.Context(), factura, credenciales)
	require.NoError(t, err)

	require.Len(t, s.seen(), 1)
	request := s.seen()[0]
	assert.Equal(t, http.MethodPost, request.method)
	assert.Equal(t, baseURL+"/api/cpe/validar", request.url)
	assert.Equal(t, apiKey, request.header.Get("X-API-KEY"))
	assert.Equal(t, "application/json", request.header.Get("Content-Type"))
	assert.True(t, compact(t, contract(t, "validar_peticion.json")) == request.body, "the body is not the contract's request")
}

func TestValidarRefusesLocallyAndNamesTheField(t *testing.T) {
	type input struct {
		c fiscope.Comprobante
		s fiscope.CredencialesSOL
	}
	for name, test := range map[string]struct {
		change func(*input)
		says   string
	}{
		"issuer missing":        {func(i *input) { i.c.RUCEmisor = "" }, "rucEmisor must be exactly 11 digits"},
		"issuer short":          {func(i *input) { i.c.RUCEmisor = "2010007097" }, "rucEmisor must be exactly 11 digits"},
		"kind missing":          {func(i *input) { i.c.Tipo = "" }, "tipoComprobante must be 01, 03, 07 or 08"},
		"kind unknown":          {func(i *input) { i.c.Tipo = "02" }, `it is "02"`},
		"kind without its zero": {func(i *input) { i.c.Tipo = "1" }, `it is "1"`},
		"series missing":        {func(i *input) { i.c.Serie = "" }, "serie must be"},
		"series and number":     {func(i *input) { i.c.Serie = "F001-00000123" }, `it is "F001-00000…"`},
		"series in lower case":  {func(i *input) { i.c.Serie = "f001" }, `it is "f001"`},
		"series with a dash":    {func(i *input) { i.c.Serie = "F-01" }, `it is "F-01"`},
		"series with an Ñ":      {func(i *input) { i.c.Serie = "FÑ1" }, "serie must be"},
		"number missing":        {func(i *input) { i.c.Numero = 0 }, "numero must be 1 or more"},
		"number below zero":     {func(i *input) { i.c.Numero = -1 }, "it is -1"},
		"caller missing":        {func(i *input) { i.s.RUC = "" }, "rucSolicitante must be exactly 11 digits"},
		"user missing":          {func(i *input) { i.s.Usuario = "" }, "usuarioSol is empty"},
		"user with a break":     {func(i *input) { i.s.Usuario = "MIUSER01\n" }, "usuarioSol holds control characters"},
		"user with a blank":     {func(i *input) { i.s.Usuario = "MIUSER01 " }, "usuarioSol has blanks or invisible characters around it"},
		"clave with a blank":    {func(i *input) { i.s.Clave = fiscope.NewSecreto(" " + clave) }, "claveSol has blanks or invisible characters around it"},
		"clave missing":         {func(i *input) { i.s.Clave = fiscope.Secreto{} }, "claveSol is empty"},
		"clave behind a mark":   {func(i *input) { i.s.Clave = fiscope.NewSecreto("\ufeff" + clave) }, "claveSol has blanks or invisible characters around it"},
		"clave with a break":    {func(i *input) { i.s.Clave = fiscope.NewSecreto(clave + "\r\n") }, "claveSol holds control characters"},
	} {
		t.Run(name, func(t *testing.T) {
			client, s := answers(t, raw(200, contract(t, "validar_200_aceptado.json")))
			in := input{factura, credenciales}
			test.change(&in)
			got, err := client.CPE.Validar(t.Context(), in.c, in.s)
			assert.Nil(t, got)
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			assert.ErrorContains(t, err, test.says)
			assert.False(t, strings.Contains(err.Error(), clave), "the error shows the clave")
			assert.Empty(t, s.seen(), "nothing may be sent")
		})
	}
}

func TestTheCredentialsOfACallWin(t *testing.T) {
	s := &service{answers: []handler{raw(200, verdict)}}
	client := newClient(t, s, fiscope.WithSOL(fiscope.CredencialesSOL{RUC: rucEmisor, Usuario: "OTRO0001", Clave: fiscope.NewSecreto("otra")}))
	require.NoError(t, second(client.CPE.Validar(t.Context(), factura, credenciales)))
	require.NoError(t, second(client.CPE.Validar(t.Context(), factura, fiscope.CredencialesSOL{})))
	assert.Contains(t, s.seen()[0].body, `"usuarioSol":"MIUSER01"`)
	assert.Contains(t, s.seen()[1].body, `"usuarioSol":"OTRO0001"`)
}

// What is unusual may be right: a series of another kind, a RUC of which a digit seems wrong, letters that are not ASCII.
func TestValidarSendsWhatIsUnusual(t *testing.T) {
	client, s := answers(t, raw(200, verdict))
	unusual, letters := fiscope.Comprobante{RUCEmisor: "20123456789", Tipo: fiscope.TipoFactura, Serie: "B001", Numero: 99_999_999}, credenciales
	letters.Clave = fiscope.NewSecreto("ñandú1é")
	require.NoError(t, second(client.CPE.Validar(t.Context(), unusual, letters)))
	assert.Len(t, s.seen(), 1)
}

func TestCodigoCPE(t *testing.T) {
	for name, test := range map[string]struct {
		raw                  string
		want                 fiscope.CodigoCPE
		final, indeterminado bool
	}{
		"accepted":             {`"0"`, fiscope.CodigoAceptado, true, false},
		"accepted as a number": {`0`, fiscope.CodigoAceptado, true, false},
		"cancelled":            {`"2"`, fiscope.CodigoAnulado, true, false},
		"pending":              {`4`, fiscope.CodigoEnProceso, false, true},
		"not found":            {`98`, fiscope.CodigoNoExiste, true, false},
		"query failed":         {`"99"`, fiscope.CodigoError, false, true},
		"unknown":              {`"0011"`, "0011", false, false},
		"an unknown number":    {`-7`, "-7", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var got fiscope.CodigoCPE
			require.NoError(t, json.Unmarshal([]byte(test.raw), &got))
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.final, got.Final())
			assert.Equal(t, test.indeterminado, got.Indeterminado())
		})
	}
	var c fiscope.CodigoCPE
	require.Error(t, json.Unmarshal([]byte(`true`), &c))
	require.Error(t, json.Unmarshal([]byte(`{}`), &c))
}

func TestWhatContradictsItselfProvesNoCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, slowly(raw(200, change(verdict, "Aceptado", "Error"))), fiscope.WithLenientReading())
		require.NoError(t, validar(t.Context(), client, clave))
		start := time.Now()
		together(3, func(int) { assert.NoError(t, validar(t.Context(), client, clave)) })
		assert.Equal(t, 3*time.Second, time.Since(start), "each goes alone")
	})
}

func TestLenientReadingOfEsValido(t *testing.T) {
	for _, written := range []string{`"true"`, `1`, `"1"`, `"TRUE"`} {
		client := newClient(t, raw(200, change(verdict, `true`, written)), fiscope.WithLenientReading())
		r, err := client.CPE.Validar(t.Context(), factura, credenciales)
		require.NoError(t, err)
		assert.True(t, r.EsValido, written)
	}
}
