package mockserver_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSearchAnswersSummaries(t *testing.T) {
	_, api := start(t)
	r := api.get("/api/contribuyentes/search?razonSocial=interbank")
	require.Equal(t, 200, r.status)
	assert.Equal(t, `[{"ruc":"20100053455","razonSocial":"BANCO INTERNACIONAL DEL PERU-INTERBANK","estado":"ACTIVO","condicion":"HABIDO"}]`+"\n", r.body)
	none := api.get("/api/contribuyentes/search?razonSocial=nadie+se+llama+asi")
	assert.Equal(t, 200, none.status)
	assert.Equal(t, "[]\n", none.body, "an empty array, never null")
}

func TestSearchMatching(t *testing.T) {
	_, api := start(t)
	for name, c := range map[string]struct{ text, ruc string }{
		"case":                {"LuZ dEl SuR", "20331898008"},
		"accents in the text": {"súperintendencia", "20131312955"},
		"accents in the data": {"pena & nunez", "20999990011"},
		"trade name":          {"serpost", "20256136865"},
		"trade name only":     {"plaza vea", "20100070970"},
		"percent":             {"100% amaz", "20999990071"},
		"three runes":         {"ñañ", "10999999994"},
		"trimmed":             {"  backus  ", "20100113610"},
		"inner spaces":        {"luz   del", "20331898008"},
	} {
		t.Run(name, func(t *testing.T) {
			r := api.get("/api/contribuyentes/search?razonSocial=" + url.QueryEscape(c.text))
			require.Equal(t, 200, r.status, r.body)
			assert.Contains(t, r.body, `"ruc":"`+c.ruc+`"`)
		})
	}
}

func TestSearchTextIsAtLeastThreeCharacters(t *testing.T) {
	_, api := start(t)
	for name, query := range map[string]string{
		"absent":       "",
		"empty":        "?razonSocial=",
		"two":          "?razonSocial=ab",
		"two with ñ":   "?razonSocial=%C3%B1a",
		"three spaces": "?razonSocial=+++",
		"wrong name":   "?nombre=gloria",
		"only accents": "?razonSocial=%CC%81%CC%81%CC%81",
		"two, many":    "?razonSocial=a%CC%81%CC%81b%CC%81",
	} {
		t.Run(name, func(t *testing.T) {
			api.get("/api/contribuyentes/search"+query).isError(t, 400, "SEARCH_TOO_SHORT")
		})
	}
	assert.Equal(t, 200, api.get("/api/contribuyentes/search?razonSocial=abc").status)
	assert.Equal(t, 200, api.get("/api/contribuyentes/search?razonSocial=n%CC%83an").status, "three with a combining tilde")
}

func TestSearchLimit(t *testing.T) {
	var many []mockserver.Contribuyente
	for i := range 60 {
		many = append(many, mockserver.Contribuyente{RUC: fmt.Sprintf("209000000%02d", i), RazonSocial: "REPETIDA"})
	}
	_, api := start(t, mockserver.WithContribuyentes(many...))
	for name, c := range map[string]struct {
		query string
		want  int // 0: refused
	}{
		"default":        {"", 10},
		"one":            {"&limit=1", 1},
		"fifty":          {"&limit=50", 50},
		"zero":           {"&limit=0", 0},
		"fifty-one":      {"&limit=51", 0},
		"signed":         {"&limit=%2B5", 0},
		"not a number":   {"&limit=diez", 0},
		"empty":          {"&limit=", 0},
		"exponent":       {"&limit=1e1", 0},
		"space":          {"&limit=5+", 0},
		"leading zero":   {"&limit=05", 5},
		"unknown ignore": {"&pagina=2", 10},
	} {
		t.Run(name, func(t *testing.T) {
			r := api.get("/api/contribuyentes/search?razonSocial=repetida" + c.query)
			if c.want == 0 {
				r.isError(t, 400, "INVALID_LIMIT")
				return
			}
			require.Equal(t, 200, r.status)
			assert.Equal(t, c.want, strings.Count(r.body, `"ruc"`))
		})
	}
}

func TestSearchQueryThatCannotBeRead(t *testing.T) {
	_, api := start(t)
	for name, c := range map[string]struct{ query, code string }{
		"bad escape":      {"razonSocial=100%", "MOCK_INVALID_QUERY"},
		"semicolon":       {"razonSocial=abc;limit=5", "MOCK_INVALID_QUERY"},
		"latin-1":         {"razonSocial=PE%D1A", "MOCK_INVALID_QUERY"},
		"text twice":      {"razonSocial=abc&razonSocial=def", "MOCK_REPEATED_PARAM"},
		"limit twice":     {"razonSocial=abc&limit=5&limit=6", "MOCK_REPEATED_PARAM"},
		"bare ampersand":  {"razonSocial=A+&+B", "SEARCH_TOO_SHORT"},
		"short and limit": {"razonSocial=ab&limit=99", "SEARCH_TOO_SHORT"},
	} {
		t.Run(name, func(t *testing.T) {
			api.get("/api/contribuyentes/search?"+c.query).isError(t, 400, c.code)
		})
	}
}

func TestSearchOrder(t *testing.T) {
	c := func(ruc, razon, comercial, estado string) mockserver.Contribuyente {
		return mockserver.Contribuyente{RUC: ruc, RazonSocial: razon, NombreComercial: comercial, Estado: estado}
	}
	// In the order of the answer; the RUCs run the other way, so that they decide only between equals.
	data := []mockserver.Contribuyente{
		c("20000000099", "GLORIA", "", "ACTIVO"),
		c("20000000098", "ALGO QUE SE LLAMA DE OTRO MODO", "Glória", "ACTIVO"),
		c("20000000094", "GLORIA S.A.", "", "ACTIVO"),
		c("20000000095", "GLORIA S.A.", "", "ACTIVO"),
		c("20000000093", "GLORIA SUR S.A.C.", "LA MAGLORIA", "ACTIVO"),
		c("20000000092", "INVERSIONES LA GLORIA S.A.", "GLORIANA", "ACTIVO"),
		c("20000000091", "GLORIA S.A.", "", "BAJA DEFINITIVA"),
		c("20000000090", "LA GLORIA", "", "ACTIVO"),
		c("20000000089", "LACTEOS GLORIA S.A.", "", "ACTIVO"),
		c("20000000088", "MAGLORIA Y GLORIA EN SEGUNDO LUGAR", "", "ACTIVO"),
		c("20000000087", "EL-GLORIA", "", "SUSPENSIÓN TEMPORAL"),
		c("20000000086", "MAGLORIANA S.A.", "", "ACTIVO"),
	}
	want := make([]string, len(data))
	for i, d := range data {
		want[i] = d.RUC
	}
	slices.Reverse(data)
	data = append(data, c("20000000001", "NADA QUE VER", "", "ACTIVO"))
	_, base := start(t, mockserver.WithoutDefaultData(), mockserver.WithContribuyentes(data...))
	assert.Empty(t, cmp.Diff(want, rucs(base.get("/api/contribuyentes/search?razonSocial=gloria&limit=50").body)))
	assert.Empty(t, cmp.Diff(want[:3], rucs(base.get("/api/contribuyentes/search?razonSocial=gloria&limit=3").body)))

	// The same when half of them lie over a Registro.
	var registro mockserver.RegistroEnMemoria
	require.NoError(t, registro.Put(data[:6]...))
	// The best of the Registro is hidden by the one put over it.
	require.NoError(t, registro.Put(c("20000000093", "GLORIA", "", "ACTIVO")))
	_, merged := start(t, mockserver.WithRegistro(&registro), mockserver.WithContribuyentes(data[6:]...))
	assert.Empty(t, cmp.Diff(want, rucs(merged.get("/api/contribuyentes/search?razonSocial=gloria&limit=50").body)))
	assert.Empty(t, cmp.Diff(want[:3], rucs(merged.get("/api/contribuyentes/search?razonSocial=gloria&limit=3").body)))
}

// rucs picks the RUCs out of a search's answer, in order.
func rucs(body string) []string {
	var found []string
	for _, part := range strings.Split(body, `"ruc":"`)[1:] {
		found = append(found, part[:11])
	}
	return found
}

// What is not there is not a text of 0 characters.
func TestSearchWithoutItsParameter(t *testing.T) {
	_, api := start(t)
	for query, says := range map[string]string{
		"":                             "falta el parámetro razonSocial (docs",
		"?limit=5":                     "falta el parámetro razonSocial (docs",
		"?q=gloria&razonsocial=gloria": "falta el parámetro razonSocial (no leídos: q, razonsocial) (docs",
		"?razonSocial=":                "razonSocial está vacío",
		"?razonSocial=ab":              "razonSocial tiene 2 caracteres",
	} {
		r := api.get("/api/contribuyentes/search" + query)
		r.isError(t, 400, "SEARCH_TOO_SHORT")
		assert.Contains(t, r.body, says, query)
		assert.NotContains(t, r.body, "gloria")
	}
}
