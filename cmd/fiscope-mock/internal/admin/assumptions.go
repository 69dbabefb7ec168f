package admin

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/assumption"
	"github.com/fiscope/fiscope/mockserver"
)

func (a *api) getAssumptions(*http.Request) (any, error) {
	list := assumption.List(a.control.Assumptions())
	for i := range list {
		list[i].Value = a.control.WithoutKeys(list[i].Value) // a code may be any text
	}
	return list, nil
}

const assumptionsHint = "vea los nombres y los valores en GET /_mock/assumptions"

// putAssumptions makes the changes in the body, all or none, and answers with all assumptions.
func (a *api) putAssumptions(r *http.Request) (any, error) {
	const shape = `{"BlockAfter": 5, "QuotaExceeded": "403:FORBIDDEN"}`
	var changes map[string]json.RawMessage // strings as for -assume, numbers or booleans
	if err := read(r, &changes, shape); err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		return nil, invalid("envíe "+shape, "no dice qué lectura cambia")
	}
	a.changing.Lock()
	defer a.changing.Unlock()
	assume := a.control.Assumptions()
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		for _, p := range mockserver.OpenPoints() {
			if name != p.Field && strings.EqualFold(name, p.Field) { // -assume accepts it
				return nil, invalid(assumptionsHint, "no existe la lectura %s: se escribe %s", name, p.Field)
			}
		}
		setting, value := name, string(changes[name])
		if text := ""; json.Unmarshal(changes[name], &text) == nil && value != "null" {
			setting += "=" + text
		} else if strings.Trim(value[:1], "-0123456789tf") == "" {
			setting += "=" + value
		} // otherwise there is no value, and the error lists the valid ones
		if err := assumption.Set(&assume, setting); err != nil {
			return nil, invalid(assumptionsHint, "no se acepta %s: %s", name, err)
		}
	}
	if err := a.control.SetAssumptions(assume); err != nil {
		return nil, err
	}
	return a.getAssumptions(r)
}
