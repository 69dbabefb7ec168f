package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"slices"
	"time"
)

// certLife is short enough for every client, and longer than any test run.
const certLife = 365 * 24 * time.Hour

// tlsConfig returns the server's TLS and the PEM of its CA; nil without -tls. Without HTTP/2: faults break connections.
func (s settings) tlsConfig() (config *tls.Config, ca []byte, err error) {
	if !s.selfSigned {
		return nil, nil, nil
	}
	cert, ca, err := selfSigned(certificateNames(s.addr, s.hosts))
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}, ca, err
}

// certificateNames returns the host names and IPs that clients may use.
func certificateNames(addr string, more []string) []string {
	names := []string{"localhost", "127.0.0.1", "::1"}
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	if host, _, err := net.SplitHostPort(addr); err == nil && host != "" {
		names = append(names, host)
	}
	names = append(names, more...)
	slices.Sort(names)
	return slices.Compact(names)
}

// selfSigned makes a CA, signs one certificate with it and discards its key, so that trusting the CA means trusting this
// server only. It uses the real time, not the mock's.
func selfSigned(names []string) (tls.Certificate, []byte, error) {
	var none tls.Certificate
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return none, nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return none, nil, err
	}
	begin := time.Now().Add(-time.Hour) // a client's clock may be slow
	ca := &x509.Certificate{
		SerialNumber:          big.NewInt(begin.UnixNano()), // duplicates of name and serial confuse browsers
		Subject:               pkix.Name{CommonName: "fiscope-mock CA (tests only)"},
		NotBefore:             begin,
		NotAfter:              begin.Add(certLife),
		IsCA:                  true,
		MaxPathLenZero:        true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(begin.UnixNano() + 1),
		Subject:      pkix.Name{CommonName: "fiscope-mock"},
		NotBefore:    begin,
		NotAfter:     begin.Add(certLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, name)
		}
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return none, nil, err
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return none, nil, err
	}
	if leaf, err = x509.ParseCertificate(leafDER); err != nil {
		return none, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{leafDER, caDER}, PrivateKey: key, Leaf: leaf},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}), nil
}
