package padron

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The columns are written in the file's order: from the ubigeo on, TIPO DE VÍA, NOMBRE DE VÍA, CÓDIGO DE ZONA, TIPO DE
// ZONA, NÚMERO, INTERIOR, LOTE, DEPARTAMENTO, MANZANA, KILÓMETRO.
func TestDireccion(t *testing.T) {
	for name, test := range map[string]struct{ columns, want string }{
		"SUNAT":                         {"150101|AV.|GARCILASO DE LA VEGA|-|-|1472|-|-|-|-|-|", "AV. GARCILASO DE LA VEGA NRO. 1472 LIMA - LIMA - LIMA"},
		"Supermercados Peruanos":        {"150130|CAL.|MORELLI|----|-|181|P-2|-|-|-|-|", "CAL.MORELLI NRO. 181 INT. P-2 LIMA - LIMA - SAN BORJA"},
		"Interbank":                     {"150115|AV.|CARLOS VILLARAN|URB.|SANTA CATALINA|140|-|-|-|-|-|", "AV. CARLOS VILLARAN NRO. 140 URB. SANTA CATALINA LIMA - LIMA - LA VICTORIA"},
		"BCP":                           {"150114|CAL.|CENTENARIO|URB.|LADERAS DE MELGAREJO|156|-|-|-|-|-|", "CAL.CENTENARIO NRO. 156 URB. LADERAS DE MELGAREJO LIMA - LIMA - LA MOLINA"},
		"all of it":                     {"040101|JR.|UNO|A.H.|DOS|S/N|3|4|5|F|6.5|", "JR. UNO NRO. S/N MZA. F LOTE. 4 DPTO. 5 INT. 3 KM. 6.5 A.H. DOS AREQUIPA - AREQUIPA - AREQUIPA"},
		"a block and a lot":             {"200104|----|-|-.-|-|-|-|7|-|C|-|", "MZA. C LOTE. 7 PIURA - PIURA - CASTILLA"},
		"a road":                        {"140101|CAR.|PANAMERICANA NORTE|-|-|-|-|-|-|-|775|", "CAR.PANAMERICANA NORTE KM. 775 LAMBAYEQUE - CHICLAYO - CHICLAYO"},
		"a zone alone":                  {"110108|-|-|FND.|LA PRUEBA|-|-|-|-|-|-|", "FND. LA PRUEBA ICA - ICA - SALAS"},
		"a street without a type":       {"150101|-|UNO|-|-|-|-|-|-|-|-|", "UNO LIMA - LIMA - LIMA"},
		"a type without a street":       {"150101|AV.|-|-|-|10|-|-|-|-|-|", "NRO. 10 LIMA - LIMA - LIMA"},
		"a zone without a name":         {"150101|AV.|UNO|URB.|----|-|-|-|-|-|-|", "AV. UNO LIMA - LIMA - LIMA"},
		"a zone without a type":         {"150101|AV.|UNO|-|DOS|-|-|-|-|-|-|", "AV. UNO DOS LIMA - LIMA - LIMA"},
		"four letters of which one's Ñ": {"150101|MAÑ.|UNO|-|-|-|-|-|-|-|-|", "MAÑ.UNO LIMA - LIMA - LIMA"},
		"blanks at the ends":            {"150101| AV. | UNO | URB. | DOS | 10 |-|-|-|-|-|", "AV. UNO NRO. 10 URB. DOS LIMA - LIMA - LIMA"},
		"nothing but places":            {"150101|-|-|----|-.-|-|--|..| - |.|-|", ""},
		"nothing":                       {"-|-|-|-|-|-|-|-|-|-|-|", ""},
		"no places":                     {"-|AV.|UNO|-|-|-|-|-|-|-|-|", "AV. UNO"},
		"an unknown ubigeo":             {"150199|AV.|UNO|-|-|-|-|-|-|-|-|", "AV. UNO"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, _, err := readText(windows1252(header+"\n20000000001|A|ACTIVO|HABIDO|"+test.columns), false)
			require.NoError(t, err)
			require.Len(t, rows, 1)
			assert.Equal(t, test.want, direccion([]byte(rows[0].Calle), lugarOf(rows[0].Ubigeo)))
		})
	}
}
