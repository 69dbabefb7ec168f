package roundtrip_test

import (
	"compress/gzip"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/roundtrip"
)

func TestTransient(t *testing.T) {
	for name, test := range map[string]struct {
		answer  roundtrip.Answer
		passing bool
	}{
		"an answer":                  {roundtrip.Answer{Status: 503}, false},
		"a reset":                    {roundtrip.Answer{Err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}, true},
		"a refusal":                  {roundtrip.Answer{Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, true},
		"a connection that closed":   {roundtrip.Answer{Err: io.EOF}, true},
		"a name that fails":          {roundtrip.Answer{Err: &net.DNSError{}}, true},
		"a name that does not exist": {roundtrip.Answer{Err: &net.DNSError{IsNotFound: true}}, true},
		"a wrong certificate":        {roundtrip.Answer{Err: &tls.CertificateVerificationError{Err: io.EOF}}, false},
		"no TLS":                     {roundtrip.Answer{Err: tls.RecordHeaderError{Msg: "x"}}, false},
		"an alert":                   {roundtrip.Answer{Err: fmt.Errorf("x: %w", tls.AlertError(40))}, false},
		"an alert over TCP":          {roundtrip.Answer{Err: &net.OpError{Op: "remote error", Err: errors.New("tls: handshake failure")}}, false},
		"an alert of ours":           {roundtrip.Answer{Err: &net.OpError{Op: "local error", Err: errors.New("tls: bad record MAC")}}, false},
		"a body that breaks off":     {roundtrip.Answer{Status: 200, Broken: io.ErrUnexpectedEOF}, true},
		"a body that is reset":       {roundtrip.Answer{Status: 200, Broken: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}, true},
		"a body that is no gzip":     {roundtrip.Answer{Status: 200, Broken: gzip.ErrHeader}, false},
		"a body that is too long":    {roundtrip.Answer{Status: 200, Broken: roundtrip.ErrTooLong}, false},
	} {
		assert.Equal(t, test.passing, test.answer.Transient(), name)
	}
}
