// Package examples_test runs the built examples, as those who copy them do.
package examples_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/mockserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// programs says of each what -h must name besides itself.
var programs = map[string]string{
	"compras": "[archivo.csv]", "factura": "el índice del padrón", "lote": "[entrada.csv]",
	"observabilidad": "No lee ni escribe archivos", "pruebas": "No lee ni escribe archivos", "quickstart": "No lee ni escribe archivos",
}

// secrets are what a user has in the environment, and no output may hold.
var secrets = map[string]string{"FISCOPE_API_KEY": "secreto-de-api", "FISCOPE_SOL_CLAVE": "secreto-sol", "FISCOPE_SOL_USUARIO": "SECRETO1"}

// run runs a program in an empty folder, with the secrets and more in its environment.
func run(t *testing.T, program string, env []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "FISCOPE_BASE_URL=", "FISCOPE_SOL_RUC="+mockserver.RUCSolicitante, "TMPDIR="+cmd.Dir, "XDG_CACHE_HOME="+cmd.Dir)
	for name, value := range secrets {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, env...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	var exit *exec.ExitError
	if failed := cmd.Run(); failed != nil {
		require.ErrorAs(t, failed, &exit)
	}
	for _, secret := range secrets {
		assert.NotContains(t, out.String()+err.String(), secret)
	}
	for line := range strings.Lines(out.String()) {
		if !strings.ContainsAny(line, "/=") { // a path, an address and a log record are as long as they are
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 80, line)
		}
	}
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

func TestTheBuiltExamples(t *testing.T) {
	bin := t.TempDir()
	for _, folder := range slices.Sorted(maps.Keys(programs)) {
		build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, folder), ".")
		build.Dir = folder
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	srv := mockserver.New(t)
	served := "FISCOPE_BASE_URL=" + srv.URL
	file := filepath.Join(t.TempDir(), "datos.csv")
	require.NoError(t, os.WriteFile(file, []byte("20131312955;01;F001-1\n"), 0o600))

	for name, says := range programs {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(bin, name)
			for _, help := range []string{"-h", "--help"} {
				stdout, stderr, status := run(t, program, []string{served}, help)
				assert.Equal(t, 0, status)
				assert.Empty(t, stderr)
				assert.True(t, strings.HasPrefix(stdout, "Uso: "+name), stdout)
				assert.Contains(t, stdout, says)
				assert.NotContains(t, stdout, "-api-key")
			}
			for _, args := range [][]string{{"-no-existe"}, {"-api-key", "x"}, {file, file}} {
				stdout, stderr, status := run(t, program, []string{served}, args...)
				assert.Positive(t, status, args)
				assert.Empty(t, stdout, "nothing runs")
				assert.Contains(t, stderr, name+": ")
			}
			srv.AssertCalls(t, mockserver.Filter{}, 0)

			if strings.HasPrefix(says, "[") {
				for _, env := range [][]string{nil, {served}, {"FISCOPE_API_KEY="}} {
					_, stderr, status := run(t, program, env, "no-existe.csv")
					assert.Positive(t, status)
					assert.Contains(t, stderr, "no existe el archivo no-existe.csv")
				}
			} else {
				_, _, status := run(t, program, nil, "no-existe.csv")
				assert.Positive(t, status, "a file that nobody reads")
			}
		})
	}
	t.Run("no secret is printed, whatever fails", func(t *testing.T) {
		for name := range programs {
			args := map[string][]string{"compras": {file}, "lote": {file}}[name]
			for _, env := range [][]string{
				{served}, // which refuses the key
				{"FISCOPE_BASE_URL=http://127.0.0.1:1"},
				{"FISCOPE_BASE_URL=http://fiscal.invalid"},
				{"FISCOPE_BASE_URL=https://yo:secreto-de-api@fiscal.invalid"},
				{"FISCOPE_BASE_URL=https://fiscal.invalid/?clave=secreto-de-api"},
				{"FISCOPE_BASE_URL=://secreto-de-api"},
				{served, "FISCOPE_API_KEY=secreto-de-api\n"},
				{served, "FISCOPE_SOL_RUC=secreto-sol"},
			} {
				if name == "factura" {
					args = []string{"-addr", "127.0.0.1:no"} // or it would serve
				}
				_, _, _ = run(t, filepath.Join(bin, name), env, args...)
			}
		}
	})
}
