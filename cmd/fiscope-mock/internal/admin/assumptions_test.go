package admin

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/assumption"
	"github.com/fiscope/fiscope/mockserver"
)

func TestAssumptions(t *testing.T) {
	r := start(t)
	var list []assumption.Item
	r.ok(&list, "GET", "assumptions", "")
	assert.Contains(t, list, assumption.Item{
		Name: "QuotaExceeded", Value: "429:QUOTA_EXCEEDED", Default: "429:QUOTA_EXCEEDED",
		Section: "7, 8", Reason: "the status HTTP has for it",
	})
	assert.Len(t, list, len(mockserver.OpenPoints()))
}

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
		"[]":                          "no es el JSON esperado",
		`{"quotaexceeded": "403:"}`:   "se escribe QuotaExceeded",
		`{"BlockAfter": null}`:        "es null",
		`{"Nada": 1}`:                 "Nada",
		`{"BlockAfter": {}}`:          "BlockAfter",
		`{"CodeInvalidRUC": []}`:      "CodeInvalidRUC se escribe como un código (INVALID_RUC, ",
		`{"CodeInvalidRUC": {"a":1}}`: "CodeInvalidRUC se escribe como un código",
		`{"CodeInvalidRUC": ["a"]}`:   "CodeInvalidRUC se escribe como un código",
		`{"Unknown": []}`:             "Unknown se escribe como uno de ",
		`{"MissingKey": []}`:          "MissingKey se escribe como ESTADO",
		`{"HeadersOnErrors": []}`:     "HeadersOnErrors",
		`{"Estados": {"a": "lista"}}`: "Estados",
		`{"Nada": []}`:                "los nombres son",
		`{"BlockAfter": []}`:          "BlockAfter",
		`{"BlockAfter": 1.5}`:         "BlockAfter",
		`{"BlockAfter": -1}`:          "BlockAfter",
		`{"Estados": "otra"}`:         "tabla",
		`{"Unknown": ""}`:             "as-put",
		`{"BlockAfter": 9, "Qu": 10}`: "Qu",
	} {
		r.do("PUT", "assumptions", body).isProblem(t, 400, codeInvalid, says)
		assert.Equal(t, now, r.mock.Control().Assumptions(), "all or none: %s", body)
	}
}

// A change of one reading keeps a simultaneous change of another.
func TestAssumptionsOfSeveralAtOnce(t *testing.T) {
	r := start(t)
	for range 100 {
		r.ok(new(any), "PUT", "assumptions", `{"BlockAfter": 3, "ChargeFailures": true, "HeadersEverywhere": false}`)
		r.ok(new(any), "PUT", "quotas", `{"limit": 1000}`)
		var wg sync.WaitGroup
		for path, body := range map[string]string{"quotas": `{"limit": 7}`} {
			wg.Go(func() { r.ok(new(any), "PUT", path, body) })
		}
		for _, body := range []string{`{"BlockAfter": 9}`, `{"ChargeFailures": false}`, `{"HeadersEverywhere": true}`} {
			wg.Go(func() { r.ok(new(any), "PUT", "assumptions", body) })
		}
		wg.Wait()
		want := mockserver.DefaultAssumptions()
		want.BlockAfter, want.ChargeFailures, want.HeadersEverywhere, want.Quota = 9, false, true, 7
		require.Equal(t, want, r.mock.Control().Assumptions())
	}
}

// The Quota of the readings is the limit in force, also after the limit was set as that of the key.
func TestTheQuotaThatIsShownIsInForce(t *testing.T) {
	r := start(t)
	shown := func() string {
		for _, item := range assumption.List(r.mock.Control().Assumptions()) {
			if item.Name == "Quota" {
				return item.Value
			}
		}
		return ""
	}
	limit := func() int {
		q, _ := r.mock.Quota(r.mock.APIKey)
		return q.Limit
	}
	r.ok(new(any), "PUT", "quotas", `{"limit": 3}`)
	assert.Equal(t, "3", shown())
	r.ok(new(any), "PUT", "assumptions", `{"BlockAfter": 9}`)
	assert.Equal(t, 3, limit(), "another reading")
	r.ok(new(any), "PUT", "assumptions", `{"Quota": 1000}`)
	assert.Equal(t, 1000, limit())
	assert.Equal(t, "1000", shown())
	r.ok(new(any), "PUT", "quotas", `{"limit": 5}`, "X-API-KEY", "s3creta")
	assert.Equal(t, "1000", shown(), "another key")
	r.do("PUT", "assumptions", `{"Quota": -2}`).isProblem(t, 400, codeInvalid, "Quota")
	assert.Equal(t, 1000, limit())
}

// A zone that is set again is the same one.
func TestAZoneThatIsSetAgain(t *testing.T) {
	r := start(t)
	for range 2 {
		r.ok(new(any), "PUT", "assumptions", `{"ResetZone": "America/Santiago"}`)
		r.call(lookup, "s3creta")
	}
	q, _ := r.mock.Quota("s3creta")
	assert.Equal(t, 2, q.Used)
}
