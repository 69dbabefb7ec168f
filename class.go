package fiscope

// The classes of failure, for [errors.Is]. The body's code decides first, then the status.
var (
	// ErrInvalidRequest: the input breaks a rule. If the client knows the rule, nothing is sent; otherwise it is a 4xx.
	ErrInvalidRequest = newClass("invalid request", "", nil)
	// ErrSearchTooShort: the text to search has fewer than 3 characters. It also is ErrInvalidRequest.
	ErrSearchTooShort = newClass("search text too short", "", ErrInvalidRequest)
	// ErrNotFound: no taxpayer has that RUC, or no rate exists for that date.
	ErrNotFound = newClass("not found", "", nil)
	// ErrNotYetPublished: the rate of a recent business day may still come. It also is ErrNotFound.
	ErrNotYetPublished = newClass("not yet published", "", ErrNotFound)
	// ErrInvalidSOLCredentials: the SOL user or its clave was refused. Do not repeat: repeated refusals block the user.
	ErrInvalidSOLCredentials = newClass("SOL credentials refused", "correct the clave before the next try: repeated refusals block the SOL user", nil)
	// ErrSOLCredentialsBlocked: the credential was refused before, and not sent again. It also is
	// ErrInvalidSOLCredentials. See [CPEService.Olvidar].
	ErrSOLCredentialsBlocked = newClass("SOL credentials not sent", "correct the clave, or call Olvidar if you know that it is right", ErrInvalidSOLCredentials)
	// ErrUnauthorized: the service refuses the API key (401, 402, or 403 with an error body). In a validation, a 401 may
	// also be about the clave, unless its code speaks of the key.
	ErrUnauthorized = newClass("unauthorized", "check the API key", nil)
	// ErrQuotaExceeded: the daily quota is spent, or the service asks for fewer calls (429).
	ErrQuotaExceeded = newClass("quota exceeded", "", nil)
	// ErrUnavailable: no usable answer came (5xx, timeout, broken connection). The same call may succeed later.
	ErrUnavailable = newClass("service unavailable", "", nil)
	// errNotSent: whether the clave may be sent could not be found out. The service was not asked.
	errNotSent = newClass("SOL credentials not sent", "", ErrUnavailable)
	// ErrMalformedResponse: the answer does not follow the contract, so nothing of it is used.
	ErrMalformedResponse = newClass("malformed response", "check the base URL and what stands between (proxy, firewall)", nil)
	// ErrRedirect: the service redirects. The client does not follow: it would pass on the API key and the clave.
	ErrRedirect = newClass("redirect not followed", "check the base URL", nil)
)

// sentinel is a class of failure.
type sentinel struct {
	text   string
	advice string
	parent error
}

func newClass(text, advice string, parent error) error { return &sentinel{text, advice, parent} }

func (s *sentinel) Error() string { return "fiscope: " + s.text }
func (s *sentinel) Unwrap() error { return s.parent }
