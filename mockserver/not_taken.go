package mockserver

import (
	"errors"
	"fmt"
	"slices"
)

// notTaken is why a server does not take something, in two languages: the error's text is for who writes Go,
// and Spanish for the admin API, whose texts, like those of the service's own errors, are in Spanish.
type notTaken struct {
	error
	spanish string
}

func (r notTaken) Unwrap() error { return errors.Unwrap(r.error) }

// Spanish is the reason in Spanish.
func (r notTaken) Spanish() string { return r.spanish }

// cannotTake makes an error of two formats for the same values. An error among them (%w, and %s in Spanish) is
// told in the language of the format.
func cannotTake(english, spanish string, args ...any) error {
	inSpanish := slices.Clone(args)
	for i, arg := range args {
		err, _ := arg.(error)
		if other := interface{ Spanish() string }(nil); errors.As(err, &other) {
			inSpanish[i] = other.Spanish()
		}
	}
	return notTaken{fmt.Errorf(english, args...), fmt.Sprintf(spanish, inSpanish...)}
}
