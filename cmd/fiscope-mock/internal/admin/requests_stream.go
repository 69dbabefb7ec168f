package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/fiscope/fiscope"
)

// The times of a stream.
const (
	streamPause     = 100 * time.Millisecond // between two batches: many calls at once cost one write
	streamHeartbeat = 15 * time.Second       // without anything else, so that what lies between does not take it for dead
	streamStall     = 10 * time.Second       // how long a viewer may take nothing of what it is sent
	streamEnd       = 100 * time.Millisecond // how long the end of the server waits for one that takes nothing
)

// streamRetry has a browser come back a second after the stream has ended.
const streamRetry = "retry: 1000\n"

// streamRequests answers with Server-Sent Events, as the HTML standard has them: what happens to the journal, until
// the viewer leaves, takes nothing any more, or the server ends.
func (a *api) streamRequests(r *http.Request) (any, error) {
	q, err := a.readQuery(r, query{}, "since")
	if err != nil {
		return nil, err
	}
	if id := r.Header.Get("Last-Event-ID"); id != "" { // of a viewer that comes back; since is where it began
		if q.since, err = revision("Last-Event-ID", id); err != nil {
			return nil, err
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("X-Accel-Buffering", "no") // or nginx would keep it back
		if r.Method == http.MethodHead {
			return
		}
		s := stream{w: w, conn: http.NewResponseController(w), ending: a.Ending}
		ctx, stop := s.open(r.Context())
		defer stop()
		s.b.WriteString(streamRetry)
		last := a.Mock.Revision()
		s.event("hello", "", asLine(hello{a.instance, last}))
		a.follow(ctx, &s, q, last)
	}), nil
}

// hello is the first event of a stream.
type hello struct {
	Instance string `json:"instance"` // another one after each start of the program
	Last     int64  `json:"last"`     // the journal's last revision
}

// cleared is the event that says that requests are gone: all that the viewer has seen, or those of one key.
type cleared struct {
	Key string `json:"key,omitempty"`
}

// follow sends what happens to the journal, for as long as the viewer takes it: up to the revision last without a pause.
func (a *api) follow(ctx context.Context, s *stream, q query, last int64) {
	for s.flush() {
		waiting, cancel := context.WithTimeout(ctx, streamHeartbeat)
		changes, rev, err := a.Mock.Changes(waiting, q.since, q.filter)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, context.DeadlineExceeded):
			s.heartbeat()
		}
		q.since = rev
		for _, c := range changes {
			id := strconv.FormatInt(c.Rev, 10)
			switch {
			case c.Request != nil:
				c.Request.Time = c.Request.Time.In(fiscope.Lima)
				s.event("request", id, asLine(c.Request))
			case q.filter.Key != "": // whose own part it was
				s.event("cleared", id, asLine(cleared{}))
			default:
				s.event("cleared", id, asLine(cleared{c.Key}))
			}
		}
		if len(changes) > 0 && (!s.flush() || rev >= last && !pause(ctx, streamPause)) {
			return
		}
	}
}

// pause waits, and reports whether ctx has not ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// stream writes Server-Sent Events to one viewer.
type stream struct {
	w      http.ResponseWriter
	conn   *http.ResponseController
	ending context.Context
	b      bytes.Buffer // written by the next flush
}

// open returns a context that ends when the viewer leaves or the server ends, and what is to be called at last.
func (s *stream) open(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ending, func() {
		_ = s.conn.SetWriteDeadline(time.Now().Add(streamEnd))
		cancel()
	})
	return ctx, func() {
		if stop() {
			_ = s.conn.SetWriteDeadline(time.Time{}) // the connection may be used again
		}
		cancel()
	}
}

// event writes an event, whose data are a line.
func (s *stream) event(name, id string, data []byte) {
	if id != "" {
		s.b.WriteString("id: " + id + "\n")
	}
	s.b.WriteString("event: " + name + "\ndata: ")
	s.b.Write(data)
	s.b.WriteByte('\n')
}

func (s *stream) heartbeat() { s.b.WriteString(": \n\n") }

// flush sends what was written, and reports whether the viewer took it.
func (s *stream) flush() bool {
	if s.b.Len() == 0 {
		return true
	}
	_ = s.conn.SetWriteDeadline(time.Now().Add(streamStall))
	if s.ending.Err() != nil { // which has set a nearer one, perhaps just before
		return false
	}
	_, err := s.w.Write(s.b.Bytes())
	s.b.Reset()
	return err == nil && s.conn.Flush() == nil
}

// asLine encodes what has only plain members.
func asLine(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // cannot fail
	return b.Bytes()
}
