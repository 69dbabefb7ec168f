package fiscope

import (
	"context"
	"time"
)

// Store holds what outlives a call and what the processes of a fleet share: answers, one quota, and what
// is known of SOL credentials. Without one, a Client keeps all of it in its own memory; with one, its
// memory is asked first. The package redisstore implements it.
//
// The names that a Store is given (account, key, credential) are hexadecimal hashes keyed with the API
// key: they reveal nothing of what they stand for, and two API keys never share one. All methods are
// called concurrently, in goroutines of the Client, and must heed their context. It does not end with the
// caller's, but after a time of its own: Load, Save, Settle, Conclude and Forget have a second, and Reserve
// and Claim 3 seconds. A caller with a deadline waits for these two no longer than half of what he has left,
// or 1.1 s, and for Load no longer than a quarter, or 250 ms, and then goes on without the answer. Where that must
// be there ([ExactStore], [WithSOLStoreRequired]), nothing is sent, and the error is context.DeadlineExceeded too. For
// a query that callers share, that is the deadline of the one who began it; for Reserve those with a later one wait on.
//
// A Store that hangs or errs costs at most a query: the Client goes on as if it had none, unless it is an
// [ExactStore]. After a Load, a
// Reserve or a Claim that hung, or failed after more than a third of its time, calls of its kind are left out
// for 5 seconds, and then one at a time goes to see. What is only told (Save, Settle, Conclude) is told in the
// background, and [Client.Close] waits for it: a program that ends closes its Client first. Only for a refusal
// that is concluded a caller waits, 50 ms at most. What is told of the same name is told in order. A panic there
// is logged ([WithLogger]); that of a question is raised in the goroutine of the call, with its value and stack.
// What is granted too late is given back. All times are
// real, also those that a Client with a clock of its own tells ([WithClock]).
//
// What a Store returns is checked: an answer is read with the care of one of the service, and serves for the
// shorter of the writer's lifetime and this Client's, counted from when it was stored; times that lie ahead
// count as now; a value that is larger than [WithMaxResponseBytes] allows is nothing, and a state that has no
// name here says that the Store does not know. An answer in which the API key stands is not saved.
type Store interface {
	// Load returns what was saved under key, and nil where there is nothing or it expired. It is called before
	// an answer costs a query, and once more before one is saved: one that was asked for later is not
	// overwritten, and is the Client's too from then on.
	Load(ctx context.Context, key string) ([]byte, error)
	// Save keeps value under key for ttl. Between the Load before it and itself another process may save, whose
	// newer answer it then overwrites: that takes two answers within moments, and which of them is newer is known
	// as far as the clocks agree.
	Save(ctx context.Context, key string, value []byte, ttl time.Duration) error

	// Reserve asks for one query of an account's quota, of which keep are left to others. While the
	// headers say that no query is left, a Store grants one to the whole fleet every 15 to 60 minutes, to
	// see whether the quota was raised, and believes what that one is told. Each Client asks for it at most
	// that often, and none goes against a QuotaSpent.
	Reserve(ctx context.Context, account string, keep int) (Reservation, error)
	// Settle tells what came of a reservation that was granted. What the headers of an attempt say that was
	// granted on an earlier day, or whose reset is past, is not of the present day.
	Settle(ctx context.Context, account string, r Reservation, o Outcome) error

	// Claim asks whether a credential may be sent, last before each attempt of a validation leaves, also where
	// this Client had it accepted a moment ago: another process may have been refused since. A claim that is
	// granted is held for at most hold, so that a process that died holds nothing: longer than an attempt takes.
	// A credential that was accepted a while ago is asked for under a second name, which is only ever claimed and
	// given back, and then once more under its own.
	Claim(ctx context.Context, credential string, hold time.Duration) (Claim, error)
	// Conclude tells what came of a credential, to be remembered for memory. It is called for every
	// claim that was granted, and without one where a credential that was proven is refused, or accepted
	// again. A refusal that Conclude failed to take is told again, in the background every few seconds and with
	// the next claim, and by [Client.Close] for the last time, unless Olvidar forgot it. Where there are two, the
	// longer counts.
	Conclude(ctx context.Context, credential string, c Claim, v Verdict, memory time.Duration) error
	// Forget forgets what is known of a credential. It is called for one that was refused.
	Forget(ctx context.Context, credential string) error
}

// ExactStore is a Store without whose word nothing is sent: while its Reserve hangs, errs or takes longer than a
// caller waits for it, the call is ErrUnavailable, and not sent as if there were no Store.
type ExactStore interface {
	Store
	// ReserveAgain is Reserve for a caller that was told QuotaWait: told is what it was told, the last time. Where
	// what it waits for has failed, it is QuotaAway.
	ReserveAgain(ctx context.Context, account string, keep int, told Reservation) (Reservation, error)
}

// Reservation is a Store's answer to Reserve.
type Reservation struct {
	Grant Grant
	Until time.Time // for QuotaSpent: when the quota begins anew, within two days; zero where that is not known
	Left  int       // for QuotaSpent: the queries that are left, all of them kept for others
	Token string    // for the Store itself, to know the reservation again
}

// Grant says whether an attempt may leave.
type Grant int

// The grants.
const (
	QuotaGranted Grant = iota // it may
	QuotaSpent                // it may not, before Until
	QuotaWait                 // another process is finding out: ask again soon, for a minute at most
	QuotaAway                 // the Store cannot say, as when its server is away: nothing is sent, and the call is ErrUnavailable
)

// Outcome is what came of an attempt.
type Outcome struct {
	Written    int        // queries that may have been charged: 0 gives the reservation back
	StatusCode int        // 0 where no answer came
	RateLimit  *RateLimit // as the answer's headers said, a Reset in the past too, and a Remaining below zero as 0; nil where none came
}

// Claim is a Store's answer to Claim.
type Claim struct {
	State ClaimState
	Since time.Time // for ClaimRefused and ClaimProven: when it was, the last time; zero for just now
	Until time.Time // for ClaimRefused: when it is forgotten, at the latest after the time of [WithSOLMemory]; zero for that
	Token string    // for the Store itself, to know the claim again
}

// ClaimState says what is known of a credential.
type ClaimState int

// The states.
const (
	ClaimGranted ClaimState = iota // nothing is known, and nobody else tries: go first
	ClaimProven                    // the tax authority accepted it
	ClaimRefused                   // the tax authority refused it
	ClaimBusy                      // somebody else tries it: ask again soon
)

// Verdict is what an attempt says about a credential.
type Verdict int

// The verdicts.
const (
	VerdictNone    Verdict = iota // nothing
	VerdictProven                 // the tax authority accepted it
	VerdictRefused                // the tax authority refused it
)
