package mockserver_test

import (
	"compress/gzip"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValidationReportsTheStateInsideA200(t *testing.T) {
	_, api := start(t)
	for name, c := range map[string]struct{ numero, codigo, estado, esValido string }{
		"accepted":             {"123", "0", "Aceptado", "true"},
		"cancelled":            {"124", "2", "Anulado", "false"},
		"pending":              {"125", "4", "En Proceso", "false"},
		"not found, known so":  {"126", "98", "No Existe", "false"},
		"not found by absence": {"999999", "98", "No Existe", "false"},
		"query failed":         {"127", "99", "Error", "false"},
	} {
		t.Run(name, func(t *testing.T) {
			r := api.validar(cpe(t, "numero", c.numero))
			require.Equal(t, 200, r.status, r.body)
			m := r.object(t)
			assert.Len(t, m, 4)
			assert.Equal(t, c.codigo, m["codigo"])
			assert.Equal(t, c.estado, m["estado"])
			assert.NotEmpty(t, m["mensaje"])
			assert.Contains(t, r.body, `"esValido":`+c.esValido)
		})
	}
	t.Run("the raw answer", func(t *testing.T) {
		assert.Equal(t, `{"codigo":"0","mensaje":"El comprobante existe y está aceptado.","estado":"Aceptado","esValido":true}`+"\n", api.validar(cpe(t)).body)
	})
}

// cpeFrom replaces one field's raw value in a body made by cpe.
func cpeFrom(body string, field []string) string {
	start := strings.Index(body, `"`+field[0]+`":`) + len(field[0]) + 3
	end := start + strings.IndexAny(body[start:], ",}")
	return body[:start] + field[1] + body[end:]
}

func TestValidationRequiresSevenFields(t *testing.T) {
	_, api := start(t)
	for _, field := range []string{"rucEmisor", "tipoComprobante", "serie", "numero", "rucSolicitante", "usuarioSol", "claveSol"} {
		for name, value := range map[string]string{"missing": "", "null": "null", "empty": `""`, "blank": `"  "`} {
			if field == "numero" && (name == "empty" || name == "blank") {
				continue // a text: of the wrong type
			}
			t.Run(field+" "+name, func(t *testing.T) {
				r := api.validar(cpe(t, field, value))
				r.isError(t, 400, "MISSING_FIELDS")
				assert.Contains(t, r.body, ": "+field+";")
			})
		}
		wrong := []string{"true", "{}", "[1]", `{"a":"b"}`}
		if field == "numero" {
			wrong = append(wrong, `"123"`, `""`)
		} else {
			wrong = append(wrong, "20100070970")
		}
		for _, value := range wrong {
			t.Run(field+" "+value, func(t *testing.T) {
				r := api.validar(cpe(t, field, value))
				r.isError(t, 400, "INVALID_FIELD")
				assert.Contains(t, r.body, field)
			})
		}
	}
	t.Run("all of them are named", func(t *testing.T) {
		r := api.validar("{}")
		r.isError(t, 400, "MISSING_FIELDS")
		assert.Contains(t, r.body, "rucEmisor, tipoComprobante, serie, numero, rucSolicitante, usuarioSol, claveSol;")
	})
	t.Run("names are exact", func(t *testing.T) {
		api.validar(strings.Replace(cpe(t), `"rucEmisor"`, `"RUCEmisor"`, 1)).isError(t, 400, "MISSING_FIELDS")
	})
	t.Run("others are ignored", func(t *testing.T) {
		assert.Equal(t, 200, api.validar(strings.Replace(cpe(t), "{", `{"monto":12.5,`, 1)).status)
	})
}

func TestValidationRefusesValues(t *testing.T) {
	_, api := start(t)
	for name, c := range map[string]struct{ field, value, code string }{
		"issuer of 10":       {"rucEmisor", `"2010007097"`, "INVALID_RUC"},
		"issuer of letters":  {"rucEmisor", `"2010007097X"`, "INVALID_RUC"},
		"issuer with blanks": {"rucEmisor", `" 20100070970"`, "INVALID_RUC"},
		"other digits":       {"rucEmisor", `"２０１０００７０９７０"`, "INVALID_RUC"},
		"caller of 12":       {"rucSolicitante", `"201313129555"`, "INVALID_RUC"},
		"type 02":            {"tipoComprobante", `"02"`, "INVALID_FIELD"},
		"type 1":             {"tipoComprobante", `"1"`, "INVALID_FIELD"},
		"number 0":           {"numero", "0", "INVALID_FIELD"},
		"number -1":          {"numero", "-1", "INVALID_FIELD"},
		"number 1.5":         {"numero", "1.5", "INVALID_FIELD"},
		"number 1.0":         {"numero", "1.0", "INVALID_FIELD"},
		"number 1e2":         {"numero", "1e2", "INVALID_FIELD"},
		"number too large":   {"numero", "99999999999999999999", "INVALID_FIELD"},
	} {
		t.Run(name, func(t *testing.T) {
			r := api.validar(cpe(t, c.field, c.value))
			r.isError(t, 400, c.code)
			assert.Contains(t, r.body, c.field)
		})
	}
}

func TestValidationBody(t *testing.T) {
	_, api := start(t)
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"empty":           {"", 400, "MOCK_INVALID_JSON"},
		"text":            {"hola", 400, "MOCK_INVALID_JSON"},
		"array":           {"[" + cpe(t) + "]", 400, "MOCK_INVALID_JSON"},
		"null":            {"null", 400, "MOCK_INVALID_JSON"},
		"number":          {"7", 400, "MOCK_INVALID_JSON"},
		"truncated":       {cpe(t)[:100], 400, "MOCK_INVALID_JSON"},
		"trailing object": {cpe(t) + cpe(t), 400, "MOCK_INVALID_JSON"},
		"trailing text":   {cpe(t) + "x", 400, "MOCK_INVALID_JSON"},
		"form":            {"rucEmisor=20100070970", 400, "MOCK_INVALID_JSON"},
		"latin-1":         {cpe(t, "claveSol", "\"\xd1and\xfa\""), 400, "MOCK_INVALID_JSON"},
		"byte order mark": {"\ufeff" + cpe(t), 400, "MOCK_INVALID_JSON"},
		"a field twice":   {`{"numero":1,` + cpe(t)[1:], 400, "MOCK_INVALID_JSON"},
		"another twice":   {`{"canario":1,"canario":{"a":1,"a":2},` + cpe(t)[1:], 400, "MOCK_INVALID_JSON"},
		"too large":       {`{"x":"` + strings.Repeat("x", 64<<10) + `"}`, 413, "MOCK_BODY_TOO_LARGE"},
		"deep":            {strings.Repeat("[", 20_000), 400, "MOCK_INVALID_JSON"},
	} {
		t.Run(name, func(t *testing.T) { api.validar(c.body).isError(t, c.status, c.code) })
	}
	assert.Contains(t, api.validar(`{"numero":1,}`).body, "(error en el byte 13)", "the first that no JSON has there")
	t.Run("space around", func(t *testing.T) {
		assert.Equal(t, 200, api.validar("\r\n "+cpe(t)+"\n").status)
	})
	t.Run("just small enough", func(t *testing.T) {
		body := cpe(t)
		assert.Equal(t, 200, api.validar(body+strings.Repeat(" ", 64<<10-len(body))).status)
		api.validar(body+strings.Repeat(" ", 64<<10-len(body)+1)).isError(t, 413, "MOCK_BODY_TOO_LARGE")
	})
}

func TestValidationContentType(t *testing.T) {
	_, api := start(t)
	for media, says := range map[string]string{ // "" where it is taken
		"application/json":                   "",
		"application/json; charset=utf-8":    "",
		"Application/JSON":                   "",
		" ":                                  "falta el encabezado Content-Type",
		"text/plain":                         "llegó con Content-Type «text/plain»",
		"application/x-www-form-urlencoded":  "como formulario, con Content-Type application/x-www-form-urlencoded",
		"multipart/form-data; boundary=abcd": "como formulario, con Content-Type multipart/form-data",
		"application/jsonl":                  "«application/jsonl»",
		"application/problem+json":           "«application/problem+json»",
		"canario/4711":                       "no se puede leer",
		"json; canario":                      "«json»",
	} {
		t.Run(media, func(t *testing.T) {
			r := api.send("POST", "/api/cpe/validar", cpe(t), "Content-Type", media)
			if says == "" {
				assert.Equal(t, 200, r.status, r.body)
				return
			}
			r.isError(t, 415, "MOCK_MEDIA_TYPE")
			assert.Contains(t, r.body, says)
			assert.NotContains(t, r.body, "canario")
		})
	}
}

func TestValidationCompressed(t *testing.T) {
	srv, api := start(t)
	var zipped strings.Builder
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(cpe(t)))
	require.NoError(t, z.Close())
	r := api.send("POST", "/api/cpe/validar", zipped.String(), "Content-Type", "application/json", "Content-Encoding", "gzip")
	r.isError(t, 415, "MOCK_MEDIA_TYPE")
	assert.Contains(t, r.body, "comprimido, con Content-Encoding «gzip»")
	api.validar(zipped.String()).isError(t, 400, "MOCK_INVALID_JSON")
	assert.Equal(t, 200, api.send("POST", "/api/cpe/validar", cpe(t), "Content-Type", "application/json", "Content-Encoding", "identity").status)
	srv.AssertSOLAttempts(t, mockserver.RUCSolicitante, mockserver.UsuarioSOL, 1)
}

func TestTaxAuthorityDown(t *testing.T) {
	srv, api := start(t, mockserver.WithSUNATDown())
	for range 5 { // never an attempt, even with a wrong clave
		api.validar(cpe(t, "claveSol", `"mala"`)).isError(t, 500, "SUNAT_UNAVAILABLE")
	}
	api.validar(cpe(t, "numero", "0")).isError(t, 400, "INVALID_FIELD")
	assert.Equal(t, 200, api.get(lookup).status, "the other operations do not need it")
	srv.SetSUNATDown(false)
	assert.Equal(t, 200, api.validar(cpe(t)).status)
	srv.SetSUNATDown(true)
	api.validar(cpe(t)).isError(t, 500, "SUNAT_UNAVAILABLE")
}

// The answer to a blocked user may be another one, and counts as it counts by default.
func TestAnswersToSOLUsers(t *testing.T) {
	a := mockserver.DefaultAssumptions()
	a.BlockedSOL = mockserver.Refusal{Status: 423, Code: "BLOQUEADO"}
	srv, api := start(t, mockserver.WithAssumptions(a))
	principal := cpe(t, "usuarioSol", `"`+mockserver.UsuarioPrincipal+`"`)
	for range 4 { // blocked or not, a principal is one
		api.validar(principal).isError(t, 401, wrongSOL)
	}
	api.validar(cpe(t, "usuarioSol", `"NADIE"`)).isError(t, 401, wrongSOL)
	api.validar(cpe(t, "rucSolicitante", `"20100070970"`)).isError(t, 401, wrongSOL)
	for range 3 { // the one that blocks is still a wrong clave
		api.validar(cpe(t, "claveSol", `"mala"`)).isError(t, 401, "INVALID_SOL_CREDENTIALS")
	}
	api.validar(cpe(t)).isError(t, 423, "BLOQUEADO")
	srv.AssertSOLAttempts(t, mockserver.RUCSolicitante, mockserver.UsuarioSOL, 4)
	require.NoError(t, srv.Control().UnblockSOL(mockserver.RUCSolicitante, mockserver.UsuarioSOL))
	assert.Equal(t, 200, api.validar(cpe(t)).status)
	var results []mockserver.SOLResult
	for _, r := range srv.Requests() {
		results = append(results, r.SOL)
	}
	assert.Equal(t, []mockserver.SOLResult{
		"principal", "principal", "principal", "blocked", "unknown", "unknown", "wrong", "wrong", "wrong", "blocked", "accepted",
	}, results, "the journal has what it was, whatever was answered")
}

func TestABOMIsCalledByItsName(t *testing.T) {
	_, api := start(t)
	r := api.validar("\ufeff" + cpe(t))
	r.isError(t, 400, "MOCK_INVALID_JSON")
	assert.Contains(t, r.body, "empieza con un BOM")
}

func TestAFieldThatIsTwiceIsNamed(t *testing.T) {
	srv, api := start(t)
	assert.Contains(t, api.validar(`{"numero":1,`+cpe(t)[1:]).body, "numero está dos veces")
	assert.NotContains(t, api.validar(`{"canario":1,"canario":1,`+cpe(t)[1:]).body, "canario")
	assert.Equal(t, 200, api.validar(`{"otra":{"a":1,"a":2},"Numero":7,`+cpe(t)[1:]).status, "what is not read may be anything")
	srv.AssertSOLAttempts(t, mockserver.RUCSolicitante, mockserver.UsuarioSOL, 1)
}
