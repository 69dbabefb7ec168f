package fiscope

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/fiscope/fiscope/internal/batch"
)

// outcome is what one attempt, or a whole call, came to: answer.read decides it, or answer.end if no answer came. All else
// follows from the table outcomes.
type outcome int

const (
	byHand        outcome = iota // an *Error that the caller made
	found                        // a result
	notFound                     // NOT_FOUND
	tooShort                     // SEARCH_TOO_SHORT
	inputRefused                 // 400 or 422
	callRefused                  // another 4xx
	refusedPage                  // a 4xx with an HTML page, such as a firewall's, and 410
	solRefused                   // INVALID_SOL_CREDENTIALS
	keyRefused                   // 401 or 402 from the service
	keyForbidden                 // 403 from the service
	unexplained                  // 401 that may be about the key or the clave
	quotaSpent                   // the day's quota is spent
	tooFast                      // 429 that asks for fewer calls
	silent                       // 429 that says nothing: calls came too fast
	failedOnce                   // 500, which this very request may have caused
	failedAwhile                 // 502, 503, 504
	failedForGood                // 408, any other 5xx, and a 403 without a code or text, as of a firewall
	bodyBroke                    // a 200 with an incomplete body
	page                         // unusable: empty, another server's page, or a required field is missing
	redirected                   // 3xx
	contradictory                // it contradicts itself or the contract
	otherSubject                 // it is about another RUC or date
	unanswered                   // sent, and no answer came

	// The calls that end here, without an answer.
	misused      // an invalid option, policy or context
	invalidInput // the input breaks a rule
	shortText    // the text to search is too short
	unpublished  // the rate may still come
	noRate       // that date has no rate
	quotaClosed  // the quota is known to be spent, or kept in reserve, or calls come too fast
	solBlocked   // the clave was refused before
	solDoubted   // the clave, or the API key, was refused before
	solBusy      // another call tries the clave
	storeAway    // the clave needs the Store, which is away
	deadlineNear // too little time is left to send it
	outOfTime    // the context's deadline
	canceled     // the context was cancelled
	brokeOff     // a panic
	lastOutcome
)

// Avoided says why a call spent no query.
type Avoided string

// The reasons.
const (
	AvoidedInvalid     Avoided = "invalid"     // the input breaks a rule
	AvoidedQuota       Avoided = "quota"       // the quota is spent, or the rest is kept in reserve
	AvoidedSOL         Avoided = "sol"         // the SOL credential was refused before, or needs the Store, which is away
	AvoidedUnpublished Avoided = "unpublished" // that date has no rate according to the calendar, or not yet
	AvoidedOutOfTime   Avoided = "out of time" // the context ended before the first attempt
	AvoidedCached      Avoided = "cached"      // see WithCache
	AvoidedCoalesced   Avoided = "coalesced"   // it shared another call's query, see WithCoalescing
	AvoidedOutage      Avoided = "outage"      // the service is away: a stale answer or the Respaldo served at once
	avoidedNot         Avoided = ""
)

// retryRule says whether an immediate retry may succeed.
type retryRule int

const (
	retryNever   retryRule = iota
	retryPassing           // if the failure may pass by itself
	retryOnce              // once
	retryAlways            // as often as the policy allows
	retryAsked             // if the answer says when to come back
)

// fallbackRule says whether a fallback answers instead of the service.
type fallbackRule int

const (
	answered   fallbackRule = iota // the answer stands
	unlessRate                     // a lookup or a search is answered by a fallback; a rate is not
	unusable                       // the service gave no usable answer
)

// Texts for a clerk if that of the class would mislead.
const (
	textoDeMalUso  = "La consulta no se hizo como el servicio la pide: avise a quien administra este sistema."
	textoMasLento  = "El servicio de consultas pide ir más despacio: intente de nuevo en unos minutos."
	textoDeUnaDuda = "El servicio rechazó antes una consulta igual sin decir si fue por el acceso de este sistema o por la clave SOL: avise a quien lo administra."
)

// outcomes says what follows from each outcome.
var outcomes = [lastOutcome]struct {
	class   error         // the class of the error, a key of the table classes; nil for none
	away    fallbackRule  // whether a fallback answers instead
	retry   retryRule     // whether an immediate retry may succeed
	avoided Avoided       // why a call without an attempt spent no query
	verdict batch.Outcome // what it means for a batch
	level   slog.Level    // of the log: Debug for the caller's own doing
	texto   string        // for a clerk; "" for the class's
	status  int           // for the caller's own service; 0 for the class's
}{
	found:         {verdict: batch.Answered, level: slog.LevelDebug},
	notFound:      {class: ErrNotFound, verdict: batch.Answered, level: slog.LevelDebug},
	tooShort:      {class: ErrSearchTooShort, level: slog.LevelDebug},
	inputRefused:  {class: ErrInvalidRequest, level: slog.LevelDebug},
	callRefused:   {class: ErrInvalidRequest, texto: textoDeMalUso, status: http.StatusInternalServerError, level: slog.LevelWarn},
	refusedPage:   {class: ErrInvalidRequest, away: unusable, avoided: AvoidedOutage, texto: textoDeMalUso, status: http.StatusInternalServerError, level: slog.LevelWarn},
	solRefused:    {class: ErrInvalidSOLCredentials, verdict: batch.Stop, level: slog.LevelWarn},
	keyRefused:    {class: ErrUnauthorized, away: unlessRate, avoided: AvoidedOutage, verdict: batch.Stop, level: slog.LevelError},
	keyForbidden:  {class: ErrUnauthorized, away: unlessRate, avoided: AvoidedOutage, verdict: batch.StopFirst, level: slog.LevelError},
	unexplained:   {class: ErrUnauthorized, verdict: batch.Stop, level: slog.LevelWarn},
	quotaSpent:    {class: ErrQuotaExceeded, away: unusable, avoided: AvoidedOutage, verdict: batch.Stop, level: slog.LevelWarn},
	tooFast:       {class: ErrQuotaExceeded, away: unusable, avoided: AvoidedOutage, retry: retryAsked, verdict: batch.TooFast, texto: textoMasLento, level: slog.LevelWarn},
	silent:        {class: ErrQuotaExceeded, away: unusable, avoided: AvoidedOutage, verdict: batch.TooFast, texto: textoMasLento, level: slog.LevelWarn},
	failedOnce:    {class: ErrUnavailable, away: unusable, avoided: AvoidedOutage, retry: retryOnce, verdict: batch.Away, level: slog.LevelWarn},
	failedAwhile:  {class: ErrUnavailable, away: unusable, avoided: AvoidedOutage, retry: retryAlways, verdict: batch.Away, level: slog.LevelWarn},
	failedForGood: {class: ErrUnavailable, away: unusable, avoided: AvoidedOutage, verdict: batch.Away, level: slog.LevelWarn},
	bodyBroke:     {class: ErrUnavailable, away: unusable, avoided: AvoidedOutage, retry: retryPassing, verdict: batch.Away, level: slog.LevelWarn},
	page:          {class: ErrMalformedResponse, away: unusable, avoided: AvoidedOutage, level: slog.LevelWarn},
	redirected:    {class: ErrRedirect, away: unusable, avoided: AvoidedOutage, level: slog.LevelWarn},
	contradictory: {class: ErrMalformedResponse, away: unlessRate, avoided: AvoidedOutage, level: slog.LevelWarn},
	otherSubject:  {class: ErrMalformedResponse, level: slog.LevelWarn},
	unanswered:    {class: ErrUnavailable, away: unusable, avoided: AvoidedOutage, retry: retryPassing, verdict: batch.Away, level: slog.LevelWarn},

	misused:      {class: ErrInvalidRequest, avoided: AvoidedInvalid, verdict: batch.Aside, level: slog.LevelDebug, texto: textoDeMalUso, status: http.StatusInternalServerError},
	invalidInput: {class: ErrInvalidRequest, avoided: AvoidedInvalid, verdict: batch.Aside, level: slog.LevelDebug},
	shortText:    {class: ErrSearchTooShort, avoided: AvoidedInvalid, verdict: batch.Aside, level: slog.LevelDebug},
	unpublished:  {class: ErrNotYetPublished, avoided: AvoidedUnpublished, verdict: batch.Answered, level: slog.LevelDebug},
	noRate:       {class: ErrNotFound, avoided: AvoidedUnpublished, verdict: batch.Answered, level: slog.LevelDebug},
	quotaClosed:  {class: ErrQuotaExceeded, away: unusable, avoided: AvoidedQuota, verdict: batch.Stop, level: slog.LevelWarn},
	solBlocked:   {class: ErrSOLCredentialsBlocked, avoided: AvoidedSOL, verdict: batch.Stop, level: slog.LevelWarn},
	solDoubted:   {class: ErrSOLCredentialsBlocked, avoided: AvoidedSOL, verdict: batch.Stop, texto: textoDeUnaDuda, level: slog.LevelWarn},
	solBusy:      {class: errNotSent, avoided: AvoidedOutOfTime, verdict: batch.Again, level: slog.LevelWarn},
	storeAway:    {class: errNotSent, avoided: AvoidedSOL, verdict: batch.Away, level: slog.LevelWarn},
	deadlineNear: {class: context.DeadlineExceeded, away: unusable, avoided: AvoidedOutOfTime, verdict: batch.Stop, level: slog.LevelWarn},
	outOfTime:    {class: context.DeadlineExceeded, away: unusable, avoided: AvoidedOutOfTime, level: slog.LevelWarn},
	canceled:     {class: context.Canceled, avoided: AvoidedOutOfTime, level: slog.LevelDebug},
	brokeOff:     {avoided: AvoidedOutOfTime, level: slog.LevelWarn},
}
