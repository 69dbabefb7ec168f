package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// notes is a Progress in memory that can fail.
type notes struct {
	recorded []string
	fails    error // of Record
	blind    error // of Done
}

func (n *notes) Done(_ context.Context, input string) (bool, error) {
	return slices.Contains(n.recorded, input), n.blind
}

func (n *notes) Record(ctx context.Context, input string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if n.fails == nil {
		n.recorded = append(n.recorded, input)
	}
	return n.fails
}

func TestAnInputIsRecordedWhenTheNextLineIsTaken(t *testing.T) {
	p := newPadron(t)
	p.answer = func(r string, _ int) (*http.Response, error) {
		switch r {
		case ruc(1):
			return raw(404, contract(t, "consultar_404.json"))(nil)
		case ruc(2):
			return raw(501, "")(nil)
		}
		return nil, nil
	}
	n := &notes{}
	inputs := []string{ruc(0), ruc(1), "x", ruc(2), ruc(0), ruc(3)}
	var before [][]string
	for _, err := range newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), slices.Values(inputs), fiscope.LotePolicy{Concurrency: 1, Progress: n}) {
		var stopped *fiscope.LoteDetenido
		require.NotErrorAs(t, err, &stopped)
		before = append(before, slices.Clone(n.recorded))
	}
	assert.Equal(t, [][]string{
		nil, {ruc(0)}, {ruc(0), ruc(1)}, {ruc(0), ruc(1)}, {ruc(0), ruc(1)}, {ruc(0), ruc(1)},
	}, before)
	assert.Equal(t, []string{ruc(0), ruc(1), ruc(3)}, n.recorded, "neither the failure nor what is no RUC")

	lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), slices.Values(inputs), fiscope.LotePolicy{Progress: n}))
	require.Nil(t, stopped)
	assert.Equal(t, []int{2, 3}, positions(lines), "what was recorded is passed")
	assert.Equal(t, 5, p.sent())
}

func TestWhatEndsTheLoopIsNotRecorded(t *testing.T) {
	for name, end := range map[string]func(){"a break": nil, "a panic": func() { panic("killed") }, "a Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			n, client := &notes{}, newClient(t, newPadron(t))
			over := make(chan struct{})
			go func() {
				defer close(over)
				defer func() { _ = recover() }()
				for l := range client.Contribuyentes.ConsultarLote(t.Context(), rucs(9), fiscope.LotePolicy{Concurrency: 1, Progress: n}) {
					if l.Posicion < 3 {
						continue
					}
					if end == nil {
						break
					}
					end()
				}
			}()
			<-over
			assert.Equal(t, slices.Collect(rucs(3)), n.recorded)
		})
	}
	t.Run("but what was delivered as the context ended is", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := &notes{}
		for l := range newClient(t, newPadron(t)).Contribuyentes.ConsultarLote(ctx, rucs(9), fiscope.LotePolicy{Concurrency: 1, Progress: n}) {
			if l.Posicion == 3 {
				cancel()
			}
		}
		assert.Equal(t, slices.Collect(rucs(4)), n.recorded)
	})
}

func TestAProgressThatFailsStopsItsBatch(t *testing.T) {
	full := errors.New("the disk is full, and the key is " + apiKey)
	for name, test := range map[string]struct {
		notes notes
		lines int
	}{
		"to record":  {notes{fails: full}, 1},
		"to be read": {notes{blind: full}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPadron(t)
			lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(9), fiscope.LotePolicy{Progress: &test.notes}))
			assert.Len(t, lines, test.lines)
			assert.Equal(t, test.lines, p.sent())
			require.ErrorIs(t, stopped, full)
			assert.ErrorContains(t, stopped, "its Progress failed: the disk is full")
			assert.False(t, leaks(stopped.Error(), apiKey))
			assert.Equal(t, test.lines, stopped.Posicion)
		})
	}
}

func TestTheProgressOfReceipts(t *testing.T) {
	n := &notes{}
	client, s := answers(t, verdicts(t, "en_proceso")...)
	for range 2 {
		for _, err := range client.CPE.ValidarLote(t.Context(), slices.Values([]fiscope.Comprobante{factura}), credenciales, fiscope.LotePolicy{Progress: n}) {
			require.NoError(t, err)
		}
	}
	assert.Equal(t, []string{factura.String()}, n.recorded)
	assert.Len(t, s.seen(), 1, "it was answered, and open: Esperar is for that")
}

func TestAStaleAnswerIsNotRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		down := false
		p.answer = func(string, int) (*http.Response, error) {
			if down {
				return raw(501, "")(nil)
			}
			return nil, nil
		}
		client := newClient(t, p, fiscope.WithCache(fiscope.CachePolicy{Consulta: time.Hour, StaleIfError: 24 * time.Hour}))
		n := &notes{}
		run := func() {
			_, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(1), fiscope.LotePolicy{Progress: n}))
			require.Nil(t, stopped)
		}
		_, err := client.Contribuyentes.Consultar(t.Context(), ruc(0))
		require.NoError(t, err)
		down = true
		time.Sleep(2 * time.Hour)
		run()
		assert.Empty(t, n.recorded)
		down = false
		time.Sleep(time.Hour)
		run()
		assert.Equal(t, []string{ruc(0)}, n.recorded)
	})
}

// A batch without an end to its inputs is passed quickly, and its context still ends it.
func TestWhatIsRecordedCanBeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := &notes{recorded: []string{ruc(0)}}
	read := 0
	endless := func(yield func(string) bool) {
		for yield(ruc(0)) {
			if read++; read == 5000 {
				cancel()
			}
		}
	}
	lines, stopped := all(newClient(t, newPadron(t)).Contribuyentes.ConsultarLote(ctx, endless, fiscope.LotePolicy{Progress: n}))
	assert.Empty(t, lines)
	require.ErrorIs(t, stopped, context.Canceled)
	assert.Equal(t, 5001, stopped.Posicion)
}

func openProgress(t *testing.T, path string) *fiscope.ProgressFile {
	t.Helper()
	f, err := fiscope.NewProgressFile(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func done(t *testing.T, f *fiscope.ProgressFile, input string) bool {
	t.Helper()
	done, err := f.Done(t.Context(), input)
	require.NoError(t, err)
	return done
}

func TestAProgressFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "progress")
	f := openProgress(t, path)
	odd := []string{ruc(1), factura.String(), "", "with a \n break and \x00\xff", strings.Repeat("ñ", 9000), " "}
	for _, input := range odd {
		assert.False(t, done(t, f, input))
		require.NoError(t, f.Record(t.Context(), input))
		assert.True(t, done(t, f, input))
	}
	size := func() int64 {
		info, err := os.Stat(path)
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it holds RUCs")
		}
		return info.Size()
	}
	before := size()
	require.NoError(t, f.Record(t.Context(), ruc(1)))
	assert.Equal(t, before, size(), "once is enough")

	_, err := fiscope.NewProgressFile(path)
	require.ErrorContains(t, err, "another process works with it")
	require.NoError(t, f.Close())
	require.Error(t, f.Record(t.Context(), ruc(2)), "it is closed")

	f = openProgress(t, path)
	for _, input := range odd {
		assert.True(t, done(t, f, input), input)
	}
	assert.False(t, done(t, f, ruc(2)))
}

func TestAProgressFileSurvivesACut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "progress")
	f := openProgress(t, path)
	for n := range 5 {
		require.NoError(t, f.Record(t.Context(), ruc(n)))
	}
	require.NoError(t, f.Close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(whole), "\n")
	for cut := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(path, whole[:cut], 0o600))
		f := openProgress(t, path)
		left := len(lines[0])
		for n := range 5 {
			left += len(lines[n+1])
			require.Equal(t, cut >= left, done(t, f, ruc(n)), "%d after %d bytes", n, cut)
		}
		require.NoError(t, f.Record(t.Context(), ruc(9)))
		require.NoError(t, f.Close())
		f = openProgress(t, path)
		require.True(t, done(t, f, ruc(9)), "what follows a cut line is whole")
		require.NoError(t, f.Close())
	}
	for at := len(lines[0]); at < len(whole); at++ { // a damaged one is asked again, and no other is made of it
		damaged := slices.Clone(whole)
		damaged[at] ^= 0x01
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		f := openProgress(t, path)
		kept := 0
		for n := range 30 {
			if done(t, f, ruc(n)) {
				require.Less(t, n, 5)
				kept++
			}
		}
		require.GreaterOrEqual(t, kept, 3)
		require.Less(t, kept, 5)
		require.NoError(t, f.Close())
	}
}

func TestAFileThatIsNoProgressIsLeftAlone(t *testing.T) {
	for name, text := range map[string]string{
		"a list":           "ruc\n20131312955\n",
		"one line":         "20131312955",
		"a later version":  "fiscope progress 2\n",
		"one line, longer": "fiscope progress 12",
		"zeros":            strings.Repeat("\x00", 4096),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "progress")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			_, err := fiscope.NewProgressFile(path)
			require.ErrorContains(t, err, "it holds something else")
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, text, string(left))
		})
	}
	_, err := fiscope.NewProgressFile(filepath.Join(t.TempDir(), "no such folder", "progress"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func ExampleLotePolicy_progress() {
	folder, err := os.MkdirTemp("", "fiscope")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	run := func(killedAt int) {
		progress, err := fiscope.NewProgressFile(filepath.Join(folder, "noviembre.progress"))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer progress.Close()
		rucs := slices.Values([]string{"20131312955", "20331898008", "99999999999"})
		for l, err := range client.Contribuyentes.ConsultarLote(context.Background(), rucs, fiscope.LotePolicy{Concurrency: 1, Progress: progress}) {
			if err != nil && !errors.Is(err, fiscope.ErrNotFound) {
				fmt.Println(l.Posicion, err)
				continue
			}
			fmt.Println("stored:", l.Entrada) // where it is safe: it is not asked again
			if l.Posicion == killedAt {
				break // before the next line
			}
		}
	}
	run(1)
	run(-1)
	// Output:
	// stored: 20131312955
	// stored: 20331898008
	// stored: 20331898008
	// stored: 99999999999
}

// Also after all inputs were read: what was answered and is not recorded is paid again.
func TestAProgressThatFailsAtTheEndIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, n := newPadron(t), &notes{}
		p.delay = aSecond
		full, lines := errors.New("the disk is full"), 0
		var stopped *fiscope.LoteDetenido
		for _, err := range newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(5), fiscope.LotePolicy{Progress: n}) {
			if !errors.As(err, &stopped) {
				lines++
			}
			if lines == 2 { // the others were sent beside it
				n.fails = full
			}
		}
		assert.Equal(t, 5, lines)
		require.NotNil(t, stopped)
		require.ErrorIs(t, stopped, full)
	})
}

// What is not a progress file stays as it is.
func TestAFileThatIsSomethingElseIsLeftAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no such modes")
	}
	path := filepath.Join(t.TempDir(), "clientes.csv")
	require.NoError(t, os.WriteFile(path, []byte("ruc\n"), 0o600))
	require.NoError(t, os.Chmod(path, 0o644))
	_, err := fiscope.NewProgressFile(path)
	require.ErrorContains(t, err, "it holds something else")
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), info.Mode().Perm())
	assert.EqualValues(t, 4, info.Size())

	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", "-m", "0644", fifo).Run())
	_, err = fiscope.NewProgressFile(fifo)
	require.ErrorContains(t, err, "it is no plain file")
}
