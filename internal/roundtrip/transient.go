package roundtrip

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
)

// Transient reports whether the failure of an attempt may pass by itself: no answer came, or one that broke off. A
// failed TLS handshake does not pass.
func (a *Answer) Transient() bool {
	err := a.Err
	if a.Broken != nil {
		err = a.Broken
		var network net.Error
		if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &network) {
			return false
		}
	}
	return err != nil && !NotTLS(err) && !failsTLS(err) && !errors.Is(err, errMisuse)
}

// NoHost reports whether the host's name was not resolved. Without a network most systems say that it does not exist.
func NoHost(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns)
}

// NotTLS reports whether the host does not speak TLS.
func NotTLS(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch)
}

// WrongTime reports whether, by this machine's clock, the certificate is not valid yet or no more.
func WrongTime(err error) bool {
	var certificate x509.CertificateInvalidError
	return errors.As(err, &certificate) && certificate.Reason == x509.Expired
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
