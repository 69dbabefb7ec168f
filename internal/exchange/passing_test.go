package exchange_test

import (
	"compress/gzip"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/exchange"
)

func TestPassing(t *testing.T) {
	for name, test := range map[string]struct {
		answer  exchange.Answer
		passing bool
	}{
		"an answer":                  {exchange.Answer{Status: 503}, false},
		"a reset":                    {exchange.Answer{Err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}, true},
		"a refusal":                  {exchange.Answer{Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, true},
		"a connection that closed":   {exchange.Answer{Err: io.EOF}, true},
		"a name that fails":          {exchange.Answer{Err: &net.DNSError{}}, true},
		"a name that does not exist": {exchange.Answer{Err: &net.DNSError{IsNotFound: true}}, false},
		"a wrong certificate":        {exchange.Answer{Err: &tls.CertificateVerificationError{Err: io.EOF}}, false},
		"no TLS":                     {exchange.Answer{Err: tls.RecordHeaderError{Msg: "x"}}, false},
		"an alert":                   {exchange.Answer{Err: fmt.Errorf("x: %w", tls.AlertError(40))}, false},
		"an alert over TCP":          {exchange.Answer{Err: &net.OpError{Op: "remote error", Err: errors.New("tls: handshake failure")}}, false},
		"an alert of ours":           {exchange.Answer{Err: &net.OpError{Op: "local error", Err: errors.New("tls: bad record MAC")}}, false},
		"a body that breaks off":     {exchange.Answer{Status: 200, Broken: io.ErrUnexpectedEOF}, true},
		"a body that is reset":       {exchange.Answer{Status: 200, Broken: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}, true},
		"a body that is no gzip":     {exchange.Answer{Status: 200, Broken: gzip.ErrHeader}, false},
		"a body that is too long":    {exchange.Answer{Status: 200, Broken: exchange.ErrTooLong}, false},
	} {
		assert.Equal(t, test.passing, test.answer.Passing(), name)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	const ahead = 3 * time.Hour
	for name, test := range map[string]struct {
		header, date string
		wait         time.Duration
		ok           bool
	}{
		"seconds":                  {"3", "", 3 * time.Second, true},
		"a fraction":               {"1.5", "", 1500 * time.Millisecond, true},
		"blanks":                   {" 7 ", "", 7 * time.Second, true},
		"zero":                     {"0", "", 0, true},
		"below zero":               {"-5", "", 0, true},
		"huge":                     {"99999999999999999999", "", exchange.LongestWait, true},
		"a date":                   {at(4 * time.Second), "", 4 * time.Second, true},
		"RFC 850":                  {"Friday, 20-Nov-26 10:00:04 GMT", "", 4 * time.Second, true},
		"asctime":                  {"Fri Nov 20 10:00:04 2026", "", 4 * time.Second, true},
		"a date in the past":       {at(-time.Minute), "", 0, true},
		"a date far ahead":         {"Sun, 01 Jan 2090 00:00:00 GMT", at(0), exchange.LongestWait, true},
		"of a clock ahead":         {at(ahead + 4*time.Second), at(ahead), 4 * time.Second, true},
		"of a clock behind":        {at(-ahead + 4*time.Second), at(-ahead), 4 * time.Second, true},
		"of a clock that is wrong": {at(4 * time.Second), "Thu, 01 Jan 1970 00:00:00 GMT", 4 * time.Second, true},
		"an invalid Date":          {at(4 * time.Second), "soon", 4 * time.Second, true},
		"seconds need no Date":     {"4", at(ahead), 4 * time.Second, true},
		"words":                    {"soon", "", 0, false},
		"a version":                {"1.2.3", "", 0, false},
		"infinity":                 {"Inf", "", 0, false},
		"hexadecimal":              {"0x10", "", 0, false},
		"empty":                    {"", "", 0, false},
	} {
		wait, ok := exchange.RetryAfter(http.Header{"Retry-After": {test.header}, "Date": {test.date}}, now)
		assert.Equal(t, test.wait, wait, name)
		assert.Equal(t, test.ok, ok, name)
	}
}

func TestTheBudget(t *testing.T) {
	var b exchange.Budget
	outage := func() (retries int) {
		for range 100 {
			if b.Take() {
				retries++
			}
		}
		return retries
	}
	assert.Equal(t, 11, outage(), "the first failure is free, and ten draw on the budget")
	for range 9 {
		b.Earn()
		assert.Equal(t, 1, outage(), "so it is after each success")
	}
	for range 20 {
		b.Earn()
	}
	assert.Equal(t, 3, outage(), "ten successes earn a retry")
	for range 1000 {
		b.Earn()
	}
	assert.Equal(t, 11, outage(), "no more than ten are saved up")
}
