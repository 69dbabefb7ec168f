package mockserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"sync"
	"time"
)

// SOL is a user of the tax authority's portal. Usuario and Clave are compared letter by letter. It
// prints without its clave.
type SOL struct {
	RUC       string `json:"ruc"`     // 11 digits: rucSolicitante of a request
	Usuario   string `json:"usuario"` // usuarioSol
	Clave     string `json:"clave"`   // claveSol
	Principal bool   `json:"principal"`
}

// Format implements [fmt.Formatter]: whatever the verb, the clave is left out.
func (u SOL) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "SOL{%s %s principal=%t}", u.RUC, u.Usuario, u.Principal)
}

type solID struct{ ruc, usuario string }

// sol is the portal's side of a server: its users, and who is blocked.
type sol struct {
	mu    sync.Mutex // an attempt is counted before the next one is judged
	users map[solID]*solUser
}

type solUser struct {
	clave        [sha256.Size]byte // the mock itself has no use for the text
	principal    bool
	fails        int // wrong attempts in a row
	blockedUntil time.Time
}

func (s *sol) put(us ...SOL) error {
	for _, u := range us {
		switch {
		case !isRUC(u.RUC):
			return fmt.Errorf("%v: the RUC is not 11 digits", u)
		case u.Usuario == "":
			return fmt.Errorf("%v: the user name is empty", u)
		case u.Clave == "":
			return errors.New(u.Usuario + ": the clave is empty")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil {
		s.users = make(map[solID]*solUser, len(us))
	}
	for _, u := range us {
		s.users[solID{u.RUC, u.Usuario}] = &solUser{clave: sha256.Sum256([]byte(u.Clave)), principal: u.Principal}
	}
	return nil
}

// outcome is what the portal made of one attempt.
type outcome struct {
	ok, unknown, principal bool
	wasBlocked             bool // refused without looking at the clave
	fails, allowed         int
	blockedUntil           time.Time // zero when the user is not blocked now
}

// attempt logs in. A wrong clave counts, and so does any use of a principal user; a right clave of a
// secondary user forgets the count, a block forgets it when it ends and is not made longer by attempts.
func (s *sol) attempt(id solID, clave string, now time.Time, after int, lasts time.Duration) outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[id]
	if u == nil {
		return outcome{unknown: true}
	}
	if !u.blockedUntil.IsZero() {
		if now.Before(u.blockedUntil) {
			return outcome{wasBlocked: true, principal: u.principal, blockedUntil: u.blockedUntil}
		}
		u.fails, u.blockedUntil = 0, time.Time{}
	}
	given := sha256.Sum256([]byte(clave)) // digests: comparing them tells not even the length
	if subtle.ConstantTimeCompare(given[:], u.clave[:]) == 1 && !u.principal {
		u.fails = 0
		return outcome{ok: true}
	}
	u.fails++
	if after > 0 && u.fails >= after {
		u.blockedUntil = now.Add(lasts)
	}
	return outcome{principal: u.principal, fails: u.fails, allowed: after, blockedUntil: u.blockedUntil}
}
