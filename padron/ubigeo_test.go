package padron

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLugares(t *testing.T) {
	for ubigeo, want := range map[string]lugar{
		"150101":  {"LIMA", "LIMA", "LIMA"},
		"150131":  {"LIMA", "LIMA", "SAN ISIDRO"},
		"040101":  {"AREQUIPA", "AREQUIPA", "AREQUIPA"},
		"150501":  {"LIMA", "CAÑETE", "SAN VICENTE DE CAÑETE"},
		"020101":  {"ANCASH", "HUARAZ", "HUARAZ"},
		"120101":  {"JUNIN", "HUANCAYO", "HUANCAYO"},
		"070106":  {"PROV. CONST. DEL CALLAO", "PROV. CONST. DEL CALLAO", "VENTANILLA"},
		"110301":  {"ICA", "NASCA", "NASCA"},
		"140101":  {"LAMBAYEQUE", "CHICLAYO", "CHICLAYO"}, // Lima in RENIEC's codes
		"130112":  {"LA LIBERTAD", "TRUJILLO", "ALTO TRUJILLO"},
		"061306":  {"CAJAMARCA", "SANTA CRUZ", "NINABAMBA"},
		"":        {},
		"15":      {},
		"1501":    {},
		"150199":  {},
		"159901":  {},
		"990101":  {},
		"15010":   {},
		"1501010": {},
		"#":       {},
		"15010Á":  {},
	} {
		t.Run(ubigeo, func(t *testing.T) {
			assert.Equal(t, want, lugarOf(ubigeo))
		})
	}
}

func TestUbigeosAreWhole(t *testing.T) {
	digits := regexp.MustCompile(`^[0-9]+$`)
	spelling := regexp.MustCompile(`^[A-ZÑ]+\.?([ -][A-ZÑ]+\.?)*$`)
	count := map[int]int{}
	for code, name := range ubigeos() {
		count[len(code)]++
		if !digits.MatchString(code) || !spelling.MatchString(name) {
			assert.Fail(t, "not as SUNAT writes it", "%s %s", code, name)
		}
		if len(code) > 2 && ubigeos()[code[:len(code)-2]] == "" {
			assert.Fail(t, "lies in nothing", code)
		}
	}
	assert.Equal(t, map[int]int{2: 25, 4: 196, 6: 1891}, count)
}
