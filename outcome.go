package fiscope

import (
	"time"
)

// outcome is what an answer means. It is decided once, and everything else follows by tables.
type outcome int

const (
	unanswered    outcome = iota // none came
	found                        // a result
	notFound                     // NOT_FOUND
	tooShort                     // SEARCH_TOO_SHORT
	inputRefused                 // another 4xx
	refusedPage                  // another 4xx with a page: of what stands between, as a firewall
	solRefused                   // INVALID_SOL_CREDENTIALS
	keyRefused                   // 401 or 403 of the service
	unexplained                  // 401 without a code: it may be about the key or the clave
	quotaSpent                   // the day's
	tooFast                      // 429 that asks for fewer calls
	failedOnce                   // 500, which may be the answer to this very request
	failed                       // 502, 503, 504
	failedForGood                // 408 and any other 5xx, and the page of a firewall
	bodyBroke                    // a 200 whose body is not whole
	page                         // it lacks what it cannot be used without: a page of what stands between, or nothing
	redirected                   // 3xx
	contradictory                // it contradicts itself, the question or the contract
)

// retryRule says whether an outcome is tried again.
type retryRule int

const (
	retryNever   retryRule = iota
	retryPassing           // if the failure may pass by itself
	retryOnce              // once
	retryAlways            // as often as the policy allows
	retryAsked             // if the answer says when to come back
)

// saidNothing is the wait after a 429 that says nothing.
const saidNothing = time.Minute

// longestSlower is the longest Retry-After of a 429 that means "slower" and not "tomorrow".
const longestSlower = 10 * time.Minute
