package licences

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write the table of docs/licences.md anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const document = "../../docs/licences.md"

// products are what others link, by the folder of the module.
var products = map[string][]string{
	"../..":             {".", "./padron", "./mockserver", "./conformance", "./cmd/fiscope-mock"},
	"../../redisstore":  {"."},
	"../../otelfiscope": {"."},
}

// Every module that is linked into what others use is under a licence that is allowed, and stands in the document with it.
func TestTheLicencesOfWhatIsLinked(t *testing.T) {
	var modules []module
	for folder, patterns := range products {
		for _, system := range []string{"darwin", "linux", "windows"} {
			found, err := linked(folder, system, patterns...)
			require.NoError(t, err)
			for _, m := range found {
				modules = with(modules, m)
			}
		}
	}
	require.NotEmpty(t, modules)
	rows := []string{"| module | version | licence | linked into |", "|---|---|---|---|"}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.path+a.version, b.path+b.version) })
	for _, m := range modules {
		licence, err := licenceOf(m.folders)
		require.NoError(t, err, "%s %s, which is linked into %v", m.path, m.version, m.into)
		rows = append(rows, m.row(licence))
	}
	content, err := os.ReadFile(document)
	require.NoError(t, err)
	before, old, _ := strings.Cut(string(content), rows[0])
	table := strings.Join(rows, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile(document, []byte(before+table), 0o600))
		return
	}
	assert.Empty(t, cmp.Diff(table, rows[0]+old), "run go test ./checks/licences -update")
}

func TestLicenceOf(t *testing.T) {
	const gpl = "https://www.gnu.org/licenses/gpl-3.0-standalone.html"
	content, err := os.ReadFile("../../LICENSE")
	require.NoError(t, err)
	mit := string(content)
	for name, test := range map[string]struct {
		files   map[string]string
		licence string
		err     string
	}{
		"a known one":              {map[string]string{"LICENSE": mit, "README.md": "any"}, "MIT", ""},
		"in another file":          {map[string]string{"COPYING.md": mit}, "MIT", ""},
		"none":                     {map[string]string{"README.md": mit, "license.go": ""}, "", "it has no licence file"},
		"an unknown text":          {map[string]string{"LICENSE": "You may look at this on Sundays."}, "", "LICENSE is no licence that is known: 0 % of it is"},
		"one that is not":          {map[string]string{"LICENSE": gpl}, "", "LICENSE is GPL-3.0"},
		"with a name of its own":   {map[string]string{"LICENSE": mit, "LICENSE_list": gpl}, "", "LICENSE_list is GPL-3.0"},
		"by an ending":             {map[string]string{"LICENSE": mit, "LICENSE.GPL": gpl}, "", "LICENSE.GPL is GPL-3.0"},
		"of a package":             {map[string]string{"LICENSE": mit, "a/b/LICENSE": gpl}, "", "LICENSE is GPL-3.0"},
		"above a package":          {map[string]string{"LICENSE": mit, "a/LICENSE": gpl}, "", "LICENSE is GPL-3.0"},
		"of another package":       {map[string]string{"LICENSE": mit, "c/LICENSE": gpl}, "MIT", ""},
		"only of a package":        {map[string]string{"a/b/LICENSE": mit}, "", "it has no licence file"},
		"a second one that is not": {map[string]string{"COPYING": gpl, "LICENSE": mit}, "", "COPYING is GPL-3.0"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			pkg := filepath.Join(folder, "a", "b")
			require.NoError(t, os.MkdirAll(pkg, 0o750))
			for file, text := range test.files {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, file)), 0o750))
				require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600))
			}
			licence, err := licenceOf(foldersOf(folder, pkg))
			assert.Equal(t, test.licence, licence)
			if test.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.err)
		})
	}
}
