package solguard

import (
	"errors"
	"time"
)

// lima has no daylight saving time.
var lima = time.FixedZone("Lima", -5*60*60)

// Refused is why a credential is not sent.
type Refused struct {
	Since       time.Time
	Until       time.Time // when it may be sent again
	Unexplained bool      // the answer may be about the API key
	Elsewhere   bool      // another process was refused
	Private     bool      // the Store may not have it yet
}

// Error returns what is known, in English.
func (r *Refused) Error() string {
	const minute = "2006-01-02 15:04"
	at := r.Since.In(lima).Format(minute) + " (Lima)"
	switch {
	case r.Elsewhere:
		return "another process was refused with this SOL user and clave at " + at
	case r.Unexplained:
		return "with this SOL user and clave the service answered 401 at " + at + " and did not say what it refuses, the API key or the clave"
	}
	return "this SOL user and clave were refused at " + at + ", and are not sent until " + r.Until.In(lima).Format(minute)
}

// ErrBusy is the error of a wait for another call that took too long.
var ErrBusy = errors.New("another call is trying this SOL user and has no answer yet")
