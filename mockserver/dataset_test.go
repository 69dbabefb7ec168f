package mockserver_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/fiscope/fiscope"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// read decodes an embedded file without this package's structs.
func read(t *testing.T, name string) []map[string]any {
	t.Helper()
	raw, err := os.ReadFile("data/" + name + ".json")
	require.NoError(t, err)
	var file map[string][]map[string]any
	require.NoError(t, json.Unmarshal(raw, &file))
	require.Len(t, file, 1)
	return file[name]
}

// checkDigit is the rule of the RUC, for the test data only: the service does not look at it.
func checkDigit(ruc string) byte {
	sum := 0
	for i, weight := range []int{5, 4, 3, 2, 7, 6, 5, 4, 3, 2} {
		sum += weight * int(ruc[i]-'0')
	}
	return byte('0' + (11-sum%11)%10)
}

func TestDefaultTaxpayers(t *testing.T) {
	_, api := start(t)
	seen := map[any]bool{}
	for _, row := range read(t, "contribuyentes") {
		ruc := row["ruc"].(string)
		t.Run(ruc, func(t *testing.T) {
			require.Regexp(t, `^\d{11}$`, ruc)
			assert.Equal(t, string(checkDigit(ruc)), ruc[10:], "check digit")
			assert.Regexp(t, `^\d{6}$`, row["ubigeo"])
			for _, field := range []string{"fechaInscripcion", "fechaInicioActividades"} {
				_, err := fiscope.ParseFecha(row[field].(string))
				assert.NoError(t, err)
			}
			m := api.get("/api/contribuyentes/" + ruc).object(t)
			assert.Len(t, m, 13)
			for field, value := range m {
				assert.NotEmpty(t, value, field)
				assert.Equal(t, row[field], value, field)
			}
			// No real natural person: theirs say what they are.
			if ruc[0] == '1' {
				assert.Regexp(t, "SINTETICA|FICTICIA", row["razonSocial"])
			}
		})
		require.False(t, seen[ruc], "%s twice", ruc)
		seen[ruc], seen[row["estado"]], seen[row["condicion"]] = true, true, true
	}
	for _, want := range []string{
		"20131312955", "20100070970", "20100113610", "20100053455", "20331898008", "20256136865", "20100047218", "10000000006",
		"ACTIVO", "BAJA PROVISIONAL", "BAJA DEFINITIVA", "SUSPENSIÓN TEMPORAL", "HABIDO", "NO HABIDO", "NO HALLADO", "PENDIENTE",
	} {
		assert.True(t, seen[want], "no %s in the default data", want)
	}
}
