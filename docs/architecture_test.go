package docs_test

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The table of ARCHITECTURE.md has the layers of newCore's first list, in order. Its files exist.
func TestTheArchitectureIsTheCode(t *testing.T) {
	files := repository(t)
	page, last := files["ARCHITECTURE.md"], 0
	_, list, _ := strings.Cut(files["client.go"], "through(k.send.ask,")
	list, _, _ = strings.Cut(list, "\n\t\t)")
	named := map[string]string{"newFallback": "fallback", "retries": "retry", "slow": "slowDown", "quota": "limitQuota"}
	for _, layer := range regexp.MustCompile(`\n\t\t\t(\w+)`).FindAllStringSubmatch(list, -1) {
		row := strings.Index(page, "\n| "+cmp.Or(named[layer[1]], layer[1])+" | ")
		assert.Greater(t, row, last, "ARCHITECTURE.md lacks %s, or has it elsewhere", layer[1])
		last = row
	}
	exist := slices.Collect(maps.Keys(files))
	for _, name := range regexp.MustCompile(`\w+\.go\b`).FindAllString(page, -1) {
		assert.True(t, slices.ContainsFunc(exist, func(file string) bool { return path.Base(file) == name }), "ARCHITECTURE.md names %s", name)
	}
}
