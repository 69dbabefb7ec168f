package assumption

import (
	"testing"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			assert.LessOrEqual(t, changed, 1)
			assert.Equal(t, List(reading.Assumptions), List(a))
			a.ResetZone = reading.Assumptions.ResetZone // another pointer to the same zone is fine
			assert.Equal(t, reading.Assumptions, a)
		})
	}
}

func TestSet(t *testing.T) {
	a := mockserver.DefaultAssumptions()
	for _, text := range []string{"quotaexceeded=403", "InvalidKey=400:OTRO=1", "BlockFor=1h", "ResetZone=UTC", "Quota=-1", "CodeInvalidRUC="} {
		require.NoError(t, Set(&a, text), text)
	}
	assert.Equal(t, mockserver.Refusal{Status: 403, Code: "QUOTA_EXCEEDED"}, a.QuotaExceeded)
	assert.Equal(t, mockserver.Refusal{Status: 400, Code: "OTRO=1"}, a.InvalidKey)
	assert.Equal(t, time.Hour, a.BlockFor)
	assert.Equal(t, time.UTC, a.ResetZone)
	assert.Equal(t, mockserver.Unlimited, a.Quota)
	assert.Empty(t, a.CodeInvalidRUC, "the server refuses it, with its own words")
}

func TestSetRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"BlockAfter":         "want NAME=VALUE",
		"Nada=1":             "the names are MissingKey, InvalidKey, QuotaExceeded",
		"MissingKey=no":      "want STATUS or STATUS:CODE",
		"ResetZone=":         "time zone",
		"ResetZone=Lima":     "time zone",
		"ChargeFailures=si":  "true or false",
		"BlockAfter=muchos":  "whole number",
		"PublicationDelay=1": "duration",
	} {
		a := mockserver.DefaultAssumptions()
		assert.ErrorContains(t, Set(&a, text), says, text)
	}
}
