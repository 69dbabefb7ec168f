// Package testservice is for tests: a service that answers with raw bytes, and outputs to look at.
package testservice

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// Answer is a transport without a network. It answers every request.
type Answer func(*http.Request) (*http.Response, error)

// RoundTrip calls a.
func (a Answer) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// Raw answers with a status, a body, and headers as "Name: value".
func Raw(status int, body string, headers ...string) Answer {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/json"}}
		for _, line := range headers {
			name, value, _ := strings.Cut(line, ": ")
			h.Set(name, value)
		}
		return &http.Response{
			StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		}, nil
	}
}

// After answers when d has passed, unless the request ends before.
func After(d time.Duration, a Answer) Answer {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(d):
			return a(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}
