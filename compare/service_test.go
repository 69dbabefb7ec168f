package compare

import (
	"io"
	"net/http"
	"strings"
)

// service is the far end in memory: what it answers to a request.
type service func(*http.Request) answer

// answer is one of a service. Nothing changes its header.
type answer struct {
	status int
	header http.Header
	body   string
	cut    bool // the connection breaks in the middle of the body
}

// RoundTrip answers a request.
func (s service) RoundTrip(r *http.Request) (*http.Response, error) {
	a := s(r)
	if r.Body != nil {
		_ = r.Body.Close()
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
func always(a answer) service { return func(*http.Request) answer { return a } }

func inJSON(status int, body string) answer {
	return answer{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: body}
}

// page is what a gateway answers instead of the service.
func page(status int) answer {
	const line = "<p>El servicio no está disponible &mdash; intente más tarde.</p>\n"
	return answer{
		status: status,
		header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		body:   "<html><body>" + strings.Repeat(line, 190) + "</body></html>",
	}
}
