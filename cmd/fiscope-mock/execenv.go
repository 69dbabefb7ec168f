package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// commandEnv is the environment of exec's command, and remove takes away the file it may name.
func (r *running) commandEnv(environ []string) (_ []string, remove func(), err error) {
	add := func(name, value string) { environ = append(environ, name+"="+value) }
	environ = environ[:len(environ):len(environ)] // appending must not write into the caller's
	add("FISCOPE_BASE_URL", r.url)
	add("FISCOPE_API_KEY", r.mock.APIKey)
	if r.adminToken != "" {
		add("FISCOPE_MOCK_ADMIN_TOKEN", r.adminToken)
	}
	// curl and others would ask a proxy for 127.0.0.1, and give it the key.
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		add(name, strings.Trim("localhost,127.0.0.1,::1,"+lookupEnv(environ, name), ","))
	}
	if r.caFile == "" {
		return environ, func() {}, nil
	}
	caFile, err := filepath.Abs(r.caFile)
	if err != nil {
		return nil, nil, err
	}
	add("FISCOPE_CA_FILE", caFile)
	bundle, err := r.bundle(environ)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range caVariables {
		add(name, bundle)
	}
	return environ, func() { _ = os.Remove(bundle) }, nil //nolint:gosec // made by bundle
}

// caVariables say what to trust to Node, OpenSSL and Go, curl, and Python.
var caVariables = []string{"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"}

// systemRoots are where Linux distributions keep what programs trust, as crypto/x509 knows them.
var systemRoots = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	"/etc/pki/tls/cacert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
}

// certificates are the contents of a file, or of the files of a folder, which Python reads too; none where
// it cannot be read.
func certificates(name string) (pem [][]byte) {
	files := []string{name}
	if entries, err := os.ReadDir(name); err == nil {
		files = nil
		for _, entry := range entries {
			files = append(files, filepath.Join(name, entry.Name()))
		}
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil { //nolint:gosec // the files of who runs the program
			pem = append(pem, text)
		}
	}
	return pem
}

// bundle writes what the command trusted before and the mock's CA into one file: most of the variables
// replace a program's roots, and a test may also fetch its packages.
func (r *running) bundle(environ []string) (string, error) {
	var pem [][]byte
	for _, candidate := range append([]string{lookupEnv(environ, "SSL_CERT_FILE")}, systemRoots...) {
		if roots := certificates(candidate); roots != nil {
			pem = append(pem, roots...)
			break
		}
	}
	var seen []string
	for _, name := range caVariables {
		if file := lookupEnv(environ, name); file != lookupEnv(environ, "SSL_CERT_FILE") && !slices.Contains(seen, file) {
			pem, seen = append(pem, certificates(file)...), append(seen, file)
		}
	}
	ca, err := os.ReadFile(r.caFile) //nolint:gosec // the files of who runs the program
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp("", "fiscope-mock-bundle-*.pem")
	if err != nil {
		return "", err
	}
	_, err = f.Write(bytes.Join(append(pem, ca), []byte("\n")))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return f.Name(), err
}
