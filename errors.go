package fiscope

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/scrub"
)

// Operation names an operation in errors and events, as in "Contribuyentes.Consultar".
type Operation string

// The operations. Each query of one that asks several times is a Contribuyentes.Consultar, CPE.Validar or
// TipoCambio.Consultar.
const (
	OpConsultarContribuyente    Operation = "Contribuyentes.Consultar"
	OpBuscarContribuyentes      Operation = "Contribuyentes.Buscar"
	OpConsultarLote             Operation = "Contribuyentes.ConsultarLote"
	OpValidarCPE                Operation = "CPE.Validar"
	OpEsperarCPE                Operation = "CPE.Esperar"
	OpValidarLote               Operation = "CPE.ValidarLote"
	OpConsultarTipoCambio       Operation = "TipoCambio.Consultar"
	OpTipoCambioHoy             Operation = "TipoCambio.Hoy"
	OpTipoCambioUltimoPublicado Operation = "TipoCambio.UltimoPublicado"
	OpTipoCambioSUNAT           Operation = "TipoCambio.SUNAT"
	OpTipoCambioMasReciente     Operation = "TipoCambio.MasReciente"
	OpTipoCambioMes             Operation = "TipoCambio.Mes"
)

// Delivery says whether the service may have received a failed request, and charged a query for it.
type Delivery int

// The deliveries.
const (
	DeliveryNotSent  Delivery = iota // nothing was written to the network: no query was spent
	DeliveryAnswered                 // an answer came, with its status
	DeliveryUnknown                  // it may have been written, but no answer came
)

// String returns "not sent", "answered" or "unknown".
func (d Delivery) String() string {
	if words := [...]string{"not sent", "answered", "unknown"}; d >= 0 && int(d) < len(words) {
		return words[d]
	}
	return fmt.Sprintf("Delivery(%d)", int(d))
}

// Error is the error of every operation. It unwraps to the sentinel of its class and to its cause (a context's error, a
// network error), if it has them. Your own tests can make one:
//
//	&fiscope.Error{Op: fiscope.OpConsultarContribuyente, Err: fiscope.ErrUnavailable}
type Error struct {
	Op         Operation
	StatusCode int           // the HTTP status of the last answer; 0 if none came
	Code       string        // the answer's code, such as NOT_FOUND; "" if it had none
	Message    string        // what was wrong: the service's sentence in Spanish, or ours in English
	Field      string        // the contract's name of the input that breaks a rule, such as "serie", or "comprobante" for all of it; "" for none
	RateLimit  *RateLimit    // from the last answer's headers; nil if none came
	RetryAfter time.Duration // how long to wait before the next call; 0 if unknown
	Attempts   int           // 0 if it was refused locally
	Delivery   Delivery      // whether the service may have received any attempt
	Err        error         // the sentinel of its class, such as ErrNotFound; nil for none

	outcome outcome
	cause   error
	body    []byte
	texto   string // for a clerk, about a RUC that breaks a rule; "" for none
	quoted  bool   // Message is the answer's own text
}

// longestBody is how many bytes of an answer an Error keeps at most.
const longestBody = 4096

// Body returns the first 4 KiB of the failed answer, or 800 bytes of a cached one; nil if none came. Never log it: it
// may hold a taxpayer's data.
func (e *Error) Body() []byte {
	if e == nil {
		return nil
	}
	return e.body
}

// Unwrap returns the sentinel and the cause.
func (e *Error) Unwrap() []error {
	if e == nil {
		return nil
	}
	return slices.DeleteFunc([]error{e.Err, e.cause}, func(err error) bool { return err == nil })
}

// Error returns one line in English that is safe to log.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	var b strings.Builder
	b.WriteString("fiscope: ")
	if e.Op != "" {
		b.WriteString(string(e.Op) + ": ")
	}
	class, _ := e.Err.(*sentinel) //nolint:errorlint // another error says more than the class that it wraps
	switch {
	case class != nil:
		b.WriteString(class.text)
	case e.Err != nil: // made by hand
		b.WriteString(scrub.Secrets{}.Line(strings.TrimPrefix(e.Err.Error(), "fiscope: ")))
	case e.cause != nil:
		b.WriteString(e.cause.Error())
	default:
		b.WriteString("failed")
	}
	if e.StatusCode != 0 {
		fmt.Fprintf(&b, " (%s)", strings.TrimSpace(fmt.Sprintf("HTTP %d %s", e.StatusCode, e.Code)))
	}
	switch {
	case e.quoted:
		fmt.Fprintf(&b, ": the answer says %q", e.Message)
	case e.Message != "":
		b.WriteString(": " + e.Message)
	case e.Err != nil && e.cause != nil:
		b.WriteString(": " + e.cause.Error())
	}
	switch {
	case e.outcome == refusedPage:
		b.WriteString("; check the base URL and what stands between (proxy, firewall)")
	case e.outcome == unexplained && strings.HasPrefix(string(e.Op), "CPE."):
		b.WriteString("; check the API key and the clave: the answer may refuse either")
	case class != nil && class.advice != "" && e.outcome != contradictory && e.outcome != otherSubject:
		b.WriteString("; " + class.advice)
	}
	if check, _ := e.toCheck(); check != "" {
		b.WriteString("; " + check)
	}
	if e.RetryAfter > 0 && (errors.Is(e.Err, ErrUnavailable) || e.StatusCode == http.StatusTooManyRequests) {
		fmt.Fprintf(&b, "; try again in %s", e.RetryAfter.Round(time.Second))
	}
	switch {
	case e.Delivery == DeliveryNotSent && e.Op != "": // without one nothing was to be sent
		b.WriteString("; nothing was sent")
	case e.Delivery == DeliveryUnknown:
		b.WriteString("; the service may have received it")
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, "; %d attempts", e.Attempts)
	}
	return b.String()
}

// Format writes the line of Error for every verb.
func (e *Error) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, e.Error()) }

// copyError returns an *Error that the caller may change.
func copyError(err error) *Error {
	e, ok := err.(*Error) //nolint:errorlint // a wrapped one is another call's
	if !ok {
		return &Error{cause: err}
	}
	c := *e
	c.RateLimit, c.body = e.RateLimit.copy(), bytes.Clone(e.body)
	return &c
}

// The functions below make an *Error without the details of its call. The layer report adds those.

// newError returns the error of a call that ends here.
func newError(o outcome, format string, args ...any) *Error {
	return &Error{Err: outcomes[o].class, outcome: o, Message: fmt.Sprintf(format, args...)}
}

// invalid is the error for a field that breaks a rule of the contract.
func invalid(field, format string, args ...any) error {
	e := newError(invalidInput, field+" "+format, args...)
	e.Field = field
	return e
}

// misuse is the error for an invalid option, policy or context: a mistake of the program, not of what its user typed.
func misuse(format string, args ...any) error { return newError(misused, format, args...) }

// errDeadlineTooClose ends a call whose deadline comes before it may be sent.
var errDeadlineTooClose = fmt.Errorf("%w: too little time is left to send it", context.DeadlineExceeded)
