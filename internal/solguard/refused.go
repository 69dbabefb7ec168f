package solguard

import "time"

// Refused is why a credential is not sent.
type Refused struct {
	Since       time.Time
	Unexplained bool      // the answer did not say what it refuses
	Accepted    time.Time // when it was accepted before an unexplained refusal; zero for never
	Elsewhere   bool      // another process was refused
	Until       time.Time // when it may be sent again
}

// Error says what is known, in English.
func (r *Refused) Error() string {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	switch {
	case r.Elsewhere:
		return "another process was refused with this SOL user and clave at " + at(r.Since)
	case !r.Unexplained:
		return "this SOL user and clave were refused at " + at(r.Since)
	case r.Accepted.IsZero():
		return "with this SOL user and clave, of which nothing good is known, the service answered 401 at " + at(r.Since) + " and did not say what it refuses"
	}
	return "the service answered 401 at " + at(r.Since) + " and did not say what it refuses: this SOL user and clave were accepted at " +
		at(r.Accepted) + ", and are not sent before " + at(r.Until)
}
