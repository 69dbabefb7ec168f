package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// commandEnv returns the environment of exec's command; remove deletes the files that it refers to.
func (r *running) commandEnv(environ []string) (_ []string, remove func(), err error) {
	add := func(name, value string) { environ = append(environ, name+"="+value) }
	environ = environ[:len(environ):len(environ)] // append must not modify the caller's
	add("FISCOPE_BASE_URL", r.url)
	add("FISCOPE_API_KEY", r.mock.APIKey)
	if r.adminToken != "" {
		add("FISCOPE_MOCK_ADMIN_TOKEN", r.adminToken)
	}
	// curl and others would use a proxy for 127.0.0.1, and send it the key.
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
	folder, err := os.MkdirTemp("", "fiscope-mock-tls-*")
	if err != nil {
		return nil, nil, err
	}
	trust, err := r.trust(environ, folder)
	if err != nil {
		_ = os.RemoveAll(folder)
		return nil, nil, err
	}
	return append(environ, trust...), func() { _ = os.RemoveAll(folder) }, nil
}

// caVariables are the trust variables of Node, OpenSSL and Go, curl, and Python.
var caVariables = []string{"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"}

// trust writes files into a folder that make programs trust the mock's CA too, and returns the variables for them.
func (r *running) trust(environ []string, folder string) (variables []string, err error) {
	bundle, err := r.bundle(environ)
	if err != nil {
		return nil, err
	}
	store, err := trustStore(bundle)
	if err != nil {
		return nil, err
	}
	inPEM, inJava, ini := filepath.Join(folder, "bundle.pem"), filepath.Join(folder, "truststore.p12"), filepath.Join(folder, "php", "fiscope.ini")
	if err := os.Mkdir(filepath.Dir(ini), 0o700); err != nil {
		return nil, err
	}
	forPHP := fmt.Sprintf("curl.cainfo=\"%[1]s\"\nopenssl.cafile=\"%[1]s\"\n", inPEM)
	for name, content := range map[string][]byte{inPEM: bundle, inJava: store, ini: []byte(forPHP)} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return nil, err
		}
	}
	for _, name := range caVariables {
		variables = append(variables, name+"="+inPEM)
	}
	java := fmt.Sprintf(`%s "-Djavax.net.ssl.trustStore=%s" -Djavax.net.ssl.trustStoreType=PKCS12`, lookupEnv(environ, "JAVA_TOOL_OPTIONS"), inJava)
	return append(variables, "JAVA_TOOL_OPTIONS="+strings.TrimSpace(java),
		// An empty folder in the list means PHP's own.
		"PHP_INI_SCAN_DIR="+lookupEnv(environ, "PHP_INI_SCAN_DIR")+string(os.PathListSeparator)+filepath.Dir(ini)), nil
}

// systemRoots are the files with trusted CAs in Linux distributions, from crypto/x509.
var systemRoots = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	"/etc/pki/tls/cacert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
}

// certificates returns the contents of a file, or of the files of a folder; nil if it cannot be read.
func certificates(name string) (pem [][]byte) {
	files := []string{name}
	if entries, err := os.ReadDir(name); err == nil {
		files = nil
		for _, entry := range entries {
			files = append(files, filepath.Join(name, entry.Name()))
		}
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil { //nolint:gosec // the user's files
			pem = append(pem, text)
		}
	}
	return pem
}

// bundle returns the CAs that the command trusted before, and the mock's: most of the variables replace a program's roots.
func (r *running) bundle(environ []string) ([]byte, error) {
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
	ca, err := os.ReadFile(r.caFile)
	return bytes.Join(append(pem, ca), []byte("\n")), err
}

func lookupEnv(environ []string, name string) string {
	value := ""
	for _, entry := range environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v // the last one wins
		}
	}
	return value
}
