package fiscope_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// A batch keeps a record packed, and brings it back for a duplicate.
func TestADuplicateGetsTheSameRecord(t *testing.T) {
	full := contract(t, "consultar_200.json")
	var members map[string]string
	require.NoError(t, json.Unmarshal([]byte(full), &members))
	change := func(name, value string) string {
		changed := map[string]any{}
		for n, v := range members {
			changed[n] = v
		}
		changed[name] = value
		text, err := json.Marshal(changed)
		require.NoError(t, err)
		return string(text)
	}
	bodies := map[string]string{
		"as the contract shows it": full,
		"the least":                `{"ruc":"` + rucSUNAT + `","razonSocial":"X","estado":"ACTIVO","condicion":"HABIDO"}`,
		"an old date":              change("fechaInscripcion", "0001-01-01"),
		"usual texts":              change("distrito", "HUANCAVELICA"),
	}
	for name := range members {
		if name != "ruc" && !strings.HasPrefix(name, "fecha") {
			bodies["a long "+name] = change(name, strings.Repeat("Ñandú \x01 ", 3000))
		}
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			client, s := answers(t, raw(200, body))
			var got []fiscope.Contribuyente
			for l, err := range client.Contribuyentes.ConsultarLote(t.Context(), slices.Values([]string{rucSUNAT, rucSUNAT, rucSUNAT}), fiscope.LotePolicy{Concurrency: 1}) {
				require.NoError(t, err)
				got = append(got, *l.Resultado)
			}
			require.Len(t, got, 3)
			assert.Len(t, s.seen(), 1)
			assert.Equal(t, got[0], got[1])
			assert.Equal(t, got[0], got[2])
			if body != full {
				return
			}
			for record, i := reflect.ValueOf(got[1]), 0; i < record.NumField(); i++ {
				assert.False(t, record.Field(i).IsZero(), "%s is lost, or the record has none", record.Type().Field(i).Name)
			}
		})
	}
}
