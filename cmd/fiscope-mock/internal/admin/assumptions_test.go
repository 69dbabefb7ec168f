package admin

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/assumption"
	"github.com/fiscope/fiscope/mockserver"
)

// Every value of every reading can be set here too, in the notation of the list.
func TestPutEveryAssumption(t *testing.T) {
	r := start(t)
	for _, reading := range mockserver.Readings() {
		for _, item := range assumption.List(reading.Assumptions) {
			if item.Value == item.Default {
				continue
			}
			var list []assumption.Item
			r.ok(&list, "PUT", "assumptions", `{"`+item.Name+`": "`+item.Value+`"}`)
			assert.Contains(t, list, item)
			assert.Equal(t, list, assumption.List(r.mock.Control().Assumptions()))
			r.ok(nil, "POST", "reset", `{"parts": ["data"]}`)
			require.Equal(t, mockserver.DefaultAssumptions(), r.mock.Control().Assumptions())
		}
	}
}

func TestPutAssumptions(t *testing.T) {
	r := start(t)
	r.ok(new(any), "PUT", "assumptions", `{"Quota": 0, "QuotaExceeded": "403:", "HeadersEverywhere": true}`)
	now := r.mock.Control().Assumptions()
	assert.Equal(t, mockserver.Refusal{Status: 403}, now.QuotaExceeded)
	assert.True(t, now.HeadersEverywhere)
	const large = math.MaxInt - 2 // which no float64 holds, where an int has 64 bits
	r.ok(new(any), "PUT", "assumptions", fmt.Sprintf(`{"BlockAfter": %d, "ChargeFailures": false}`, large))
	assert.Equal(t, large, r.mock.Control().Assumptions().BlockAfter, "to its last digit")
	now = r.mock.Control().Assumptions()
	assert.Equal(t, 403, r.call(lookup, r.mock.APIKey), "from the next request on")

	for body, says := range map[string]string{
		"":                            "no dice qué lectura cambia",
		"{}":                          "no dice qué lectura cambia",
		`{"quotaexceeded": "403:"}`:   "se escribe QuotaExceeded",
		`{"BlockAfter": null}`:        "es null",
		`{"Nada": 1}`:                 "Nada",
		`{"CodeInvalidRUC": []}`:      "CodeInvalidRUC se escribe como un código (INVALID_RUC, ",
		`{"MissingKey": []}`:          "MissingKey se escribe como ESTADO",
		`{"BlockAfter": -1}`:          "BlockAfter",
		`{"Estados": "otra"}`:         "tabla",
		`{"Unknown": ""}`:             "as-put",
		`{"BlockAfter": 9, "Qu": 10}`: "Qu",
	} {
		r.do("PUT", "assumptions", body).isProblem(t, 400, codeInvalid, says)
		assert.Equal(t, now, r.mock.Control().Assumptions(), "all or none: %s", body)
	}
}
