// Package licences keeps docs/licences.md true: which modules are linked into what others use of fiscope, and under
// which licence each is.
package licences

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed are the licences under which a module may be linked: those that ask for their notice to go along, and
// MPL-2.0, which asks for the sources of changed files of its own.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}

var licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]es?|copying)([-_.][\w.-]+)?$`)

// recognized is how much of a file must be a licence's text, in percent; the rest is who holds the copyright.
const recognized = 75

// licenceOf reads the licences of a module from the files in its folders, by their SPDX names, as in "MIT" or
// "Apache-2.0, MIT". It fails where there is no such file in the first, which is the module's own, where one is no known
// text, and where one is not allowed.
func licenceOf(folders []string) (string, error) {
	var all []string
	for i, folder := range folders {
		names, err := licencesIn(folder)
		if err != nil {
			return "", err
		}
		if i == 0 && len(names) == 0 {
			return "", errors.New("it has no licence file")
		}
		all = union(all, names)
	}
	return strings.Join(all, ", "), nil
}

// licencesIn reads the licence files of one folder.
func licencesIn(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if entry.IsDir() || filepath.Ext(entry.Name()) == ".go" || !licenceFile.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		found := licensecheck.Scan(text)
		if found.Percent < recognized {
			return nil, fmt.Errorf("%s is no licence that is known: %.0f %% of it is", entry.Name(), found.Percent)
		}
		for _, match := range found.Match {
			if !slices.Contains(allowed, match.ID) {
				return nil, fmt.Errorf("%s is %s, and allowed are %s", entry.Name(), match.ID, strings.Join(allowed, ", "))
			}
			names = append(names, match.ID)
		}
	}
	return names, nil
}
