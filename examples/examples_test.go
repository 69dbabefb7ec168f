// Package examples_test keeps the examples short, and runs them as those who copy them do.
package examples_test

import (
	"bytes"
	"context"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/internal/testservice"
	"github.com/fiscope/fiscope/mockserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A screen or two each: nobody copies what is longer.
func TestTheyAreShort(t *testing.T) {
	for folder, most := range map[string]struct{ files, lines, tests int }{
		"quickstart": {1, 180, 100}, "factura": {1, 120, 100}, "compras": {1, 120, 100}, "lote": {1, 120, 100},
		"observabilidad": {1, 120, 100}, "pruebas": {1, 80, 160},
	} {
		t.Run(folder, func(t *testing.T) {
			files, err := filepath.Glob(folder + "/*.go")
			require.NoError(t, err)
			programs, lines, tests := 0, 0, 0
			for _, file := range files {
				source, err := os.ReadFile(file)
				require.NoError(t, err)
				if n := bytes.Count(source, []byte("\n")); strings.HasSuffix(file, "_test.go") {
					tests += n
				} else {
					programs++
					lines += n
				}
				assertImports(t, file)
			}
			assert.Equal(t, most.files, programs, "one file to copy")
			assert.LessOrEqual(t, lines, most.lines)
			assert.LessOrEqual(t, tests, most.tests)
		})
	}
}

// assertImports: the SDK with the decimals of its rates, and the standard library.
func assertImports(t *testing.T, file string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	require.NoError(t, err)
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		first, _, _ := strings.Cut(path, "/")
		own := path == "github.com/fiscope/fiscope" || slices.Contains([]string{"mockserver", "filestore"}, strings.TrimPrefix(path, "github.com/fiscope/fiscope/"))
		assert.True(t, own || path == "github.com/shopspring/decimal" || !strings.Contains(first, "."), "%s imports %s", file, path)
	}
}

// secrets are what a user has in the environment, and no output may hold.
var secrets = map[string]string{"FISCOPE_API_KEY": "secreto-de-api", "FISCOPE_SOL_CLAVE": "secreto-sol", "FISCOPE_SOL_USUARIO": "SECRETO1"}

func TestTheyRun(t *testing.T) {
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin+string(os.PathSeparator), "./quickstart", "./compras", "./lote", "./observabilidad")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))

	folder := "" // of the last run
	run := func(t *testing.T, ctx context.Context, program string, env []string, args ...string) (output string, status int) {
		t.Helper()
		folder = t.TempDir()
		cmd := exec.CommandContext(ctx, filepath.Join(bin, program), args...)
		cmd.Dir, cmd.WaitDelay = folder, time.Second
		cmd.Env = append(os.Environ(), "FISCOPE_BASE_URL=", "FISCOPE_SOL_RUC="+mockserver.RUCSolicitante)
		for name, value := range secrets {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		cmd.Env = append(cmd.Env, env...)
		said, _ := cmd.CombinedOutput() // its error is the status
		for _, secret := range secrets {
			assert.NotContains(t, string(said), secret)
		}
		return string(said), cmd.ProcessState.ExitCode()
	}
	t.Run("quickstart on a mock", func(t *testing.T) {
		said, status := run(t, t.Context(), "quickstart", nil)
		assert.Equal(t, 0, status)
		for _, shows := range []string{
			"SUPERINTENDENCIA NACIONAL DE ADUANAS", "activo y habido", "quedan 999 consultas", "GLORIA SINTETICA S.A.",
			"Aceptado (código 0)", "Venta          S/ ", "No existe lo que se pidió", "detectado sin gastar", "Texto muy corto",
			"clave SOL incorrectos", "El servicio no responde", "rechaza la clave de API", "Se agotó la cuota",
		} {
			assert.Contains(t, said, shows)
		}
		assert.NotContains(t, said, "✗")
		for line := range strings.Lines(said) {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 81, line)
		}
	})
	t.Run("quickstart on a service spends little and risks nobody", func(t *testing.T) {
		srv := mockserver.New(t, mockserver.WithQuota(5))
		said, status := run(t, t.Context(), "quickstart", []string{"FISCOPE_BASE_URL=" + srv.URL, "FISCOPE_API_KEY=" + srv.APIKey,
			"FISCOPE_SOL_USUARIO=" + mockserver.UsuarioSOL, "FISCOPE_SOL_CLAVE=" + mockserver.ClaveSOL})
		assert.Equal(t, 0, status, said)
		srv.AssertSOLAttempts(t, mockserver.RUCSolicitante, mockserver.UsuarioSOL, 1)
		assert.NotContains(t, said, "Se agotó la cuota")
	})
	t.Run("compras", func(t *testing.T) {
		said, status := run(t, t.Context(), "compras", nil)
		assert.Equal(t, 1, status, "some are to be looked at")
		assert.Equal(t, 2, strings.Count(said, "se puede pagar"))
		assert.Contains(t, said, "Por revisar: 3 de 5. Consultas enviadas: 7.")
		said, status = run(t, t.Context(), "compras", nil, "no-existe.txt")
		assert.Equal(t, 2, status)
		assert.Regexp(t, `^compras: no terminó: open no-existe.txt: .*\n$`, said)
	})
	t.Run("lote", func(t *testing.T) {
		said, status := run(t, t.Context(), "lote", nil)
		assert.Equal(t, 0, status)
		assert.Contains(t, said, "Salida: muestra.csv.consultado.csv")
		written, err := os.ReadFile(filepath.Join(folder, "muestra.csv.consultado.csv"))
		require.NoError(t, err)
		assert.Regexp(t, `(?m)HABIDO,true$(.*\n)+20999999990,,,,$`, string(written), "of nobody's RUC nothing is known")
		said, status = run(t, t.Context(), "lote", []string{"FISCOPE_BASE_URL=https://fiscal.invalid"}, "no-existe.csv")
		assert.Equal(t, 1, status)
		assert.Regexp(t, `^lote: open no-existe.csv: .*\n$`, said)
	})
	t.Run("observabilidad", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		said := &testservice.Output{Says: "Ctrl-C termina", Then: cancel}
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "observabilidad"))
		cmd.Stdout, cmd.Env = said, append(os.Environ(), "FISCOPE_BASE_URL=")
		require.Error(t, cmd.Run(), "it serves until it is ended")
		assert.Contains(t, said.String(), "event.status=503")
		assert.Contains(t, said.String(), "clase=not_found")
		assert.NotContains(t, said.String(), "SUPERINTENDENCIA")
	})
	t.Run("no secret is printed, whatever fails", func(t *testing.T) {
		srv := mockserver.New(t)
		receipts, rucs := filepath.Join(t.TempDir(), "compras.txt"), filepath.Join(t.TempDir(), "rucs.csv")
		require.NoError(t, os.WriteFile(receipts, []byte("20131312955-01-F001-1\n"), 0o600))
		require.NoError(t, os.WriteFile(rucs, []byte("RUC\n20131312955\n"), 0o600))
		for program, args := range map[string][]string{"quickstart": nil, "compras": {receipts}, "lote": {rucs}} {
			for _, url := range []string{srv.URL, "http://fiscal.invalid", "https://yo:secreto-de-api@fiscal.invalid", "https://fiscal.invalid/?clave=secreto-de-api", "://secreto-de-api"} {
				_, status := run(t, t.Context(), program, []string{"FISCOPE_BASE_URL=" + url}, args...)
				assert.Positive(t, status, "%s %s", program, url)
			}
		}
	})
}
