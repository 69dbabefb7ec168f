package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// healthWait is how long a healthy server may take.
const healthWait = 5 * time.Second

// health asks the server at a base URL how it is, and returns 0 when it is well, 1 when it is not, and 2
// for a wrong flag.
func health(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("fiscope-mock health", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	caFile := fs.String("tls-ca-file", env("FISCOPE_MOCK_TLS_CA_FILE"), "")
	err := fs.Parse(args)
	if err == nil && fs.NArg() != 1 {
		err = errors.New("health wants one URL, such as http://127.0.0.1:8080")
	}
	if err != nil {
		return usageError(err, stdout, stderr)
	}
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	if err := askHealth(ctx, fs.Arg(0), *caFile); err != nil {
		_, _ = fmt.Fprintf(stderr, "fiscope-mock: %v\n", err)
		return 1
	}
	return 0
}

func askHealth(ctx context.Context, base, caFile string) error {
	if u, err := url.Parse(base); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%q is not a URL such as http://127.0.0.1:8080", base)
	}
	transport := &http.Transport{DisableKeepAlives: true} // and no proxy: the server is near
	if caFile != "" {
		ca, err := os.ReadFile(caFile) //nolint:gosec // the files of who runs the program
		if err != nil {
			return err
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(ca) {
			return fmt.Errorf("%s holds no PEM certificate", caFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/_mock/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := transport.RoundTrip(req) // which follows no redirect
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct{ Status string }
	err = json.NewDecoder(io.LimitReader(resp.Body, 1<<10)).Decode(&answer)
	if resp.StatusCode != http.StatusOK || err != nil || answer.Status != "ok" {
		return fmt.Errorf("what answers at %s with status %d is no healthy fiscope-mock", base, resp.StatusCode)
	}
	return nil
}
