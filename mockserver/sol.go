package mockserver

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// By default, the third consecutive wrong clave blocks a SOL user for half an hour.
const (
	defaultBlockAfter = 3
	defaultBlockFor   = 30 * time.Minute
)

// SOL is a user of the tax authority's portal. It prints without its clave.
type SOL struct {
	RUC       string `json:"ruc"`     // 11 digits: rucSolicitante of a request
	Usuario   string `json:"usuario"` // usuarioSol
	Clave     string `json:"clave"`   // claveSol
	Principal bool   `json:"principal"`
}

// Format implements [fmt.Formatter]: it omits the clave.
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
		return fmt.Errorf("%v: la clave SOL está vacía", u)
	}
	return nil
}

// UsuarioID identifies a SOL user.
type UsuarioID struct {
	RUC     string `json:"ruc"`
	Usuario string `json:"usuario"`
}

func (u UsuarioID) check() error {
	switch {
	case !isRUC(u.RUC):
		return errors.New("usuario SOL: ruc no tiene 11 dígitos") // the value may be a misplaced clave
	case u.Usuario == "":
		return fmt.Errorf("usuario SOL del RUC %s: usuario está vacío", u.RUC)
	}
	return nil
}

// SOLState is the tax authority's state of a SOL user.
type SOLState struct {
	Attempts     int       // validations that reached the tax authority with this user, since it was set
	Fails        int       // consecutive wrong attempts: at Assumptions.BlockAfter the user is blocked
	Blocked      bool      // by the server's clock
	BlockedUntil time.Time // zero if not blocked
}

// SOLResult is the tax authority's verdict on a SOL attempt; "" if none.
type SOLResult string

// The results.
const (
	SOLAccepted  SOLResult = "accepted"
	SOLWrong     SOLResult = "wrong"
	SOLUnknown   SOLResult = "unknown"
	SOLPrincipal SOLResult = "principal"
	SOLBlocked   SOLResult = "blocked"
)

// sol are the SOL users of one server, with their attempts and blocks.
type sol struct {
	mu    sync.Mutex // held from one attempt's check to its count
	users map[UsuarioID]*solUser
}

// solUser is a user with its state. Its clave is shown only in Server.Data, whose file must work as a fixture.
type solUser struct {
	SOL
	SOLState
}

// change deletes users, then adds users, both valid, in one step.
func (s *sol) change(deleted []UsuarioID, put []SOL) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range deleted {
		delete(s.users, id)
	}
	for _, u := range put {
		s.users[u.id()] = &solUser{SOL: u}
	}
}

// all returns the users, claves included, sorted by RUC and name.
func (s *sol) all() []SOL {
	s.mu.Lock()
	defer s.mu.Unlock()
	var us []SOL
	for _, u := range s.users {
		us = append(us, u.SOL)
	}
	slices.SortFunc(us, func(a, b SOL) int { return cmp.Or(cmp.Compare(a.RUC, b.RUC), cmp.Compare(a.Usuario, b.Usuario)) })
	return us
}

func (u *solUser) unblock() { u.SOLState = SOLState{Attempts: u.Attempts} }

// endBlock clears the attempts of a block that is over.
func (u *solUser) endBlock(now time.Time) {
	if u.Blocked && !now.Before(u.BlockedUntil) {
		u.unblock()
	}
}

// outcome is the tax authority's verdict on one attempt, and the reason.
type outcome struct {
	result         SOLResult
	principal      bool      // it is a principal user, which is the reason for a refusal
	fails, allowed int       // consecutive wrong attempts, and how many block the user; 0 for never
	blockedUntil   time.Time // zero if the user is not blocked now
}

// attempt logs in. A wrong clave counts, and so does any use of a principal user. A right clave of a secondary user
// clears the count; so does the end of a block, which attempts do not extend.
func (s *sol) attempt(id UsuarioID, clave string, now time.Time, blockAfter int, blockFor time.Duration) outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[id]
	if u == nil {
		return outcome{result: SOLUnknown}
	}
	u.Attempts++
	if u.endBlock(now); u.Blocked { // the clave is not checked
		return outcome{result: SOLBlocked, principal: u.Principal, blockedUntil: u.BlockedUntil}
	}
	if clave == u.Clave && !u.Principal {
		u.Fails = 0
		return outcome{result: SOLAccepted}
	}
	u.Fails++
	if blockAfter > 0 && u.Fails >= blockAfter {
		u.Blocked, u.BlockedUntil = true, now.Add(blockFor)
	}
	result := SOLWrong
	if u.Principal {
		result = SOLPrincipal
	}
	return outcome{result, u.Principal, u.Fails, blockAfter, u.BlockedUntil}
}

// state returns a user's state, and whether it exists.
func (s *sol) state(id UsuarioID, now time.Time) (SOLState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[id]
	if u == nil {
		return SOLState{}, false
	}
	u.endBlock(now)
	return u.SOLState, true
}

// unblock clears a user's wrong attempts and ends its block. It reports whether the user exists.
func (s *sol) unblock(id UsuarioID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[id]
	if u != nil {
		u.unblock()
	}
	return u != nil
}

// unblockAll does the same for all users, and clears their attempts.
func (s *sol) unblockAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.users {
		u.SOLState = SOLState{}
	}
}

// hashSeed makes hashes unpredictable: they replace values that the journal must not keep.
var hashSeed = maphash.MakeSeed()

// hash identifies the user in the journal, since its name may contain a misplaced clave. It is never 0.
func (u UsuarioID) hash() uint64 { return maphash.Comparable(hashSeed, u) | 1 }

// whyRefused says in Spanish why an attempt was refused. It never repeats the clave.
func whyRefused(o outcome) string {
	var why string
	switch {
	case o.principal:
		why = "el usuario SOL es un usuario principal: use las credenciales de un usuario secundario, nunca las del principal"
	case o.result == SOLBlocked:
		return "el usuario SOL está bloqueado por intentos fallidos hasta el " + enLima(o.blockedUntil) +
			": hasta entonces se rechaza también la clave SOL correcta; no reintente"
	case o.result == SOLUnknown:
		return "el usuario SOL no existe para ese RUC solicitante: revise rucSolicitante y usuarioSol"
	default:
		why = "la clave del usuario SOL es incorrecta: revísela antes de volver a intentar"
	}
	switch {
	case !o.blockedUntil.IsZero():
		why += "; el usuario queda bloqueado hasta el " + enLima(o.blockedUntil)
	case o.allowed > 0:
		why += fmt.Sprintf("; intento fallido %d de %d antes del bloqueo", o.fails, o.allowed)
	}
	return why
}
