package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// runProgram runs the built program to its end.
func runProgram(t *testing.T, env []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary(t), args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestExecStatus(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(plain, []byte("text"), 0o600))
	for name, c := range map[string]struct {
		args   []string
		status int
		says   string // on stderr
	}{
		"well":           {[]string{"--", "sh", "-c", "exit 0"}, 0, "fiscope-mock: llamadas: 0, consultas gastadas: 0"},
		"without dashes": {[]string{"sh", "-c", "exit 7"}, 7, "llamadas: 0,"},
		"its own dashes": {[]string{"-quota", "5", "sh", "--", "testdata/no-such"}, 2, "no-such"},
		"more dashes":    {[]string{"--", "sh", "-c", `exit "$#"`, "sh", "--", "-h", "exec"}, 3, "llamadas: 0,"},
		"by a signal":    {[]string{"--", "sh", "-c", "kill -KILL $$"}, 128 + 9, "llamadas: 0,"},
		"not found":      {[]string{"--", "no-existe-tal-programa"}, 127, "no existe ese comando"},
		"no such path":   {[]string{"--", "./no/existe"}, 127, "no/existe"},
		"not executable": {[]string{"--", plain}, 126, "no hay permiso"},
		"no command":     {nil, 125, "falta el comando: fiscope-mock exec"},
		"wrong flag":     {[]string{"-quota", "mil", "--", "true"}, 125, "-quota"},
		"wrong data":     {[]string{"-data", plain, "--", "true"}, 125, plain + ":1: "},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, status := runProgram(t, nil, append([]string{"exec"}, c.args...)...)
			assert.Equal(t, c.status, status, stderr)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, c.says)
		})
	}
}

func TestExecEnvironment(t *testing.T) {
	const script = `echo "$FISCOPE_BASE_URL $FISCOPE_API_KEY $FISCOPE_MOCK_ADMIN_TOKEN $NO_PROXY $FISCOPE_CA_FILE|$SSL_CERT_FILE"; cat`
	for name, c := range map[string]struct {
		env, flags []string
		want       string
	}{
		"plain":    {nil, nil, `^http://127\.0\.0\.1:\d+ clave-de-prueba  localhost,127\.0\.0\.1,::1 \|$`},
		"settings": {[]string{"FISCOPE_MOCK_API_KEY=k=5", "NO_PROXY=interno"}, []string{"-admin-token", "t"}, ` k t localhost,127\.0\.0\.1,::1,interno \|$`},
		"tls":      {nil, []string{"-tls"}, `^https://127\.0\.0\.1:\d+ .* /.*fiscope-mock-ca-\d+\.pem\|/.*fiscope-mock-tls-\d+/bundle.pem$`},
	} {
		t.Run(name, func(t *testing.T) {
			env := append([]string{"NO_PROXY=", "no_proxy=", "SSL_CERT_FILE=", "FISCOPE_API_KEY=otra"}, c.env...)
			stdout, _, status := runProgram(t, env, append(append([]string{"exec"}, c.flags...), "--", "sh", "-c", script)...)
			require.Equal(t, 0, status)
			line := strings.TrimSuffix(stdout, "\n")
			assert.Regexp(t, c.want, line)
			if _, files, ok := strings.Cut(line, " /"); ok {
				for _, file := range strings.Split("/"+files, "|") {
					assert.NoFileExists(t, file, "removed at the end")
				}
			}
		})
	}
}

// The variables replace what a program trusts, and its tests may fetch packages: nothing may be lost.
func TestBundleKeepsWhatWasTrusted(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(name+"\n"), 0o600))
		return path
	}
	r := running{caFile: file("ours")}
	folder := filepath.Join(dir, "folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.Link(file("roots"), filepath.Join(folder, "roots")))
	for name, c := range map[string]struct {
		environ []string
		want    string
	}{
		"own roots":         {[]string{"SSL_CERT_FILE=" + file("roots")}, "roots\n\nours\n"},
		"own and Node's":    {[]string{"SSL_CERT_FILE=" + file("roots"), "NODE_EXTRA_CA_CERTS=" + file("node")}, "roots\n\nnode\n\nours\n"},
		"a folder":          {[]string{"SSL_CERT_FILE=" + file("roots"), "REQUESTS_CA_BUNDLE=" + folder}, "roots\n\nroots\n\nours\n"},
		"one for all":       {[]string{"SSL_CERT_FILE=" + file("roots"), "CURL_CA_BUNDLE=" + file("roots"), "REQUESTS_CA_BUNDLE=" + file("roots")}, "roots\n\nours\n"},
		"a file that isn't": {[]string{"SSL_CERT_FILE=" + dir + "/no"}, string(systemBundle()) + "ours\n"},
		"the system's":      {nil, string(systemBundle()) + "ours\n"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := r.bundle(c.environ)
			require.NoError(t, err)
			assert.True(t, c.want == string(text), "%d bytes", len(text))
		})
	}
}

// systemBundle is what this system trusts, with a line between; empty if it has no such file.
func systemBundle() []byte {
	for _, name := range systemRoots {
		if text, err := os.ReadFile(name); err == nil {
			return append(text, '\n')
		}
	}
	return nil
}

func TestExecReports(t *testing.T) {
	const calls = `
ask() { curl -s -o /dev/null -H "X-API-KEY: $FISCOPE_API_KEY" "$@"; }
ask "$FISCOPE_BASE_URL/api/contribuyentes/20131312955"; ask "$FISCOPE_BASE_URL/api/contribuyentes/20131312955"
ask "$FISCOPE_BASE_URL/api/contribuyente/20131312955"; ask "$FISCOPE_BASE_URL/api/tipocambio?fecha=ayer"
curl -s -o /dev/null "$FISCOPE_BASE_URL/_mock/faults" -H 'Content-Type: application/json' -d '{"name": "cae", "steps": [{"preset": "close"}]}'
ask "$FISCOPE_BASE_URL/api/tipocambio"; `
	const reset = `curl -s -o /dev/null -X POST "$FISCOPE_BASE_URL/_mock/reset"`
	const one = `ask "$FISCOPE_BASE_URL/api/contribuyentes/20131312955"`
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skipf("install curl to run this test: %v", err)
	}
	_, stderr, status := runProgram(t, nil, "exec", "-api-key", "s3creta", "--", "sh", "-c", calls+"exit 3")
	assert.Equal(t, 3, status)
	assert.NotContains(t, stderr, "s3creta")
	want := []string{
		"fiscope-mock: llamadas: 5, consultas gastadas: 4",
		"  2 x  consultar                           200",
		"  1 x  GET /api/contribuyente/20131312955  404            MOCK_NO_ROUTE",
		"  1 x  tipocambio                          400            INVALID_DATE",
		"  1 x  tipocambio                          sin respuesta  falla cae",
	}
	var got []string
	for line := range strings.Lines(stderr) {
		got = append(got, strings.TrimRight(line, " \n"))
	}
	assert.Equal(t, want, got)

	for name, c := range map[string]struct {
		journal, more string
		says          []string
	}{
		"a small journal":   {"1", "", []string{"llamadas: 5, consultas gastadas: 4", "el historial no tuvo espacio para 4", "1 x  tipocambio "}},
		"no journal":        {"0", "", []string{"llamadas: 5, consultas gastadas: 4", "el historial no tuvo espacio para 5"}},
		"a reset":           {"9", reset, []string{"llamadas: 5, consultas gastadas: 4", "el historial se borró tras 5"}},
		"a reset, and more": {"9", reset + "; " + one, []string{"llamadas: 6, consultas gastadas: 5", "el historial se borró tras 5", "1 x  consultar  200"}},
		"none, and a reset": {"0", reset, []string{"llamadas: 5, consultas gastadas: 4", "el historial se borró tras 5"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, _ := runProgram(t, nil, "exec", "-journal", c.journal, "--", "sh", "-c", calls+c.more)
			for _, says := range c.says {
				assert.Contains(t, stderr, says)
			}
		})
	}
}
