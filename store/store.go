// Package store is what the processes of a system share through a [Store]: answers, one daily quota, and
// what is known of SOL credentials. A fiscope Client uses one with WithStore. The packages redisstore and
// filestore implement it; store/storetest tests an implementation.
package store

import (
	"context"
	"time"
)

// Store is shared memory of several processes. Its methods are called concurrently, and heed their context.
//
// Keys, accounts and credentials are hexadecimal hashes keyed with the API key: they reveal nothing. An error means that
// the Store is away: see WithStore for what a Client does then.
type Store interface {
	// Load returns the value of a key; nil if it is missing or has expired.
	Load(ctx context.Context, key string) ([]byte, error)
	// Save keeps value under key for ttl, which is above 0. It replaces an earlier value.
	Save(ctx context.Context, key string, value []byte, ttl time.Duration) error

	// Reserve asks for one query of an account's daily quota, of which keep are left to others.
	Reserve(ctx context.Context, account string, keep int) (Reservation, error)
	// Commit records what came of a reservation that was Granted or a Probe.
	Commit(ctx context.Context, account string, r Reservation, o Outcome) error

	// Claim asks whether a credential may be sent. A granted claim is held for at most hold, so that a
	// process that dies holds nothing.
	Claim(ctx context.Context, credential string, hold time.Duration) (Claim, error)
	// Record records a verdict for the time of memory and releases the claim, if c is a granted one. A
	// verdict about a credential that was already Proven comes without a granted claim. A refusal replaces
	// all else, and the longer of two counts. A proof undoes no refusal: VerdictForget does.
	Record(ctx context.Context, credential string, c Claim, v Verdict, memory time.Duration) error
}

// Grant says whether an attempt may leave.
type Grant int

// The grants.
const (
	Granted Grant = iota // a query is left
	Probe                // none is left as far as is known: this attempt finds out whether that is still so
	Spent                // none is left
)

// Reservation is the answer to Reserve.
type Reservation struct {
	Grant Grant
	Left  int       // of Spent: the queries that are left, all kept for others
	Until time.Time // of Spent: when to ask again, the next probe or the reset; else the reset; zero if unknown
	Token string    // the Store's own mark
}

// Outcome is what came of an attempt, as far as the quota goes.
type Outcome struct {
	Written   int       // requests that the service may have charged; 0 gives the reservation back
	Served    bool      // the service answered the question: a result, or NOT_FOUND
	Refused   bool      // the service said that the quota of the day is spent
	Remaining int       // queries left by the answer's header; below 0 if there was none
	Reset     time.Time // when the quota is renewed, by the answer's header; zero if there was none
	Date      time.Time // the answer's own date; zero if there was none
}

// ClaimState says what is known of a credential.
type ClaimState int

// The states.
const (
	ClaimGranted ClaimState = iota // nothing is known and nobody else tries it: go first
	ClaimProven                    // the tax authority accepted it
	ClaimRefused                   // the tax authority refused it
	ClaimBusy                      // somebody else tries it: ask again soon
)

// Claim is the answer to Claim.
type Claim struct {
	State ClaimState
	Since time.Time // of ClaimProven and ClaimRefused: when that was
	Until time.Time // of ClaimRefused: when it is forgotten
	Token string    // the Store's own mark
}

// Verdict is what an attempt showed of a credential.
type Verdict int

// The verdicts.
const (
	VerdictNone    Verdict = iota // nothing
	VerdictProven                 // the tax authority accepted it
	VerdictRefused                // the tax authority refused it
	VerdictForget                 // the caller asks to forget a refusal: a proof or a claim of somebody else stays
)
