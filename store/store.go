// Package store defines the [Store] through which processes share answers, one daily quota, and what is known about SOL
// credentials. A fiscope Client uses one with WithStore. The packages redisstore and filestore implement it;
// store/storetest tests an implementation.
package store

import (
	"context"
	"time"
)

// Store is memory that several processes share. Its methods must be safe for concurrent use and obey their context. A
// Client waits a second at most for any of them: it gives back what a later answer grants.
//
// Keys, accounts and credentials are hexadecimal hashes, keyed with the API key: they reveal nothing. An error means
// that the Store is away: see WithStore for what a Client does then.
type Store interface {
	// Load returns the value of a key; nil if it is missing or has expired.
	Load(ctx context.Context, key string) ([]byte, error)
	// Save keeps value under key for ttl, which is above 0. It replaces an earlier value.
	Save(ctx context.Context, key string, value []byte, ttl time.Duration) error

	// Reserve asks for one query of an account's daily quota, leaving keep queries for others.
	Reserve(ctx context.Context, account string, keep int) (Reservation, error)
	// Commit records the outcome of a reservation that was Granted or a Probe.
	Commit(ctx context.Context, account string, r Reservation, o Outcome) error

	// Claim asks whether a credential may be sent. A proof of the last 15 minutes ([Recent]) lets everyone send; an older
	// one is granted to one call, and busy to the others, as if nothing were known. A granted claim expires after hold,
	// so that a process that dies holds nothing.
	Claim(ctx context.Context, credential string, hold time.Duration) (Claim, error)
	// Record records a verdict for the duration memory, and releases c if it is a granted claim. A verdict about a
	// credential that was already Proven comes without a granted claim. A refusal replaces any other verdict; of two
	// refusals the longer counts. Only VerdictForget undoes a refusal, never a proof; nor does the release of a claim.
	Record(ctx context.Context, credential string, c Claim, v Verdict, memory time.Duration) error
}

// Grant says whether an attempt may be sent.
type Grant int

// The grants.
const (
	Granted Grant = iota // a query is left
	Probe                // as far as is known none is left: this attempt checks whether that still holds
	Spent                // none is left
)

// Reservation is the answer to Reserve.
type Reservation struct {
	Grant  Grant
	Left   int       // queries left after this one, as far as all processes know; below 0 if unknown
	Until  time.Time // of Spent: when to ask again: the reset if Left is 0 or all kept for others, otherwise the next probe
	Served bool      // unless Spent: the service served this account before, for any process
	Token  string    // the Store's own mark
}

// Outcome is the outcome of an attempt, for the quota.
type Outcome struct {
	Written   int       // requests that the service may have charged; 0 gives the reservation back
	Served    bool      // the service answered the question: a result, or NOT_FOUND
	Refused   bool      // the service said that the day's quota is spent
	Remaining int       // queries left, from the answer's header; below 0 if there was none
	Reset     time.Time // when the quota is renewed, from the answer's header; zero if there was none
	Date      time.Time // the answer's own date; zero if there was none
}

// Recent is the age up to which a proof lets everyone send a credential: its clave may have been changed since.
const Recent = 15 * time.Minute

// ClaimState says what is known about a credential.
type ClaimState int

// The states.
const (
	ClaimGranted ClaimState = iota // there is no recent proof, and no other call is trying it: go first
	ClaimProven                    // the tax authority accepted it within the last 15 minutes
	ClaimRefused                   // the tax authority refused it
	ClaimBusy                      // another call is trying it: ask again soon
)

// Claim is the answer to Claim.
type Claim struct {
	State ClaimState
	Since time.Time // of ClaimProven and ClaimRefused: when that was recorded. Of others: when an older proof was, or zero
	Until time.Time // when the refusal or the proof is forgotten; zero for none
	Token string    // the Store's own mark
}

// Verdict is what an attempt showed about a credential.
type Verdict int

// The verdicts.
const (
	VerdictNone    Verdict = iota // nothing
	VerdictProven                 // the tax authority accepted it
	VerdictRefused                // the tax authority refused it
	VerdictForget                 // the caller asks to forget a refusal: a proof or another call's claim stays
)
