package assumption

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ReadReport returns the assumptions of a JSON array of objects with name and value as NAME=VALUE, for [Set]: the
// answer of GET /_mock/assumptions, or what the conformance suite has seen of a server. A value of null, which was
// not seen, is left out.
func ReadReport(r io.Reader) (texts []string, err error) {
	var items []struct {
		Name  string  `json:"name"`
		Value *string `json:"value"`
	}
	d := json.NewDecoder(r)
	if err := d.Decode(&items); err != nil {
		return nil, fmt.Errorf("want a JSON array of objects with name and value: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("want one JSON array and nothing after it")
	}
	for i, item := range items {
		switch {
		case item.Name == "" || strings.Contains(item.Name, "="):
			return nil, fmt.Errorf("item %d has no name", i+1)
		case item.Value != nil:
			texts = append(texts, item.Name+"="+*item.Value)
		}
	}
	return texts, nil
}
