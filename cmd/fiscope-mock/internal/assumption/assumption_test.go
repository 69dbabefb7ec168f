package assumption

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// What List writes of any reading, Set reads.
func TestListAndSetAgree(t *testing.T) {
	for _, reading := range mockserver.Readings() {
		t.Run(reading.Name, func(t *testing.T) {
			a := mockserver.DefaultAssumptions()
			changed := 0
			for _, item := range List(reading.Assumptions) {
				require.NoError(t, Set(&a, item.Name+"="+item.Value), item.Name)
				if item.Value != item.Default {
					changed++
				}
			}
			assert.Equal(t, strings.Count(reading.Name, "="), changed)
			assert.Equal(t, List(reading.Assumptions), List(a))
			a.ResetZone = reading.Assumptions.ResetZone // another pointer to the same zone is fine
			assert.Equal(t, reading.Assumptions, a)
		})
	}
}

func TestListSaysWhereAndWhy(t *testing.T) {
	list := List(mockserver.DefaultAssumptions())
	require.Len(t, list, reflect.TypeFor[mockserver.Assumptions]().NumField())
	for i, item := range list {
		assert.Equal(t, reflect.TypeFor[mockserver.Assumptions]().Field(i).Name, item.Name)
		assert.Regexp(t, `^\d(\.\d)?(, \d(\.\d)?)*$`, item.Section)
		assert.NotEmpty(t, item.Reason)
	}
}

func TestSet(t *testing.T) {
	a := mockserver.DefaultAssumptions()
	for _, text := range []string{"quotaexceeded=403", "InvalidKey=400:OTRO=1", "ResetZone=UTC", "Quota=-1", "CodeInvalidRUC=",
		"MissingKey=403:", "Unknown=null", "HeadersEverywhere=true", "BlockedSOL=423:BLOQUEADO"} {
		require.NoError(t, Set(&a, text), text)
	}
	assert.Equal(t, mockserver.Refusal{Status: 403, Code: "QUOTA_EXCEEDED"}, a.QuotaExceeded)
	assert.Equal(t, mockserver.Refusal{Status: 400, Code: "OTRO=1"}, a.InvalidKey)
	assert.Equal(t, time.UTC, a.ResetZone)
	assert.Equal(t, mockserver.Unlimited, a.Quota)
	assert.Equal(t, mockserver.Refusal{Status: 403}, a.MissingKey, "an empty code")
	assert.Equal(t, mockserver.UnknownNull, a.Unknown)
	assert.True(t, a.HeadersEverywhere)
	assert.Equal(t, mockserver.Refusal{Status: 423, Code: "BLOQUEADO"}, a.BlockedSOL)
	assert.Empty(t, a.CodeInvalidRUC, "the server refuses it, with its own words")
}

func TestSetSaysTheValues(t *testing.T) {
	for text, says := range map[string]string{
		"BlockAfter":        "BlockAfter se escribe como un número entero (3, 1, 0, ...)",
		"BlockAfter=muchos": "un número entero (3, ",
		"Nada=1":            "los nombres son MissingKey, InvalidKey, QuotaExceeded",
		"MissingKey=no":     "ESTADO o ESTADO:CÓDIGO (401:UNAUTHORIZED, ",
		"ResetZone=":        "una zona horaria que este sistema conozca (America/Lima, UTC, ...)",
		"ResetZone=Lima":    "una zona horaria",
		"ChargeFailures=si": "uno de true, false",
		"Estados=otros":     "Estados se escribe como uno de tabla, lista, sunat",
		"Estados=":          "uno de tabla, lista, sunat",
		"CodeInvalidRUC":    "un código (INVALID_RUC, BAD_REQUEST, ...)",
	} {
		a := mockserver.DefaultAssumptions()
		err := Set(&a, text)
		assert.ErrorContains(t, err, says, text)
		assert.Equal(t, mockserver.DefaultAssumptions(), a, "nothing is set by %s", text)
	}
}
