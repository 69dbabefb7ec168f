package mockserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// bodyMost is the largest accepted body; the seven fields of a receipt validation take about 200 bytes.
const bodyMost = 64 << 10

// request is what came, and whose it is.
type request struct {
	w       http.ResponseWriter
	r       *http.Request
	closing <-chan struct{} // closed when the server begins to close, which ends all waits

	to      *route    // nil for none
	op      Operation // "" if no route has the path
	ruc     string    // of a lookup's path; of a validation, the issuer's once its fields are valid
	key     string    // as sent
	account *account  // nil if the key is missing or unknown

	known *redact.Keys // the server's keys on arrival
	keys  redact.Keys  // to hide in all texts: known, and others

	body     []byte // once it was read
	bodyErr  error
	redacted string // the body for the journal

	wasRead  bool // the body was read
	others   bool // keys has others than known
	admitted bool // path, method and key are right
}

// hide hides one more secret in all texts.
func (q *request) hide(secret string) { q.keys, q.others = q.keys.And(secret), true }

// quoted formats a piece of the request line for an error text. It hides keys, also another client's, before it cuts.
func (q *request) quoted(s string) string { return quoted(q.keys.Out(s)) }

// readBody reads the body once.
func (q *request) readBody() ([]byte, error) {
	if !q.wasRead {
		q.wasRead = true
		q.body, q.bodyErr = io.ReadAll(http.MaxBytesReader(q.w, q.r.Body, bodyMost))
		if len(q.body) > 0 {
			q.redacted = redact.Body(q.r.Header.Get("Content-Type"), len(q.body))
		}
	}
	return q.body, q.bodyErr
}

// readOn reads the rest of the body, and reports whether the client is still there: net/http notices that a client left only
// after the body was read.
func (q *request) readOn() bool {
	if q.r.Body == nil || q.r.Body == http.NoBody {
		return true
	}
	read, watch := make(chan struct{}), sync.WaitGroup{}
	watch.Go(func() { // a client that stops sending must not block Close
		select {
		case <-q.closing:
			_ = http.NewResponseController(q.w).SetReadDeadline(time.Unix(1, 0)) // long past
		case <-read:
		}
	})
	defer watch.Wait()
	defer close(read)
	if !q.arrived() {
		return false
	}
	_, err := io.Copy(io.Discard, q.r.Body)
	return err == nil
}

// arrived reads the body and reports whether it arrived, even if it is too large.
func (q *request) arrived() bool {
	_, err := q.readBody()
	tooLarge := (*http.MaxBytesError)(nil)
	return err == nil || errors.As(err, &tooLarge)
}

// query decodes the query string. It refuses parts that net/url would drop silently, bytes that are not UTF-8, and a
// repeated parameter of the operation. Unknown parameters are ignored.
func (q *request) query() (url.Values, answer) {
	query, err := url.ParseQuery(q.r.URL.RawQuery)
	if err != nil {
		return nil, refusal(http.StatusBadRequest, codeBadQuery,
			"la cadena de consulta no se puede leer: escriba %% como %%25, & como %%26 y ; como %%3B en los valores (RFC 3986)")
	}
	for _, name := range q.to.params {
		if len(query[name]) > 1 {
			return nil, refusal(http.StatusBadRequest, codeRepeated,
				"el parámetro %s llegó %d veces: envíelo una sola vez", name, len(query[name]))
		}
		if !utf8.ValidString(query.Get(name)) {
			return nil, refusal(http.StatusBadRequest, codeBadQuery,
				"el parámetro %s no está en UTF-8: una Ñ, por ejemplo, se escribe %%C3%%91", name)
		}
	}
	return query, answer{}
}

// isAbout reports whether a call is about a taxpayer: a lookup's, or either side of a validation.
func (q *request) isAbout(ruc string) bool {
	switch q.op {
	case OpConsultar:
		return q.ruc == ruc
	case OpValidar:
		var sides struct{ RUCEmisor, RUCSolicitante any }
		body, _ := q.readBody()
		_ = json.Unmarshal(body, &sides) // invalid JSON matches nothing
		return sides.RUCEmisor == ruc || sides.RUCSolicitante == ruc
	}
	return false
}

// text returns what is asked for: a RUC, a search's text, a rate's date (today's if it has none), or a receipt.
func (q *request) text(now time.Time) string {
	switch query := q.r.URL.Query; q.op {
	case OpConsultar:
		return q.ruc
	case OpBuscar:
		return query().Get("razonSocial")
	case OpTipoCambio:
		return cmp.Or(query().Get("fecha"), fiscope.FechaEnLima(now).String())
	case OpValidar:
		body, _ := q.readBody()
		return receipt(body)
	}
	return ""
}

// receipt returns the series and number in a validation's body, such as F001-124; "" for none.
func receipt(body []byte) string {
	var of struct {
		Serie  string
		Numero json.Number
	}
	_ = json.Unmarshal(body, &of) // other types are no series and no number
	return strings.Trim(of.Serie+"-"+of.Numero.String(), "-")
}

// question returns a hash of what is asked and of the client; 0 while it is not known.
func (q *request) question() uint64 {
	if !q.admitted || q.op == OpValidar && !q.wasRead {
		return 0
	}
	sum := uint64(0)
	for _, part := range [...]string{q.key, q.r.UserAgent(), q.r.Method, q.r.URL.Path, q.r.URL.RawQuery} {
		sum = sum*31 + maphash.String(hashSeed, part)
	}
	if q.op == OpValidar { // other bodies are not read, except by a fault
		sum = sum*31 + maphash.Bytes(hashSeed, q.body)
	}
	return sum | 1
}

// fingerprint returns the fingerprint of the key, "" without one.
func (q *request) fingerprint() string {
	switch {
	case q.account != nil:
		return q.account.id
	case q.key != "":
		return redact.Fingerprint(q.key)
	}
	return ""
}

// params returns the names of the operation's query parameters; without an operation, of all.
func (q *request) params() []string {
	if q.to == nil {
		return []string{"razonSocial", "limit", "fecha"}
	}
	return q.to.params
}

// writeHead begins the answer. On the wire the quota's headers are spelled as in docs/contract.md, 8, for clients that compare
// bytes; without one, as [http.Header.Get] finds them.
func (q *request) writeHead(status int) {
	if q.r.Context().Value(http.ServerContextKey) != nil {
		h := q.w.Header()
		for i, name := range rateLimitHeaders {
			if values := h[name]; values != nil {
				delete(h, name)
				h[rateLimitSpelled[i]] = values
			}
		}
	}
	q.w.WriteHeader(status)
}
