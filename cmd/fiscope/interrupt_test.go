package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/internal/testservice"
	"github.com/fiscope/fiscope/mockserver"
)

// In an outage something is said, and Ctrl-C ends the pause at once: nothing is under way. What is under way is waited
// for, and kept.
func TestABatchThatWaits(t *testing.T) {
	const ruc = "20131312955"
	for name, c := range map[string]struct {
		answer    testservice.Answer
		ctrlC     time.Duration
		takes     time.Duration
		says, not string
		known     bool
	}{
		"a pause": {func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }, 65 * time.Second, 65 * time.Second,
			"el servicio no responde: reintento", "Espero", false},
		"too fast": {testservice.Raw(http.StatusTooManyRequests, "", "Retry-After: 20"), 65 * time.Second, 65 * time.Second, "el servicio pide ir más despacio", "Espero", false},
		"a query":  {testservice.After(3*time.Second, testservice.Raw(200, `{"ruc":"`+ruc+`","razonSocial":"SUNAT","estado":"ACTIVO","condicion":"HABIDO"}`)), time.Second, 3 * time.Second, "Espero lo que está en camino; otra vez Ctrl-C corta.\n", "no responde", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var screen bytes.Buffer
				b := &batch{session: &session{}, notes: map[string]string{}, progress: terminal.ShowProgress("fiscope", &screen)}
				var err error
				b.client, err = fiscope.NewClient("https://fiscal.invalid", secretKey, fiscope.WithHTTPClient(&http.Client{Transport: c.answer}),
					fiscope.WithHook(b.hook), fiscope.WithObserver(b.observe))
				require.NoError(t, err)
				defer b.close()
				b.kept, err = fiscope.NewResultsFile(filepath.Join(t.TempDir(), "kept"))
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), c.ctrlC)
				defer cancel()
				began := time.Now()
				rucs := []string{ruc}
				for i := range 20 {
					rucs = append(rucs, fmt.Sprintf("201000709%02d", i))
				}
				b.lookUp(ctx, rucs)
				assert.Equal(t, c.takes, time.Since(began))
				require.Error(t, b.stopped)
				assert.Contains(t, screen.String(), c.says)
				assert.NotContains(t, screen.String(), c.not)
				assert.Equal(t, name != "too fast", b.spent.Load() > 0, "a refusal costs nothing")
				known, _ := b.kept.Done(ctx, ruc)
				assert.Equal(t, c.known, known)
				require.NoError(t, b.kept.Close())
			})
		})
	}
}

// The second Ctrl-C waits for nothing, and says that nothing is lost.
func TestASecondCtrlC(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send a Ctrl-C")
	}
	srv := mockserver.New(t)
	environment(t, srv)
	t.Setenv("FISCOPE_TEST_MAIN", "1")
	write(t, "prov.csv", "20100070970\n")
	defer srv.Fault(mockserver.Match{}, mockserver.Hold()).Release()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "lote", "prov.csv")
	ctrlC := func() { assert.NoError(t, cmd.Process.Signal(os.Interrupt)) }
	stderr := &testservice.Output{Says: "otra vez Ctrl-C corta", Then: ctrlC}
	cmd.Stderr = stderr
	require.NoError(t, cmd.Start())
	_, err = srv.WaitRequests(t.Context(), mockserver.Filter{}, 1)
	require.NoError(t, err)
	ctrlC()
	require.Error(t, cmd.Wait())
	assert.Equal(t, int(unfinished), cmd.ProcessState.ExitCode())
	assert.Contains(t, stderr.String(), "\nfiscope: cortado. El mismo comando sigue donde quedó.\n")
}
