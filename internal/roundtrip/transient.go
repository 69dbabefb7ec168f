package roundtrip

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
)

// Transient reports whether the failure of an attempt may pass by itself: no answer came, or one that broke off. A name
// that does not exist and a failed TLS handshake do not pass.
func (a *Answer) Transient() bool {
	err := a.Err
	if a.Broken != nil {
		err = a.Broken
		var network net.Error
		if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &network) {
			return false
		}
	}
	return err != nil && !WrongAddress(err) && !failsTLS(err) && !errors.Is(err, errMisuse)
}

// WrongAddress reports whether the host does not exist or does not speak TLS.
func WrongAddress(err error) bool {
	var dns *net.DNSError
	var record tls.RecordHeaderError
	return errors.As(err, &dns) && dns.IsNotFound || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch)
}

// failsTLS reports whether the two sides could not agree on a secure connection. Over TCP an alert has no exported
// type: it is inside an OpError.
func failsTLS(err error) bool {
	var certificate *tls.CertificateVerificationError
	var alert tls.AlertError
	var op *net.OpError
	return errors.As(err, &certificate) || errors.As(err, &alert) ||
		errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}
