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

// The durations of a stream.
const (
	streamPause     = 100 * time.Millisecond // between two batches: many calls at once take one write
	streamHeartbeat = 15 * time.Second       // keeps proxies from closing an idle connection
	streamStall     = 10 * time.Second       // how long a viewer may stop reading
	streamEnd       = 100 * time.Millisecond // how long shutdown waits for a viewer that does not read
)

// streamRetry makes a browser reconnect a second after the stream ends.
const streamRetry = "retry: 1000\n"

// streamRequests answers with the Server-Sent Events of the HTML standard: changes of the journal, until the viewer leaves or
// stops reading, or the server ends.
func (a *api) streamRequests(r *http.Request) (any, error) {
	q, err := a.readQuery(r, query{}, "since")
	if err != nil {
		return nil, err
	}
	if id := r.Header.Get("Last-Event-ID"); id != "" { // of a reconnecting viewer; since is where it first began
		if q.since, err = revision("Last-Event-ID", id); err != nil {
			return nil, err
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("X-Accel-Buffering", "no") // otherwise nginx buffers it
		if r.Method == http.MethodHead {
			return
		}
		s := stream{w: w, conn: http.NewResponseController(w), ending: a.Ending}
		ctx, stop := s.open(r.Context())
		defer stop()
		s.b.WriteString(streamRetry)
		last := a.control.Revision()
		s.event("hello", "", asLine(hello{a.instance, last}))
		a.follow(ctx, &s, q, last)
	}), nil
}

// hello is the first event of a stream.
type hello struct {
	Instance string `json:"instance"` // differs after each start of the program
	Last     int64  `json:"last"`     // the journal's last revision
}

// cleared is the event for removed requests: all that the viewer has, or those of one key.
type cleared struct {
	Key string `json:"key,omitempty"`
}

// follow sends changes of the journal while the viewer reads them. Up to the revision last it makes no pauses.
func (a *api) follow(ctx context.Context, s *stream, q query, last int64) {
	for s.flush() {
		waiting, cancel := context.WithTimeout(ctx, streamHeartbeat)
		changes, rev, err := a.control.Changes(waiting, q.since, q.filter)
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
			case q.filter.Key != "": // its own requests
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

// pause waits, and reports whether ctx is still alive.
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
	b      bytes.Buffer // for the next flush
}

// open returns a context that ends when the viewer leaves or the server ends, and a function to call at the end.
func (s *stream) open(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ending, func() {
		_ = s.conn.SetWriteDeadline(time.Now().Add(streamEnd))
		cancel()
	})
	return ctx, func() {
		if stop() {
			_ = s.conn.SetWriteDeadline(time.Time{}) // the connection may be reused
		}
		cancel()
	}
}

// event writes an event with one line of data.
func (s *stream) event(name, id string, data []byte) {
	if id != "" {
		s.b.WriteString("id: " + id + "\n")
	}
	s.b.WriteString("event: " + name + "\ndata: ")
	s.b.Write(data)
	s.b.WriteByte('\n')
}

func (s *stream) heartbeat() { s.b.WriteString(": \n\n") }

// flush sends the buffer, and reports whether the viewer read it.
func (s *stream) flush() bool {
	if s.b.Len() == 0 {
		return true
	}
	_ = s.conn.SetWriteDeadline(time.Now().Add(streamStall))
	if s.ending.Err() != nil { // the server's end has set an earlier one
		return false
	}
	_, err := s.w.Write(s.b.Bytes())
	s.b.Reset()
	return err == nil && s.conn.Flush() == nil
}

// asLine encodes a value with only plain members.
func asLine(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // cannot fail
	return b.Bytes()
}
