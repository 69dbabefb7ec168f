package padron

import (
	_ "embed"
	"strings"
	"sync"
)

// ubigeosText tells where its names come from.
//
//go:embed ubigeos.txt
var ubigeosText string

// ubigeos are the names by code: 2 digits of the department, 4 of the province, 6 of the district.
var ubigeos = sync.OnceValue(func() map[string]string {
	names := make(map[string]string, 2200)
	for line := range strings.Lines(ubigeosText) {
		if code, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && code != "#" {
			names[code] = name
		}
	}
	return names
})

// lugares returns the names of a district's code and of what it lies in. All are "" for what is not a district's code:
// the registry has codes that are newer than any list, and of these nothing is certain.
func lugares(ubigeo string) (departamento, provincia, distrito string) {
	names := ubigeos()
	if len(ubigeo) != 6 || names[ubigeo] == "" {
		return "", "", ""
	}
	return names[ubigeo[:2]], names[ubigeo[:4]], names[ubigeo]
}
