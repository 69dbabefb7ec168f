package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

func TestTableShowsWhatWasSeenBesideTheDefaults(t *testing.T) {
	a := mockserver.DefaultAssumptions()
	a.CodeInvalidDate, a.MissingKey = "MALA\u202eFECHA", mockserver.Refusal{Status: 403, Code: "FORBIDDEN"}
	_, seen := examine(t, newMock(t, mockserver.WithAssumptions(a)), fullTarget("http://mock.invalid"))
	text := table(seen)
	assert.Equal(t, len(points)+1, strings.Count(text, "\n"))
	assert.Regexp(t, `(?m)^MissingKey +403:FORBIDDEN +401:UNAUTHORIZED +5\.4$`, text)
	assert.Regexp(t, `(?m)^BlockAfter +- +3 +4\.3$`, text)
	assert.Regexp(t, `(?m)^CodeInvalidDate +MALA\x{fffd}FECHA +INVALID_DATE +7$`, text)
}

// The literal compiles, and that of a mock with the defaults is the defaults.
func TestLiteralIsGo(t *testing.T) {
	if testing.Short() {
		t.Skip("runs go")
	}
	_, usual := examine(t, newMock(t), fullTarget("http://mock.invalid"))
	a := mockserver.DefaultAssumptions()
	a.InvalidKey.Code, a.Estados = "\"NO\"\n\\", mockserver.EstadosLista
	_, unusual := examine(t, newMock(t, mockserver.WithAssumptions(a)), fullTarget("http://mock.invalid"))
	zone := "Etc/GMT+3"
	for i := range unusual {
		if unusual[i].Name == "ResetZone" {
			unusual[i].Value = &zone
		}
	}
	program := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(program, fmt.Appendf(nil, `package main

import (
	"fmt"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

var usual = %s

var unusual = %s

func main() {
	fmt.Println(usual == mockserver.DefaultAssumptions(), usual.ResetZone == fiscope.Lima, usual.BlockFor == 30*time.Minute)
	_, offset := time.Now().In(unusual.ResetZone).Zone()
	fmt.Printf("%%q %%s %%d\n", unusual.InvalidKey.Code, unusual.Estados, offset)
}
`, literal(usual), literal(unusual)), 0o600))
	out, err := exec.Command("go", "run", program).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, "true true true\n\"\\\"NO\\\"\\n\\\\\" lista -10800\n", string(out))
}
