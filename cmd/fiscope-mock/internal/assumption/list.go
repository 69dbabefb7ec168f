package assumption

import (
	"fmt"
	"reflect"
	"time"

	"github.com/fiscope/fiscope/mockserver"
)

// Item is one assumption as text: NAME=VALUE of an Item is what [Set] reads.
type Item struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Section string `json:"section"` // of docs/contrato.md
	Reason  string `json:"reason"`  // of the default
}

// List returns the assumptions of a, in the order of the fields.
func List(a mockserver.Assumptions) []Item {
	values, defaults := reflect.ValueOf(a), reflect.ValueOf(mockserver.DefaultAssumptions())
	var list []Item
	for _, p := range mockserver.OpenPoints() {
		list = append(list, Item{p.Field, format(values.FieldByName(p.Field)), format(defaults.FieldByName(p.Field)), p.Section, p.Reason})
	}
	return list
}

func format(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case mockserver.Refusal:
		return fmt.Sprintf("%d:%s", value.Status, value.Code)
	case *time.Location:
		return value.String()
	default:
		return fmt.Sprint(value)
	}
}
