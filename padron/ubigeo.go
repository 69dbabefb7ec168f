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

// lugaresByUbigeo are the names by a district's code: of the department, the province and the district.
var lugaresByUbigeo = sync.OnceValue(func() map[string][3]string {
	names := ubigeos()
	places := make(map[string][3]string, len(names))
	for code, name := range names {
		if len(code) == 6 {
			places[code] = [3]string{names[code[:2]], names[code[:4]], name}
		}
	}
	return places
})

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
	names := lugaresByUbigeo()[ubigeo]
	return names[0], names[1], names[2]
}
