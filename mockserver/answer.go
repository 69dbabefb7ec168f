package mockserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/scrub"
)

// Codes of answers that are not in docs/contract.md. The prefix MOCK_ keeps them apart from the contract's.
const (
	codeNoRoute      = "MOCK_NO_ROUTE"         // 404: no such path
	codeMethod       = "MOCK_METHOD"           // 405: the path exists, with another method
	codeMediaType    = "MOCK_MEDIA_TYPE"       // 415: the body's Content-Type is not application/json
	codeTooLarge     = "MOCK_BODY_TOO_LARGE"   // 413
	codeNotJSON      = "MOCK_INVALID_JSON"     // 400: the body is not one JSON object
	codeBadQuery     = "MOCK_INVALID_QUERY"    // 400: the query string cannot be decoded
	codeRepeated     = "MOCK_REPEATED_PARAM"   // 400: a query parameter came twice
	codeUnreadable   = "MOCK_UNREADABLE_BODY"  // 400: the connection broke while the body was read
	codeUpstream     = "MOCK_UPSTREAM"         // 502: the real service did not answer
	codeNotRecorded  = "MOCK_NOT_RECORDED"     // 501: the recording lacks the question
	codeRegistroDown = "MOCK_REGISTRY_FAILURE" // 500: the Registro given to the mock returned an error
)

// Codes of docs/contract.md, 4 and 7.
const (
	codeNotFound       = "NOT_FOUND"
	codeSearchTooShort = "SEARCH_TOO_SHORT"
	codeInvalidSOL     = "INVALID_SOL_CREDENTIALS"
)

// codeInvalidField is for a receipt validation with a wrong type, tipoComprobante or numero. The contract has no code.
const codeInvalidField = "INVALID_FIELD"

// answer is a complete answer, before it is written.
type answer struct {
	status int
	code   string // the error body's code; "" if it is not an error
	allow  string // the Allow header of a 405
	body   []byte
	kept   []byte // recorded in the journal instead of body; nil for body

	passed http.Header // headers of a real service, used instead of the server's; nil for none
}

// Each wire struct is declared beside its operation. They are written from docs/contract.md, 2, and never shared with the
// SDK, so that a wrong name on one side fails a test.

type wireError struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}

// success returns a 200 with v as its body.
func success(v any) answer { return answer{status: http.StatusOK, body: encode(v)} }

// refusal returns an error answer. Its text is in Spanish: what is wrong, what to do, and the section of the contract. It
// never repeats a value of the request's body, which may be a misplaced clave.
func refusal(status int, code, format string, args ...any) answer {
	body := wireError{Error: fmt.Sprintf(format, args...), Code: code}
	return answer{status: status, code: code, body: encode(body)}
}

// jsonType is shared by all answers and never modified.
var jsonType = []string{"application/json"}

// encode marshals a wire struct. It keeps "A & B" as it is; json.Marshal would escape the ampersand for HTML.
func encode(v any) []byte {
	b := bytes.NewBuffer(make([]byte, 0, 640)) // enough for most taxpayer records
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("mockserver: encode %T: %v", v, err)) // strings, a bool and checked numbers: cannot fail
	}
	return b.Bytes()
}

// quoted formats a short piece of the request line for an error text, without keys.
func quoted(s string) string {
	return "«" + scrub.Cut(strings.ToValidUTF8(s, "�"), 60) + "»"
}

// enLima formats a time for an error text.
func enLima(t time.Time) string {
	return t.In(fiscope.Lima).Format("2006-01-02 15:04:05") + " (hora de Lima)"
}
