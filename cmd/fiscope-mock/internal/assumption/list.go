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
}

// List returns the assumptions of a, in the order of the fields.
func List(a mockserver.Assumptions) []Item {
	values, defaults := reflect.ValueOf(a), reflect.ValueOf(mockserver.DefaultAssumptions())
	var list []Item
	for i, field := range reflect.VisibleFields(values.Type()) {
		list = append(list, Item{field.Name, format(values.Field(i)), format(defaults.Field(i))})
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
