package fiscope

import (
	"time"
)

// outcome is what an answer means. It is decided once; everything else follows from the table outcomes.
type outcome int

const (
	unanswered    outcome = iota // no answer came
	found                        // a result
	notFound                     // NOT_FOUND
	tooShort                     // SEARCH_TOO_SHORT
	inputRefused                 // another 4xx
	refusedPage                  // another 4xx with an HTML page, such as a firewall's
	solRefused                   // INVALID_SOL_CREDENTIALS
	keyRefused                   // 401 or 403 from the service
	unexplained                  // 401 without a code: it may be about the key or the clave
	quotaSpent                   // the day's quota is spent
	tooFast                      // 429 that asks for fewer calls
	failedOnce                   // 500, which this very request may have caused
	failed                       // 502, 503, 504
	failedForGood                // 408, any other 5xx, and a firewall's page
	bodyBroke                    // a 200 with an incomplete body
	page                         // unusable: empty, another server's page, or a required field is missing
	redirected                   // 3xx
	contradictory                // it contradicts itself, the question or the contract
)

// retryRule says whether an attempt with some outcome is retried.
type retryRule int

const (
	retryNever   retryRule = iota
	retryPassing           // if the failure may pass by itself
	retryOnce              // once
	retryAlways            // as often as the policy allows
	retryAsked             // if the answer says when to come back
)

// defaultSlowDown is the wait after a 429 without a Retry-After.
const defaultSlowDown = time.Minute

// longestSlowDown is the longest Retry-After of a 429 that means "slower", not "tomorrow".
const longestSlowDown = 10 * time.Minute
