package assumption

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

func TestReadReport(t *testing.T) {
	texts, err := ReadReport(strings.NewReader(`[
		{"name": "MissingKey", "value": "403:A=B:C"}, {"name": "BlockAfter", "value": null},
		{"value": "", "name": "CodeInvalidRUC", "default": "INVALID_RUC", "section": "7", "reason": "..."}
	]` + "\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{"MissingKey=403:A=B:C", "CodeInvalidRUC="}, texts)

	list, err := json.Marshal(List(mockserver.DefaultAssumptions()))
	require.NoError(t, err)
	texts, err = ReadReport(strings.NewReader(string(list)))
	require.NoError(t, err)
	assert.Len(t, texts, len(mockserver.OpenPoints()))
}

func TestReadReportRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"":                                     "want a JSON array",
		`{"BlockAfter": "3"}`:                  "want a JSON array",
		`[{"name": "BlockAfter", "value": 3}]`: "want a JSON array of objects with name and value",
		`[] []`:                                "nothing after it",
		`[{"value": "3"}]`:                     "item 1 has no name",
		`[{"name": "A=B", "value": "3"}]`:      "item 1 has no name",
	} {
		_, err := ReadReport(strings.NewReader(text))
		assert.ErrorContains(t, err, says, text)
	}
}
