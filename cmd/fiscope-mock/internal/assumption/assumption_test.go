package assumption

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What List writes of any reading, Set reads.
func TestListAndSetAgree(t *testing.T) {
	for _, reading := range slices.Concat(mockserver.Readings(), mockserver.PairedReadings()) {
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
	for _, text := range []string{"quotaexceeded=403", "InvalidKey=400:OTRO=1", "BlockFor=1h", "ResetZone=UTC", "Quota=-1", "CodeInvalidRUC=",
		"MissingKey=403:", "Unknown=null", "ResetRolling=true", "BlockedSOL=423:BLOQUEADO"} {
		require.NoError(t, Set(&a, text), text)
	}
	assert.Equal(t, mockserver.Refusal{Status: 403, Code: "QUOTA_EXCEEDED"}, a.QuotaExceeded)
	assert.Equal(t, mockserver.Refusal{Status: 400, Code: "OTRO=1"}, a.InvalidKey)
	assert.Equal(t, time.Hour, a.BlockFor)
	assert.Equal(t, time.UTC, a.ResetZone)
	assert.Equal(t, mockserver.Unlimited, a.Quota)
	assert.Equal(t, mockserver.Refusal{Status: 403}, a.MissingKey, "an empty code")
	assert.Equal(t, mockserver.UnknownNull, a.Unknown)
	assert.True(t, a.ResetRolling)
	assert.Equal(t, mockserver.Refusal{Status: 423, Code: "BLOQUEADO"}, a.BlockedSOL)
	assert.Empty(t, a.CodeInvalidRUC, "the server refuses it, with its own words")
}

func TestSetSaysTheValues(t *testing.T) {
	for text, c := range map[string]struct{ english, spanish string }{
		"BlockAfter":         {"want NAME=VALUE: BlockAfter takes a whole number (3, 1, 0, ...)", "BlockAfter se escribe como un número entero (3, 1, 0, ...)"},
		"BlockAfter=muchos":  {"a whole number (3, ", "un número entero (3, "},
		"Nada=1":             {"such as BlockAfter=5: the names are MissingKey, InvalidKey, QuotaExceeded", "los nombres son MissingKey, InvalidKey, QuotaExceeded"},
		"MissingKey=no":      {"STATUS or STATUS:CODE (401:UNAUTHORIZED, 403:FORBIDDEN, ", "ESTADO o ESTADO:CÓDIGO (401:UNAUTHORIZED, "},
		"ResetZone=":         {"a time zone that this system knows (America/Lima, UTC, ...)", "una zona horaria que este sistema conozca (America/Lima, UTC, ...)"},
		"ResetZone=Lima":     {"a time zone", "una zona horaria"},
		"ChargeFailures=si":  {"ChargeFailures takes true or false", "true o false"},
		"PublicationDelay=1": {"a duration such as 30m (0s, ", "una duración como 30m (0s, "},
		"Estados=otros":      {"Estados takes one of tabla, lista, sunat", "Estados se escribe como uno de tabla, lista, sunat"},
		"Estados=":           {"one of tabla, lista, sunat", "uno de tabla, lista, sunat"},
		"CodeInvalidRUC":     {"a code (INVALID_RUC, BAD_REQUEST, ...)", "un código (INVALID_RUC, BAD_REQUEST, ...)"},
	} {
		a := mockserver.DefaultAssumptions()
		err := Set(&a, text)
		assert.ErrorContains(t, err, c.english, text)
		var refused *Refusal
		require.ErrorAs(t, err, &refused)
		assert.Contains(t, refused.Spanish(), c.spanish)
		assert.Equal(t, mockserver.DefaultAssumptions(), a, "nothing is set by %s", text)
	}
}
