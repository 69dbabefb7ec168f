package strictjson

import "fmt"

// Reason is what is wrong with a text, in two languages.
type Reason struct{ english, spanish string }

// Error implements error, in English.
func (r *Reason) Error() string { return r.english }

// Spanish is the same in Spanish.
func (r *Reason) Spanish() string { return r.spanish }

// reason makes a Reason of two formats for the same values.
func reason(english, spanish string, args ...any) error {
	return &Reason{fmt.Sprintf(english, args...), fmt.Sprintf(spanish, args...)}
}
