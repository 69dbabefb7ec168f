package mockserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fiscope/fiscope"
)

// Codes of answers that docs/contract.md knows nothing of. They begin with MOCK_ so that nobody takes them
// for the contract's.
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
	codeRegistroDown = "MOCK_REGISTRY_FAILURE" // 500: the Registro given to the mock returned an error
)

// Codes that docs/contract.md, 4 and 7, gives.
const (
	codeNotFound       = "NOT_FOUND"
	codeSearchTooShort = "SEARCH_TOO_SHORT"
	codeInvalidSOL     = "INVALID_SOL_CREDENTIALS"
)

// codeInvalidField is of a receipt validation's 400 that the contract has no row for: a wrong type, tipoComprobante or numero.
const codeInvalidField = "INVALID_FIELD"

// answer is a complete answer, before anything of it is written.
type answer struct {
	status int
	code   string // the error body's code; "" when it is not an error
	allow  string // the Allow header of a 405
	body   []byte
	kept   []byte // what the journal is given instead of the body; nil for the body

	passed http.Header // that of a real service, instead of the server's own; nil for none
}

// The shapes on the wire stand each beside the operation that answers with it. They are written from
// docs/contract.md, 2, and never shared with the SDK: a wrong name on one side must be able to fail a test.

type wireError struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}

// success is the 200 that carries v.
func success(v any) answer { return answer{status: http.StatusOK, body: encode(v)} }

// refusal is an error answer. Its text is in Spanish and says what was wrong, what to do, and which rule
// of the contract it is; it never repeats a value of a request's body, which may be a misplaced clave.
func refusal(status int, code, format string, args ...any) answer {
	body := wireError{Error: fmt.Sprintf(format, args...), Code: code}
	return answer{status: status, code: code, body: encode(body)}
}

// jsonType is shared by all answers and never written.
var jsonType = []string{"application/json"}

func (a answer) header(h http.Header) {
	h["Content-Type"] = jsonType // names as net/http keeps them: Set would convert them for every answer
	h["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	if a.allow != "" {
		h.Set("Allow", a.allow)
	}
}

// usualSize is enough for a taxpayer's record.
const usualSize = 640

// encode marshals one of the wire structs. Names like "A & B" stay as they are: json.Marshal would
// escape the ampersand for HTML.
func encode(v any) []byte {
	b := bytes.NewBuffer(make([]byte, 0, usualSize))
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("mockserver: encode %T: %v", v, err)) // strings, a bool and checked numbers: cannot fail
	}
	return b.Bytes()
}

// quoted shows a short piece of a request's line, without keys, in an error text.
func quoted(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return "«" + strings.ToValidUTF8(s, "�") + "»"
}

// enLima shows an instant in an error text.
func enLima(t time.Time) string {
	return t.In(fiscope.Lima).Format("2006-01-02 15:04:05") + " (hora de Lima)"
}
