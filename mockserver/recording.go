package mockserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/strictjson"
	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// recording has the answers of a real service, which it asks for others, unless its URL is "".
type recording struct {
	Upstream
	now       func() time.Time // the real time
	transport http.Transport
	usage     usage    // of the service's quota, by this server
	sent      sync.Map // the keys and claves that were sent: none may be in the file
	refused   sync.Map // the keys that the service refused: they get no recorded answer

	mu      sync.Mutex
	answers map[string]*recorded // by question
	unsaved atomic.Bool          // some are neither saved nor being saved
	saver   *time.Timer          // saves them
	saving  sync.Mutex
}

// recorded is an answer in the form of the file. Its body is JSON, other UTF-8, or other bytes.
type recorded struct {
	Question string    `json:"question"`
	Asked    time.Time `json:"asked"`
	Status   int       `json:"status"`
	Headers  []string  `json:"headers,omitempty"`
	Replaced bool      `json:"secretReplaced,omitempty"`
	Body     jsonText  `json:"body,omitzero"`
	Text     string    `json:"bodyText,omitempty"`
	Bytes    []byte    `json:"bodyBase64,omitempty"`

	answer answer // as it is sent
	text   string // in the file, with the body; "" until encode
}

// jsonText is any JSON value, token for token. In a bare RawMessage strictjson would refuse null and repeated names.
type jsonText struct{ json.RawMessage }

// keptHeader matches the names of headers that a recording has.
var keptHeader = regexp.MustCompile(`^(Content-Type|Retry-After|X-Ratelimit-.+)$`)

func newRecorded(question string, asked time.Time, a answer, secrets redact.Keys) *recorded {
	r := &recorded{Question: question, Asked: asked.In(fiscope.Lima).Truncate(time.Second), Status: a.status}
	for _, name := range slices.Sorted(maps.Keys(a.passed)) {
		for _, value := range a.passed[name] {
			if keptHeader.MatchString(name) {
				r.Headers = append(r.Headers, strings.Replace(name, "Ratelimit", "RateLimit", 1)+": "+secrets.Out(value))
			}
		}
	}
	body, isJSON := []byte(secrets.Out(string(a.body))), utf8.Valid(a.body) && json.Valid(a.body)
	if isJSON { // only the tokens that have a secret may change
		body = literals.ReplaceAllFunc(a.body, func(token []byte) []byte {
			if shown := secrets.Out(string(token)); shown != string(token) {
				return bytes.TrimSpace(encode(strings.TrimSuffix(strings.TrimPrefix(shown, `"`), `"`)))
			}
			return token
		})
	}
	r.Replaced = !bytes.Equal(body, a.body)
	switch {
	case isJSON:
		r.Body.RawMessage = bytes.TrimSpace(body)
	case utf8.Valid(body):
		r.Text = string(body)
	default:
		r.Bytes = body
	}
	return r
}

// encode makes the text of the file, which replaces the body: its last member, as it is, since the encoder of Go 1.27
// changes tokens.
func (r *recorded) encode() {
	own := *r
	own.Body = jsonText{}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // people read it
	e.SetIndent("    ", "  ")
	_ = e.Encode(own) // it is valid
	const end = "\n    }"
	if body := r.Body.RawMessage; body != nil {
		text.Truncate(text.Len() - len(end+"\n"))
		text.WriteString(",\n      \"body\": ")
		_ = json.Indent(&text, body, "      ", "  ") // it is valid
		text.WriteString(end)
	}
	r.Body, r.Text, r.Bytes, r.text = jsonText{}, "", nil, strings.TrimSpace(text.String())
}

func (r *recorded) id() string { return r.Question }

// check makes the answer, or returns why it is invalid.
func (r *recorded) check() error {
	u, err := url.Parse(r.Question)
	if err == nil {
		r.Question = questionOf(u)
	}
	var body bytes.Buffer
	_ = json.Compact(&body, r.Body.RawMessage) // it is valid, or empty
	longest := max(body.Len(), len(r.Text), len(r.Bytes))
	_, _ = body.WriteString(r.Text)
	_, _ = body.Write(r.Bytes)
	header := http.Header{}
	for _, line := range r.Headers {
		name, value, _ := strings.Cut(line, ": ")
		if header.Add(name, value); !keptHeader.MatchString(http.CanonicalHeaderKey(name)) {
			return fmt.Errorf("headers: %q no es un Content-Type, un Retry-After ni un X-RateLimit-", strictjson.Short(name))
		}
	}
	switch {
	case err != nil || r.Question == "":
		return errors.New("question no es como /api/contribuyentes/20131312955 ni /api/tipocambio?fecha=2026-11-20")
	case r.Status < 200 || r.Status > 599:
		return errors.New("status debe ser de 200 a 599")
	case checkTime(r.Asked) != nil:
		return errors.New("asked no es la hora en que se preguntó")
	case body.Len() > longest:
		return errors.New("de body, bodyText y bodyBase64 va uno solo")
	}
	r.answer = passedOn(r.Status, header, body.Bytes())
	return nil
}

// questionOf returns what a URL asks for as people would write it; "" if no recording has it.
func questionOf(u *url.URL) string {
	to, ruc := routeOf(u)
	query, err := url.ParseQuery(u.RawQuery)
	if to == nil || to.op == OpValidar || err != nil && to.params != nil {
		return ""
	}
	readable := func(value string) string { return special.ReplaceAllStringFunc(value, url.QueryEscape) }
	question, separator := to.words()+readable(ruc), "?"
	for _, name := range to.params {
		for _, value := range query[name] {
			question, separator = question+separator+name+"="+readable(value), "&"
		}
	}
	return question
}

// special are the characters that a URL would read as others, and bytes that are not UTF-8.
var special = regexp.MustCompile(`[%&+;#?/\x00-\x1f\x7f\x{fffd}]`)

// newRecording returns a server's recording and the time of its last answer; nil without one.
func newRecording(of *Upstream, now func() time.Time) (_ *recording, last time.Time, err error) {
	if of == nil {
		return nil, last, nil
	}
	r := &recording{Upstream: *of, now: now, answers: map[string]*recorded{}}
	r.usage.limit.Store(Unlimited)
	r.saver = time.AfterFunc(time.Hour, func() { _ = r.save() }) // Save reports the error
	r.saver.Stop()
	r.transport.Proxy, r.transport.MaxIdleConnsPerHost = http.ProxyFromEnvironment, 100
	text, err := os.ReadFile(r.File)
	if r.asks() && len(text) == 0 && (err == nil || errors.Is(err, os.ErrNotExist)) {
		return r, last, nil
	} else if err != nil {
		return nil, last, err
	}
	var file struct {
		Answers []*recorded `json:"answers"`
	}
	err = readStrictly(text, r.File, &file, func() (string, int, error) {
		item, err := firstError(file.Answers, (*recorded).check, (*recorded).id)
		return "answers", item, err
	})
	for _, a := range file.Answers {
		if r.answers[a.Question] = a; a.Asked.After(last) {
			last = a.Asked
		}
		if r.Save != nil {
			a.encode()
		}
	}
	return r, last, err
}

// add adds an answer, unless it is to no question. A 200 is replaced by nothing, or with Again by a newer 200.
func (r *recording) add(a *recorded) {
	if a.check() != nil {
		return
	}
	a.encode()
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.answers[a.Question]; old != nil && old.Status == http.StatusOK && !(r.Again && a.Status == http.StatusOK) {
		return
	}
	r.answers[a.Question] = a
	if r.Save != nil && !r.unsaved.Swap(true) {
		r.saver.Reset(time.Second / 4)
	}
}

// save saves the answers if some are not saved, and again a minute after an error. Meanwhile others are found and added.
func (r *recording) save() error {
	r.saving.Lock()
	defer r.saving.Unlock()
	if !r.unsaved.Swap(false) {
		return nil
	}
	r.mu.Lock()
	answers := slices.Collect(maps.Values(r.answers))
	r.mu.Unlock()
	err := r.Save(func(w io.Writer) error { return writeAnswers(w, answers) })
	if err != nil {
		r.unsaved.Store(true)
		r.saver.Reset(time.Minute)
	}
	return err
}

// writeAnswers writes the file.
func writeAnswers(w io.Writer, answers []*recorded) error {
	slices.SortFunc(answers, func(a, b *recorded) int { return strings.Compare(a.Question, b.Question) })
	b, before := bufio.NewWriterSize(w, 1<<16), "{\n  \"answers\": [\n    "
	for _, a := range answers {
		_, _ = b.WriteString(before)
		_, _ = b.WriteString(a.text)
		before = ",\n    "
	}
	_, _ = b.WriteString("\n  ]\n}\n")
	return b.Flush()
}

// close saves what is not saved. A nil recording has nothing to close.
func (r *recording) close() error {
	if !r.asks() {
		return nil
	}
	r.transport.CloseIdleConnections()
	return r.save()
}
