package admin

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// foreign is what an error text in Spanish has nothing of: words of English, names of Go, its layout of a time.
var foreign = regexp.MustCompile(`\b(the|is|are|want|cannot|there|unknown|invalid|not|must|of type|struct|bool|int|float64|json:|mockserver|time\.|RUCEmisor|2006-01-02\S*)\b`)

func TestErrorsAreInSpanish(t *testing.T) {
	r := start(t)
	for _, c := range []struct{ method, path, body, says string }{
		{"GET", "nada", "", "no existe"},
		{"PATCH", "clock", "", "no admite el método"},
		{"PUT", "clock", `{"now": "2026-11-20"}`, "una hora se escribe como 2026-11-20T16:59:00-05:00"},
		{"PUT", "clock", `{"now": 5}`, "una hora se escribe como"},
		{"PUT", "clock", `{"frozen": "no"}`, `"frozen" es `},
		{"PUT", "clock", `{"frozn": true}`, `no existe el miembro "frozn"`},
		{"PUT", "clock", `[]`, "esto es una lista: se espera un objeto"},
		{"PUT", "clock", `{"frozen": true,}`, "(byte 17)"},
		{"PUT", "clock", `{"frozen"`, "termina antes de tiempo"},
		{"PUT", "clock", `{"now": "1960-01-01T00:00:00Z"}`, "no se puede poner a esa hora"},
		{"POST", "clock/advance", `{"by": "un día"}`, "no es una duración"},
		{"POST", "clock/advance", `{"by": 60}`, `"by" es `},
		{"PUT", "quotas", `{"limit": "10"}`, `"limit" es `},
		{"PUT", "quotas", `{"limit": 1.5}`, `"limit" es `},
		{"PUT", "sunat", `{"down": 1}`, `"down" es `},
		{"POST", "reset", `{"parts": ["todo"]}`, `no existe la parte "todo": las partes son [faults`},
		{"POST", "reset", `{"parts": "todo"}`, `"parts" es `},
		{"POST", "reset", `{"parts": []}`, "parts no nombra ninguna parte"},
		{"PUT", "contribuyentes/20700000001", "{\"razonSocial\": \"CA\xd1ETE\"}", "no es UTF-8"},
		{"PUT", "sol/20100070970/U", "{\"clave\": \"cla\xf1e\"}", "no es UTF-8"},
		{"PUT", "clock", "\xff\xfe{\x00}\x00", "UTF-16"},
		{"PUT", "sunat", `{"down": true, "down": false}`, `"down" está dos veces`},
		{"PUT", "tiposcambio/2026-11-19", `{"compra": 3.7, "Compra": 3.8, "venta": 3.9}`, `no existe el miembro "Compra": se escribe "compra"`},
		{"POST", "faults", `{"steps": [{"status": 503}, {"status": 500, "status": 502}]}`, `"status" está dos veces`},
		{"PUT", "assumptions", `{"BlockAfter": 3, "BlockAfter": 4}`, `"BlockAfter" está dos veces`},
		{"PUT", "sol/20100070970/%FFU", `{"clave": "x"}`, "la dirección no es UTF-8"},
		{"PUT", "comprobantes/20100070970/01/F%FF1/1", `{"codigo": "0"}`, "la dirección no es UTF-8"},
		{"GET", "requests?limit=x", "", "limit no es un número"},
		{"DELETE", "sol/1/2/block", "", "no hay tal usuario SOL"},
		{"DELETE", "faults/nada", "", "no hay ninguna falla"},

		{"POST", "faults", `{}`, "la falla no tiene steps"},
		{"POST", "faults", `{"steps": [{"preset": "nada"}]}`, `paso 1: no existe el preset "nada"`},
		{"POST", "faults", `{"steps": [{"status": 99}]}`, "status 99: debe ser de 200 a 599"},
		{"POST", "faults", `{"steps": [{"status": "500"}]}`, `"status" es un texto: se espera un número entero`},
		{"POST", "faults", `{"steps": [{"estado": 500}]}`, `no existe el miembro "estado"`},
		{"POST", "faults", `{"steps": [{"latency": "1"}]}`, "no es una duración como 1.5s o 30m"},
		{"POST", "faults", `{"steps": [{"latency": "1"}]}`, `"latency": "1" no es una duración`},
		{"POST", "faults", `{"steps": [{"latency": 5}]}`, `"latency" es un número: se espera una duración como 1.5s o 30m, entre comillas`},
		{"POST", "faults", `{"match": {"for": "x"}, "steps": [{}]}`, `"for": "x" no es una duración como 1.5s o 30m`},
		{"POST", "faults", `{"match": {"for": 5}, "steps": [{}]}`, `"for" es un número: se espera una duración`},
		{"POST", "faults", `{"steps": 5}`, `se espera una lista`},
		{"POST", "clock/advance", `{"by": 5}`, `se espera un texto`},
		{"PUT", "quotas", `{"limit": 1.5}`, `se espera un número entero`},
		{"PUT", "quotas", `{"limit": -2}`, "limit es menor que -1"},
		{"PUT", "quotas", `{"limit": 5, "used": -2}`, "used es menor que 0"},
		{"PUT", "sunat", `{"down": "x"}`, `se espera true o false`},
		{"GET", "requests?limit=-1", "", "limit no es un número entero desde 0"},
		{"PUT", "data", `{"tiposCambio": [{"fecha": "2026-11-20", "compra": "x", "venta": 1}]}`, `"compra": se espera un número como 3.750`},
		{"PUT", "data", `{"tiposCambio": [{"fecha": "2026-11-20", "compra": 1, "venta": true}]}`, `"venta" es true o false: se espera un número como 3.750`},
		{"PUT", "data", `{"tiposCambio": [{"fecha": "2026-11-20", "compra": 1}]}`, "en venta"},
		{"POST", "faults", `{"steps": [{"latency": "-1s"}]}`, "no puede ser negativa"},
		{"POST", "faults", `{"steps": [{"before": true, "preset": "sunat-down"}]}`, "todavía no hay respuesta"},
		{"POST", "faults", `{"steps": [{"header": {"content-length": "1"}}]}`, `el encabezado "content-length" no se puede poner`},
		{"POST", "faults", `{"steps": {}}`, `"steps" es `},
		{"POST", "faults", `{"match": {"op": "nada"}, "steps": [{}]}`, `no existe la operación "nada": las operaciones son [`},
		{"POST", "faults", `{"match": {"nth": -1}, "steps": [{}]}`, "no pueden ser negativos"},
		{"POST", "faults", `{"match": {"nth": 1, "times": 2}, "steps": [{}]}`, "nth es una sola llamada"},
		{"POST", "faults", `{"match": {"nth": 1}, "steps": [{}, {}]}`, "nth es una sola llamada"},
		{"POST", "faults", `{"match": {"probability": 1}, "steps": [{}]}`, `no existe el miembro "probability"`},
		{"POST", "faults", `{"match": {"times": true}, "steps": [{}]}`, `"times" es true o false: se espera un número entero`},
		{"POST", "faults", `{"match": [], "steps": [{}]}`, "es una lista: se espera un objeto"},

		{"PUT", "data", `nada`, "cuerpo:1: no es JSON"},
		{"PUT", "data", `[]`, "cuerpo:1: esto es una lista: se espera un objeto"},
		{"PUT", "data", `{`, "cuerpo:1: el texto termina antes de tiempo"},
		{"PUT", "data", `{} x`, "cuerpo:1: hay más texto"},
		{"PUT", "data", "\xff\xfe{", "el BOM de UTF-16"},
		{"PUT", "data", "{\"\xff\"", "no es UTF-8"},
		{"PUT", "data", `{"nada": 1}`, `no existe el miembro "nada": los miembros son comprobantes, contribuyentes`},
		{"PUT", "data", `{"keys": [], "keys": []}`, `"keys" está dos veces`},
		{"PUT", "data", `{"keys": [null]}`, "null no es un valor"},
		{"PUT", "data", `{"withoutDefaults": "no"}`, `"withoutDefaults" es un texto: se espera true o false`},
		{"PUT", "data", `{"contribuyentes": [{"ruc": "1"}]}`, `contribuyente "1": ruc no tiene 11 dígitos`},
		{"PUT", "data", `{"contribuyentes": [{"ruc": 1}]}`, `"ruc" es un número: se espera un texto, entre comillas`},
		{"PUT", "data", `{"contribuyentes": [{"nombre": "1"}]}`, `no existe el miembro "nombre"`},
		{"PUT", "data", `{"comprobantes": [{"rucEmisor": "1"}]}`, "rucEmisor no tiene 11 dígitos"},
		{"PUT", "data", `{"comprobantes": [{"rucEmisor": "20100070970", "tipoComprobante": "02"}]}`, "tipoComprobante no es 01"},
		{"PUT", "data", `{"comprobantes": [{"rucEmisor": "20100070970", "tipoComprobante": "01"}]}`, "serie está vacía"},
		{"PUT", "data", `{"comprobantes": [{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 1, "codigo": "1"}]}`, "codigo no es 0"},
		{"PUT", "data", `{"usuarios": [{"ruc": "1"}]}`, `usuario SOL: ruc no tiene 11 dígitos`},
		{"PUT", "data", `{"usuarios": [{"ruc": "20100070970"}]}`, "usuario está vacío"},
		{"PUT", "data", `{"usuarios": [{"ruc": "20100070970", "usuario": "U"}]}`, "la clave SOL está vacía"},
		{"PUT", "data", `{"tiposCambio": [{"fecha": "2026-11-20", "compra": -1, "venta": 1}]}`, "no es un decimal positivo como 3.750"},
		{"PUT", "data", `{"tiposCambio": [{"fecha": "2026-02-30", "compra": 1, "venta": 1}]}`, "no es un día que exista"},
		{"PUT", "data", `{"tiposCambio": [{"fecha": "2026-11-21", "compra": 1, "venta": 1}]}`, "es fin de semana"},
		{"PUT", "data", `{"tiposCambio": [{"fecha": "2026-11-20", "compra": "x", "venta": 1}]}`, "se espera un número como 3.750"},
		{"PUT", "data", `{"keys": [{"key": ""}]}`, "la clave de API está vacía"},
		{"PUT", "data", `{"keys": [{"key": "ñ"}]}`, "ASCII imprimible"},
		{"PUT", "data", `{"keys": [{"key": "k", "quota": -2}]}`, "una cuota de -2 llamadas"},
		{"PUT", "data", `{"deleted": {"contribuyentes": ["1"]}}`, "ruc no tiene 11 dígitos"},
	} {
		t.Run(c.path+" "+c.body, func(t *testing.T) {
			got := r.do(c.method, c.path, c.body)
			require.GreaterOrEqual(t, got.status, http.StatusBadRequest)
			require.Less(t, got.status, http.StatusInternalServerError)
			var p struct{ Error, Hint string }
			require.NoError(t, json.Unmarshal([]byte(got.body), &p))
			assert.Contains(t, p.Error, c.says)
			assert.Empty(t, foreign.FindAllString(p.Error+" "+p.Hint, -1), "%s; %s", p.Error, p.Hint)
		})
	}
	tenants := r.do("POST", "reset", `{"parts": ["clock"]}`, "X-API-KEY", "s3creta")
	tenants.isProblem(t, 400, codeInvalid, `la parte "clock" no es de una sola clave`)
}

// A BOM is how some editors and shells begin a file.
func TestABodyMayBeginWithABOM(t *testing.T) {
	r := start(t)
	r.ok(new(clock), "PUT", "clock", "\ufeff"+`{"frozen": true}`)
	assert.True(t, r.mock.Control().Frozen())
	r.ok(nil, "PUT", "data", "\ufeff"+`{"contribuyentes": [{"ruc": "20700000001"}]}`)
}
