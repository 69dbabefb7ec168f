package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
)

// healthWait is the timeout of the health check.
const healthWait = 5 * time.Second

func healthFlag() cli.Flag {
	return &cli.StringFlag{Name: "tls-ca-file", DefaultText: "ARCHIVO", Usage: "la CA en que confía, en PEM (FISCOPE_MOCK_TLS_CA_FILE)",
		Sources: cli.EnvVars("FISCOPE_MOCK_TLS_CA_FILE"), Local: true}
}

// healthCommand checks the server at a base URL, and fails unless it is healthy.
func healthCommand(ctx context.Context, cmd *cli.Command) error {
	if cmd.NArg() != 1 {
		return terminal.Wrong(errors.New("falta la URL, como http://127.0.0.1:8080"), cmd.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	if err := askHealth(ctx, cmd.Args().First(), cmd.String("tls-ca-file")); err != nil {
		return failed(cmd.Root().ErrWriter, 1, err)
	}
	return nil
}

func askHealth(ctx context.Context, base, caFile string) error {
	if u, err := url.Parse(base); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%q no es una URL como http://127.0.0.1:8080", base)
	}
	transport := &http.Transport{DisableKeepAlives: true} // and no proxy, for a nearby server
	if caFile != "" {
		ca, err := os.ReadFile(caFile) //nolint:gosec // the user's files
		if err != nil {
			return err
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(ca) {
			return fmt.Errorf("%s no tiene ningún certificado PEM", caFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/_mock/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := transport.RoundTrip(req) // follows no redirect
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct{ Status string }
	err = json.NewDecoder(io.LimitReader(resp.Body, 1<<10)).Decode(&answer)
	if resp.StatusCode != http.StatusOK || err != nil || answer.Status != "ok" {
		return fmt.Errorf("lo que responde en %s con estado %d no es un fiscope-mock que esté bien", base, resp.StatusCode)
	}
	return nil
}
