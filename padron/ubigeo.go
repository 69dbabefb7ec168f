package padron

import (
	_ "embed"
	"strings"
	"sync"
)

// ubigeosText has names by code, and says where they come from.
//
//go:embed ubigeos.txt
var ubigeosText string

// lugar is a district with its province and department.
type lugar struct{ departamento, provincia, distrito string }

// lugares are the districts by code.
var lugares = sync.OnceValue(func() map[string]lugar {
	names := ubigeos()
	places := make(map[string]lugar, len(names))
	for code, name := range names {
		if len(code) == 6 {
			places[code] = lugar{names[code[:2]], names[code[:4]], name}
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

// lugarOf returns the names of a district's code. All are "" for an unknown code: the registry has codes newer than any
// list.
func lugarOf(ubigeo string) lugar { return lugares()[ubigeo] }
