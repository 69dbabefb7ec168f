package admin

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/assumption"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The program's README has an example of each answer, with every member that there can be.
func TestReadmeHasTheShapeOfEveryAnswer(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(text), "```json\nhealthz")
	require.True(t, found)
	block, _, _ = strings.Cut("healthz"+block, "```")
	examples := map[string]any{}
	for _, example := range regexp.MustCompile(`(?m)^(\w+) +([\[{](?:.|\n )*)$`).FindAllStringSubmatch(block, -1) {
		var value any
		require.NoError(t, json.Unmarshal([]byte(example[2]), &value), example[0])
		if list, ok := value.([]any); ok {
			value = list[0]
		}
		examples[example[1]] = value
	}
	for name, shape := range map[string]reflect.Type{
		"clock":          reflect.TypeFor[clock](),
		"faults":         reflect.TypeFor[mockserver.FaultStatus](),
		"presets":        reflect.TypeFor[mockserver.PresetInfo](),
		"session":        reflect.TypeFor[session](),
		"requests":       reflect.TypeFor[journal](),
		"poll":           reflect.TypeFor[journalAfter](),
		"quotas":         reflect.TypeFor[quota](),
		"keys":           reflect.TypeFor[apiKey](),
		"sunat":          reflect.TypeFor[sunat](),
		"contribuyentes": reflect.TypeFor[mockserver.Contribuyente](),
		"comprobantes":   reflect.TypeFor[mockserver.Comprobante](),
		"tiposcambio":    reflect.TypeFor[tipoCambio](),
		"sol":            reflect.TypeFor[solUser](),
		"assumptions":    reflect.TypeFor[assumption.Item](),
	} {
		assert.ElementsMatch(t, members(shape), keys(t, examples[name]), name)
	}
	journal, _ := examples["requests"].(map[string]any)
	list, _ := journal["requests"].([]any)
	require.Len(t, list, 1)
	assert.ElementsMatch(t, members(reflect.TypeFor[mockserver.Request]()), keys(t, list[0]))

	r := start(t)
	for name, answer := range map[string]reply{"healthz": r.do("GET", "healthz", ""), "error": r.do("PUT", "clock", `{"now": "1960-01-01T00:00:00Z"}`)} {
		var got any
		require.NoError(t, json.Unmarshal([]byte(answer.body), &got))
		assert.Equal(t, examples[name], got, name)
	}
}

// members are the names of a struct's JSON.
func members(t reflect.Type) (names []string) {
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func keys(t *testing.T, object any) (names []string) {
	t.Helper()
	members, ok := object.(map[string]any)
	require.True(t, ok, "%v", object)
	for name := range members {
		names = append(names, name)
	}
	return names
}
