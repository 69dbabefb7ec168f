package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/conformance"
	"github.com/fiscope/fiscope/mockserver"
)

const (
	commandKey   = "clave-de-la-orden"
	commandClave = "s3creta-de-la-orden"
)

// withinItself is set for the suite that a test of it runs, which is not to go on so.
const withinItself = "CONFORMANCE_WITHIN_ITSELF"

// suite runs the suite as a command, with variables and flags, and returns what it says and its status.
func suite(t *testing.T, env []string, flags ...string) (said string, passed bool) {
	t.Helper()
	require.Empty(t, os.Getenv(withinItself), "a server is given, and the tests of the suite run")
	if len(env)+len(flags) == 0 {
		flags = []string{"-test.run=^TestConformance$"}
	}
	cmd := exec.Command(os.Args[0], append([]string{"-test.v"}, flags...)...)
	cmd.Env = append(os.Environ(), "FISCOPE_BASE_URL=", "FISCOPE_API_KEY=", withinItself+"=1")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil {
		require.ErrorAs(t, err, &exit, "%s", out)
		require.Equal(t, 1, exit.ExitCode(), "%s", out)
	}
	assert.NotContains(t, string(out), commandKey)
	assert.NotContains(t, string(out), commandClave)
	assert.NotContains(t, string(out), "panic")
	assert.NotContains(t, string(out), "=== RUN   TestEvery")
	return string(out), err == nil
}

// failures are the lines of a suite's output that are about what failed.
func failures(said string) string {
	return strings.Join(regexp.MustCompile(`(?m)^ +(?:--- FAIL|docs/|sent: |came: |wrong: ).*$`).FindAllString(said, -1), "\n")
}

func newTarget(t *testing.T, options ...mockserver.Option) *mockserver.Server {
	t.Helper()
	return mockserver.New(t, append([]mockserver.Option{mockserver.WithAPIKey(commandKey)}, options...)...)
}

func budgetOf(t *testing.T, said string) int {
	t.Helper()
	line := regexp.MustCompile(`(?m)^.*budget: at most (\d+) queries$`).FindStringSubmatch(said)
	require.NotNil(t, line, said)
	most, err := strconv.Atoi(line[1])
	require.NoError(t, err)
	return most
}

func TestCommand(t *testing.T) {
	data := filepath.Join(t.TempDir(), "cpe.json")
	require.NoError(t, os.WriteFile(data, []byte(`{
		"comprobantes": [{"rucEmisor": "20999990097", "tipoComprobante": "07", "serie": "FX01", "numero": 9, "codigo": "2", "mensaje": "Anulado."}],
		"usuarios": [{"ruc": "20999990097", "usuario": "EMISOR01", "clave": "`+commandClave+`"}]
	}`), 0o600))
	receipts, err := mockserver.LoadData(data)
	require.NoError(t, err)
	notPassed := func(is mockserver.SOLResult) func(mockserver.Request) bool {
		return func(r mockserver.Request) bool { return r.SOL == is }
	}
	count := func(srv *mockserver.Server, is func(mockserver.Request) bool) (n int) {
		for _, r := range srv.Requests() {
			if is(r) {
				n++
			}
		}
		return n
	}

	t.Run("the mock in the process", func(t *testing.T) {
		said, passed := suite(t, nil)
		assert.True(t, passed, failures(said))
		assert.Contains(t, said, "against a mock in this process")
		assert.Contains(t, said, "MissingKey              401:UNAUTHORIZED")
		assert.Contains(t, said, "mockserver.Assumptions{")
	})
	t.Run("receipts for the mock in the process", func(t *testing.T) {
		said, passed := suite(t, nil, "-cpe", data)
		assert.True(t, passed, failures(said))
		assert.Contains(t, said, "--- PASS: TestConformance/2.4/codigo_2_is_Anulado")
		assert.Contains(t, said, "--- SKIP: TestConformance/2.4/codigo_0_is_Aceptado")
	})
	t.Run("by flags", func(t *testing.T) {
		srv := newTarget(t)
		said, passed := suite(t, []string{"FISCOPE_BASE_URL=http://127.0.0.1:1", "FISCOPE_API_KEY=x"}, "-base-url", srv.URL, "-api-key", commandKey)
		assert.True(t, passed, failures(said))
		assert.Contains(t, said, "--- SKIP: TestConformance/2.3/serie_is_required")
		assert.Regexp(t, `(?s)serie_is_required.*-cpe`, said)
		assert.LessOrEqual(t, len(srv.Requests()), budgetOf(t, said))
		assert.Greater(t, len(srv.Requests()), 40)
		assert.Zero(t, count(srv, notPassed(mockserver.SOLWrong)))
	})
	t.Run("by variables, with receipts and a wrong clave", func(t *testing.T) {
		srv := newTarget(t, mockserver.WithData(receipts))
		said, passed := suite(t, []string{"FISCOPE_BASE_URL=" + srv.URL, "FISCOPE_API_KEY=" + commandKey}, "-cpe", data, "-wrong-clave")
		assert.True(t, passed, failures(said))
		assert.Contains(t, said, "--- PASS: TestConformance/4.3/a_wrong_clave_is_a_401_INVALID_SOL_CREDENTIALS")
		assert.LessOrEqual(t, len(srv.Requests()), budgetOf(t, said))
		assert.Equal(t, 1, count(srv, notPassed(mockserver.SOLWrong)))
		srv.AssertNoSecrets(t, commandClave)
	})
	t.Run("other data", func(t *testing.T) {
		var others []mockserver.Contribuyente
		for i := range 12 {
			others = append(others, mockserver.Empresa(fmt.Sprintf("2099998%04d", i)))
		}
		srv := newTarget(t, mockserver.WithContribuyentes(others...))
		said, passed := suite(t, nil, "-base-url", srv.URL, "-api-key", commandKey, "-ruc", "20999990011", "-ruc-missing", "20999999998",
			"-search", "empresa de prueba", "-fecha", "2023-06-14")
		assert.True(t, passed, failures(said))
		srv.AssertCalls(t, mockserver.Filter{RUC: "20999990011", Status: http.StatusOK}, 7)
	})
	for name, flags := range map[string][]string{
		"a budget that is too small": {"-budget", "10"}, "a budget of nothing": {"-budget", "0"}, "receipts that are not there": {"-cpe", "none.json"},
		"an odd RUC": {"-ruc", "7"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := newTarget(t)
			said, passed := suite(t, nil, append([]string{"-base-url", srv.URL, "-api-key", commandKey}, flags...)...)
			assert.False(t, passed)
			assert.Contains(t, said, flags[0])
			assert.Contains(t, said, "nothing was sent")
			assert.Empty(t, srv.Requests())
		})
	}
	for name, c := range map[string]struct {
		flags []string
		says  string
	}{
		"a URL without its flag": {[]string{"https://api.example.com"}, "-base-url URL: nothing was sent"},
		"a key alone":            {[]string{"-api-key", commandKey}, "-base-url"},
		"a URL alone":            {[]string{"-base-url", "http://127.0.0.1:1"}, "-api-key"},
		"nobody listens":         {[]string{"-base-url", "http://127.0.0.1:1", "-api-key", commandKey}, "there is no answer: "},
	} {
		t.Run(name, func(t *testing.T) {
			said, passed := suite(t, nil, c.flags...)
			assert.False(t, passed, "no mock runs instead")
			assert.Contains(t, said, c.says)
		})
	}
}

// The report is written whatever the verdict, and replaces one that is there.
func TestReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	require.NoError(t, os.WriteFile(file, []byte("older"), 0o600))
	a := mockserver.DefaultAssumptions()
	a.Estados, a.CodeInvalidDate = mockserver.EstadosSUNAT, "FECHA_MALA"
	srv := newTarget(t, mockserver.WithAssumptions(a))
	said, passed := suite(t, nil, "-base-url", srv.URL, "-api-key", commandKey, "-report", file)
	assert.False(t, passed, failures(said))
	assert.Contains(t, said, `estado is "SUSPENSION TEMPORAL"`)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var seen []conformance.Observation
	require.NoError(t, json.Unmarshal(text, &seen))
	require.Len(t, seen, len(mockserver.OpenPoints()))
	for i, p := range mockserver.OpenPoints() {
		assert.Equal(t, p.Field, seen[i].Name)
	}
	assert.Regexp(t, `"name": "CodeInvalidDate",\s+"value": "FECHA_MALA"`, string(text))
	assert.Regexp(t, `"name": "BlockAfter",\s+"value": null`, string(text))
	assert.Contains(t, said, "the report is "+file)

	srv = newTarget(t)
	said, passed = suite(t, nil, "-base-url", srv.URL, "-api-key", commandKey, "-report", filepath.Join(t.TempDir(), "none", "report.json"))
	assert.False(t, passed, "a report that cannot be written")
	assert.Contains(t, said, "nothing was sent")
	assert.Empty(t, srv.Requests())
}
