package mockserver

import (
	"fmt"
	"net/http"
)

// Refusal is the status and the body code of an error answer that the contract does not show.
type Refusal struct {
	Status int    // 400 to 599
	Code   string // "" is sent as an empty code; KeyBody and QuotaBody have forms without one
}

// ErrorBody is a form of the body of an error whose body the contract does not show (docs/contrato.md, 5.4 and
// 7): what refuses a key or counts a quota is often a gateway before the service, with errors of its own.
type ErrorBody string

// The forms.
const (
	ErrorBodyContract ErrorBody = "contract" // as all errors: {"error": TEXT, "code": CODE} (2.6)
	ErrorBodyNoCode   ErrorBody = "no-code"  // {"error": TEXT}
	ErrorBodyMessage  ErrorBody = "message"  // {"message": TEXT}, as API gateways write
	ErrorBodyPage     ErrorBody = "page"     // a page of text/html, as proxies write
	ErrorBodyEmpty    ErrorBody = "empty"    // no byte, and no Content-Type
)

var errorBodies = []ErrorBody{ErrorBodyContract, ErrorBodyNoCode, ErrorBodyMessage, ErrorBodyPage, ErrorBodyEmpty}

var (
	pageType = []string{"text/html; charset=utf-8"}
	noType   = []string{} // not nil: net/http leaves the header out
)

// refusal is an error answer in this form; see the function of that name.
func (b ErrorBody) refusal(r Refusal, format string, args ...any) answer {
	text := fmt.Sprintf(format, args...)
	switch b {
	case ErrorBodyNoCode:
		return answer{status: r.Status, body: encode(map[string]string{"error": text})}
	case ErrorBodyMessage:
		return answer{status: r.Status, body: encode(map[string]string{"message": text})}
	case ErrorBodyPage:
		title := fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status))
		// The texts are ours: nothing in them is to be escaped.
		page := fmt.Sprintf("<!DOCTYPE html>\n<html><head><title>%s</title></head><body><h1>%[1]s</h1><p>%s</p></body></html>\n", title, text)
		return answer{status: r.Status, contentType: pageType, body: []byte(page)}
	case ErrorBodyEmpty:
		return answer{status: r.Status, contentType: noType}
	}
	return refusal(r.Status, r.Code, "%s", text)
}
