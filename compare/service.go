package main

import (
	"io"
	"net/http"
	"strings"
)

// baseURL is that of a service in memory.
const baseURL = "https://api.fiscope.example"

// service is the far end in memory: what it answers to a request. It costs a call next to nothing.
type service func(*http.Request) (answer, error)

// answer is one of a service. Nothing changes its header.
type answer struct {
	status int
	header http.Header
	body   string
	cut    bool // the connection breaks in the middle of the body
}

// RoundTrip answers a request.
func (s service) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := s(r)
	if r.Body != nil {
		_ = r.Body.Close() // of which no more is read
	}
	if err != nil {
		return nil, err
	}
	var body io.Reader = strings.NewReader(a.body)
	if a.cut {
		body = io.MultiReader(strings.NewReader(a.body[:len(a.body)/2]), broken{})
	}
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(body), ContentLength: int64(len(a.body)), Request: r,
	}, nil
}

// broken is the end of a connection that broke.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// always is a service that gives one answer.
func always(a answer) service {
	return func(*http.Request) (answer, error) { return a, nil }
}

// inJSON is an answer with further lines of its header, as in "Name: value".
func inJSON(status int, body string, lines ...string) answer {
	header := http.Header{"Content-Type": {"application/json"}}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		header.Set(name, value)
	}
	return answer{status: status, header: header, body: body}
}

// page is what a gateway answers in the place of the service.
func page(status int) answer {
	const line = "<p>El servicio no está disponible &mdash; intente más tarde.</p>\n"
	return answer{
		status: status,
		header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		body:   "<html><body>" + strings.Repeat(line, 190) + "</body></html>",
	}
}
