package mockserver

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"slices"
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
	clave        [sha256.Size]byte
	text         string // the clave, for Server.Data only: a fixture without it would be useless
	principal    bool
	attempts     int // that reached the tax authority, right or wrong, since the user was put
	fails        int // wrong attempts in a row
	blockedUntil time.Time
}

func (s *sol) put(us ...SOL) error {
	if err := firstError(us, SOL.check); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil {
		s.users = make(map[solID]*solUser, len(us))
	}
	for _, u := range us {
		s.users[solID{u.RUC, u.Usuario}] = &solUser{clave: sha256.Sum256([]byte(u.Clave)), text: u.Clave, principal: u.Principal}
	}
	return nil
}

func (s *sol) remove(id solID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.users, id)
}

func (u SOL) check() error {
	if err := (UsuarioID{u.RUC, u.Usuario}).check(); err != nil {
		return err
	}
	if u.Clave == "" {
		return fmt.Errorf("%v: the clave is empty", u)
	}
	return nil
}

// all returns the users, claves included, in the order of RUC and name.
func (s *sol) all() []SOL {
	s.mu.Lock()
	defer s.mu.Unlock()
	var us []SOL
	for id, u := range s.users {
		us = append(us, SOL{id.ruc, id.usuario, u.text, u.principal})
	}
	slices.SortFunc(us, func(a, b SOL) int {
		return cmp.Or(cmp.Compare(a.RUC, b.RUC), cmp.Compare(a.Usuario, b.Usuario))
	})
	return us
}

// endBlock forgets the attempts of a block that is over.
func (u *solUser) endBlock(now time.Time) {
	if !u.blockedUntil.IsZero() && !now.Before(u.blockedUntil) {
		u.fails, u.blockedUntil = 0, time.Time{}
	}
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
	u.attempts++
	if u.endBlock(now); !u.blockedUntil.IsZero() {
		return outcome{wasBlocked: true, principal: u.principal, blockedUntil: u.blockedUntil}
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
