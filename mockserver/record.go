package mockserver

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Bounds of what the journal keeps of one request, in bytes.
const (
	journalText   = 300
	journalAnswer = 4 << 10
)

// record takes note of a call, or of how it went on. It comes before the answer is written, so that who
// has an answer finds the request in the journal.
func (j *journal) record(c *call, a answer) {
	if j.limit == 0 {
		return
	}
	r := c.r
	e := entry{
		Request: Request{
			N: c.n, Time: c.now, Matched: c.admitted, Method: c.clean(r.Method), Path: c.clean(r.URL.Path), Query: c.query(), Key: c.keyID(),
			Agent: c.clean(r.UserAgent()), Body: c.redacted, Status: a.status, Code: a.code,
			Cost: c.cost, Left: c.left, Fault: c.fault, SOL: c.solResult,
		},
		answer: c.keep(a.body),
		sol:    c.solHash,
	}
	if c.op != nil {
		e.Op = c.op.name
	}
	if isRUC(c.ruc) {
		e.RUC = c.ruc
	}
	e.Conn, e.Reused = c.conn()
	c.n = j.put(c.account, e)
}

// conn returns the number of the call's connection and whether an earlier request came on it.
func (c *call) conn() (id int64, reused bool) {
	info, _ := c.r.Context().Value(connKey{}).(*connInfo)
	if info == nil {
		return 0, false
	}
	if c.n == 0 {
		c.nth = info.requests.Add(1)
	}
	return info.id, c.nth > 1
}

func (c *call) keyID() string {
	if c.account != nil {
		return c.account.id
	}
	if key := c.key; key != "" {
		return fingerprint(key)
	}
	return ""
}

// clean bounds a piece of the request's head, and takes the API key out of it, wherever it was put.
func (c *call) clean(s string) string {
	if key := c.key; key != "" && strings.Contains(s, key) {
		s = strings.ReplaceAll(s, key, fingerprint(key))
	}
	if len(s) > journalText {
		s = s[:journalText] + "…"
	}
	return s
}

// keep bounds an answer, and takes the API key out of it: an error text shows what was wrong in the path.
func (c *call) keep(body []byte) []byte {
	if key := c.key; key != "" && bytes.Contains(body, []byte(key)) {
		body = bytes.ReplaceAll(body, []byte(key), []byte(fingerprint(key)))
	}
	if len(body) > journalAnswer {
		return bytes.Clone(body[:journalAnswer]) // or the whole would stay in memory
	}
	return body
}

// query keeps the contract's parameters and counts the others, which may be anything.
func (c *call) query() string {
	if c.r.URL.RawQuery == "" {
		return ""
	}
	query := c.r.URL.Query()
	var kept []string
	for _, name := range []string{"razonSocial", "limit", "fecha"} {
		for _, value := range query[name] {
			kept = append(kept, name+"="+value)
		}
		delete(query, name)
	}
	if len(query) > 0 {
		kept = append(kept, fmt.Sprintf("(%d more)", len(query)))
	}
	return c.clean(strings.Join(kept, "&"))
}

// outOfSight stands where a value was taken out.
const outOfSight = `"***"`

// redact writes a receipt validation's body for the journal. It keeps what has the shape of the
// contract's fields, and of usuarioSol the end; a clave in the wrong field is taken out too.
func redact(object map[string]json.RawMessage) string {
	var clave string
	_ = json.Unmarshal(object["claveSol"], &clave)
	var members []string
	for _, name := range cpeFields {
		raw, ok := object[name]
		if !ok {
			continue
		}
		kept := outOfSight // of claveSol always
		var text string
		switch err := json.Unmarshal(raw, &text); {
		case clave != "" && strings.Contains(string(raw)+text, clave):
		case name == "usuarioSol" && err == nil && utf8.RuneCountInString(text) > 3:
			kept = quotedJSON("***" + string([]rune(text)[utf8.RuneCountInString(text)-2:]))
		case name == "numero" && len(raw) <= 10 && strings.Trim(string(raw), "-0123456789.") == "":
			kept = string(raw)
		case (name == "rucEmisor" || name == "rucSolicitante") && err == nil && len(text) <= 12 && digits(text),
			name == "tipoComprobante" && err == nil && len(text) <= 2,
			name == "serie" && err == nil && len(text) <= 4:
			kept = quotedJSON(text)
		}
		members = append(members, `"`+name+`":`+kept)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func quotedJSON(s string) string {
	text, _ := json.Marshal(s) // a string: cannot fail
	return string(text)
}

// unreadBody is what is kept of a body that is no JSON object: it may hold a clave anywhere.
func unreadBody(r *http.Request, size int) string {
	kind := "application/json"
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != kind {
		kind = "not application/json"
	}
	return "(" + strconv.Itoa(size) + " bytes, " + kind + ")"
}

var secret = sync.OnceValue(func() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails, by its documentation
	return b
})

// fingerprint names a key without telling it: it is another one in each process.
func fingerprint(key string) string {
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), secret()...), key...))
	return "k_" + hex.EncodeToString(sum[:4])
}

var solSeed = maphash.MakeSeed()

func hashOf(id solID) uint64 { return maphash.Comparable(solSeed, id) | 1 }
