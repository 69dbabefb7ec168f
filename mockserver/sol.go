package mockserver

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash/maphash"
	"log/slog"
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

// LogValue implements [slog.LogValuer].
func (u SOL) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(u)) }

func (u SOL) id() UsuarioID { return UsuarioID{u.RUC, u.Usuario} }

func (u SOL) check() error {
	if err := u.id().check(); err != nil {
		return err
	}
	if u.Clave == "" {
		return cannotTake("%v: the clave is empty", "%v: la clave está vacía", u)
	}
	return nil
}

// UsuarioID identifies a user of the tax authority's portal.
type UsuarioID struct {
	RUC     string `json:"ruc"`
	Usuario string `json:"usuario"`
}

func (u UsuarioID) check() error {
	switch {
	case !isRUC(u.RUC):
		return cannotTake("SOL user: the RUC is not 11 digits", "usuario SOL: ruc no tiene 11 dígitos") // it may be a misplaced clave
	case u.Usuario == "":
		return cannotTake("SOL user of RUC %s: the user name is empty", "usuario SOL del RUC %s: usuario está vacío", u.RUC)
	}
	return nil
}

// SOLState is how the tax authority sees a SOL user.
type SOLState struct {
	Attempts     int       // validations that reached the tax authority with this user, since it was put
	Fails        int       // wrong ones in a row: at Assumptions.BlockAfter the user is blocked
	Blocked      bool      // now, by the server's clock
	BlockedUntil time.Time // zero when not blocked
}

// SOLResult is what the tax authority made of a SOL attempt; "" where none reached it.
type SOLResult string

// The results. All but SOLAccepted are answered with INVALID_SOL_CREDENTIALS, unless [Assumptions.PrincipalSOL],
// BlockedSOL or UnknownSOL says otherwise.
const (
	SOLAccepted  SOLResult = "accepted"
	SOLWrong     SOLResult = "wrong"
	SOLUnknown   SOLResult = "unknown"
	SOLPrincipal SOLResult = "principal"
	SOLBlocked   SOLResult = "blocked"
)

// sol are the SOL users of one server, with their attempts and their blocks.
type sol struct {
	mu    sync.Mutex // an attempt is counted before the next one is judged
	users map[UsuarioID]*solUser
}

type solUser struct {
	clave        [sha256.Size]byte
	text         string // the clave, for Server.Data only: a fixture without it would be useless
	principal    bool
	attempts     int // that reached the tax authority, right or wrong, since the user was put
	fails        int // wrong attempts in a row
	blockedUntil time.Time
}

// change takes the deleted users away and then puts users, both checked, in one step.
func (s *sol) change(deleted []UsuarioID, put []SOL) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range deleted {
		delete(s.users, id)
	}
	if s.users == nil {
		s.users = make(map[UsuarioID]*solUser, len(put))
	}
	for _, u := range put {
		s.users[u.id()] = &solUser{clave: sha256.Sum256([]byte(u.Clave)), text: u.Clave, principal: u.Principal}
	}
}

// all returns the users, claves included, in the order of RUC and name.
func (s *sol) all() []SOL {
	s.mu.Lock()
	defer s.mu.Unlock()
	var us []SOL
	for id, u := range s.users {
		us = append(us, SOL{id.RUC, id.Usuario, u.text, u.principal})
	}
	slices.SortFunc(us, func(a, b SOL) int {
		return cmp.Or(cmp.Compare(a.RUC, b.RUC), cmp.Compare(a.Usuario, b.Usuario))
	})
	return us
}

// SOLStatus is a SOL user as a server lists it: without its clave.
type SOLStatus struct {
	UsuarioID
	Principal bool
	SOLState
}

// list returns the users with how they stand: those of one RUC first, then by RUC and name.
func (s *sol) list(now time.Time, first string) []SOLStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	us := make([]SOLStatus, 0, len(s.users))
	for id, u := range s.users {
		us = append(us, SOLStatus{id, u.principal, u.state(now)})
	}
	slices.SortFunc(us, func(a, b SOLStatus) int {
		switch {
		case a.RUC == b.RUC:
			return cmp.Compare(a.Usuario, b.Usuario)
		case a.RUC == first:
			return -1
		case b.RUC == first:
			return 1
		}
		return cmp.Compare(a.RUC, b.RUC)
	})
	return us
}

// user returns a user, its clave included; one that there is not has none.
func (s *sol) user(id UsuarioID) SOL {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[id]
	if u == nil {
		u = &solUser{}
	}
	return SOL{id.RUC, id.Usuario, u.text, u.principal}
}

// endBlock forgets the attempts of a block that is over.
func (u *solUser) endBlock(now time.Time) {
	if !u.blockedUntil.IsZero() && !now.Before(u.blockedUntil) {
		u.fails, u.blockedUntil = 0, time.Time{}
	}
}

// outcome is what the tax authority made of one attempt, and why.
type outcome struct {
	result         SOLResult
	principal      bool      // the user is one: so is the reason, whatever the result
	fails, allowed int       // wrong attempts in a row, and how many block the user; 0 for never
	blockedUntil   time.Time // zero when the user is not blocked now
}

// attempt logs in. A wrong clave counts, and so does any use of a principal user. A right clave of a
// secondary user forgets the count; so does the end of a block, which attempts do not make longer.
func (s *sol) attempt(id UsuarioID, clave string, now time.Time, blockAfter int, blockFor time.Duration) outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[id]
	if u == nil {
		return outcome{result: SOLUnknown}
	}
	u.attempts++
	if u.endBlock(now); !u.blockedUntil.IsZero() { // the clave is not looked at
		return outcome{result: SOLBlocked, principal: u.principal, blockedUntil: u.blockedUntil}
	}
	given := sha256.Sum256([]byte(clave)) // digests: comparing them tells not even the length
	if subtle.ConstantTimeCompare(given[:], u.clave[:]) == 1 && !u.principal {
		u.fails = 0
		return outcome{result: SOLAccepted}
	}
	u.fails++
	if blockAfter > 0 && u.fails >= blockAfter {
		u.blockedUntil = now.Add(blockFor)
	}
	result := SOLWrong
	if u.principal {
		result = SOLPrincipal
	}
	return outcome{result, u.principal, u.fails, blockAfter, u.blockedUntil}
}

// state returns how a user stands, and whether there is one.
func (s *sol) state(id UsuarioID, now time.Time) (SOLState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[id]
	if u == nil {
		return SOLState{}, false
	}
	return u.state(now), true
}

func (u *solUser) state(now time.Time) SOLState {
	u.endBlock(now)
	return SOLState{u.attempts, u.fails, !u.blockedUntil.IsZero(), u.blockedUntil}
}

// unblock forgets a user's wrong attempts and ends its block, and reports whether there is such a user.
func (s *sol) unblock(id UsuarioID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[id]
	if u == nil {
		return false
	}
	u.fails, u.blockedUntil = 0, time.Time{}
	return true
}

// unblockAll does so for all users, and forgets how often each was tried.
func (s *sol) unblockAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.users {
		u.attempts, u.fails, u.blockedUntil = 0, 0, time.Time{}
	}
}

var solSeed = maphash.MakeSeed()

// hash stands for the user in the journal: its name may hold a misplaced clave. It is never 0.
func (u UsuarioID) hash() uint64 { return maphash.Comparable(solSeed, u) | 1 }
