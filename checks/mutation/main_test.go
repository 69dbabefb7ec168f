package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// outside is the environment of a module that is no part of the workspace.
func outside() []string { return append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod") }

// moduleOf writes a module, and returns its folder.
func moduleOf(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo 1.26.0\n"
	for name, text := range files {
		name = filepath.Join(folder, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return folder
}

// One of each verdict: what a test of the package notices, what only a test of a package that imports it does, what
// none does, and what never ends.
func TestRun(t *testing.T) {
	folder := moduleOf(t, map[string]string{
		"a/a.go": `package a

func Noticed(x int) bool { return x > 3 }

func NoticedFromAfar(x int) bool { return x == 3 }

func Endless(n int) (sum int) {
	for n > 0 {
		n--
		sum++
	}
	return sum
}

func Unnoticed(x int) bool { return x != 4 }

func Explained(x uint) bool { return x <= 0 }
`,
		"a/a_test.go": `package a

import "testing"

func TestNoticed(t *testing.T) {
	if Noticed(3) || !Noticed(4) || Endless(3) != 3 {
		t.Fatal("no")
	}
}

func TestExplained(t *testing.T) {
	if !Explained(0) || Explained(1) {
		t.Fatal("no")
	}
}
`,
		"b/b_test.go": `package b

import (
	"testing"

	"example.com/m/a"
)

func TestFromAfar(t *testing.T) {
	if !a.NoticedFromAfar(3) {
		t.Fatal("no")
	}
}
`,
	})
	p, err := load(folder, outside(), "./a")
	require.NoError(t, err)
	j, err := newJudge(folder, outside(), nil, time.Second, "./...")
	require.NoError(t, err)
	var out strings.Builder
	r := report{out: &out, verbose: true, equivalents: map[string]string{
		"a/a.go Explained boundary: x <= 0 => x < 0": "a wrong reason",
		"a/a.go Explained negate: x <= 0 => x == 0":  "of none",
		"a/a.go Unnoticed number: 4 => 5":            "nobody asks for 4",
	}}
	wanted := map[string]bool{
		"a/a.go Noticed boundary: x > 3 => x >= 3":        true,
		"a/a.go NoticedFromAfar negate: x == 3 => x != 3": true,
		"a/a.go Endless arithmetic: n-- => n++":           true,
		"a/a.go Endless remove: sum++ => nothing":         true,
		"a/a.go Unnoticed negate: x != 4 => x == 4":       true,
		"a/a.go Unnoticed number: 4 => 5":                 true,
		"a/a.go Explained boundary: x <= 0 => x < 0":      true,
		"a/a.go Explained number: 0 => 1":                 true,
	}
	err = r.run(t.Context(), p, j, func(m *mutant) bool { return wanted[m.id()] }, 2)
	require.Error(t, err)
	assert.Equal(t, []string{
		"equivalents.txt explains a mutant that is none any more: a/a.go Explained negate: x <= 0 => x == 0",
		"not equivalent, since killed (TestExplained): a/a.go Explained boundary: x <= 0 => x < 0",
		"survived: a/a.go Unnoticed negate: x != 4 => x == 4",
	}, sortedLines(err.Error()))
	for _, line := range []string{
		"killed (TestNoticed): a/a.go Noticed boundary: x > 3 => x >= 3",
		"killed (TestFromAfar): a/a.go NoticedFromAfar negate: x == 3 => x != 3",
		"timed out (example.com/m/a): a/a.go Endless arithmetic: n-- => n++",
		"equivalent (nobody asks for 4): a/a.go Unnoticed number: 4 => 5",
		"a/a.go:15: no test notices\na/a.go Unnoticed negate: x != 4 => x == 4\n" +
			"\t- func Unnoticed(x int) bool { return x != 4 }\n\t+ func Unnoticed(x int) bool { return x == 4 }\n",
		"     5 killed\n     1 timed out\n     1 equivalent\n     1 survived\n",
	} {
		assert.Contains(t, out.String(), line)
	}
}

func sortedLines(text string) []string {
	return slices.Sorted(slices.Values(strings.Split(text, "\n")))
}

// Tests that fail by themselves notice everything.
func TestTheTestsMustPassWithoutMutants(t *testing.T) {
	folder := moduleOf(t, map[string]string{
		"a.go":      "package m\n\nfunc Is() bool { return true }\n",
		"a_test.go": "package m\n\nimport \"testing\"\n\nfunc TestIs(t *testing.T) { t.Fatal(Is()) }\n",
	})
	p, err := load(folder, outside(), ".")
	require.NoError(t, err)
	j, err := newJudge(folder, outside(), nil, time.Second, ".")
	require.NoError(t, err)
	r := report{out: &strings.Builder{}}
	err = r.run(t.Context(), p, j, func(*mutant) bool { return true }, 1)
	require.ErrorContains(t, err, "without any mutant, the tests of example.com/m fail: killed TestIs")
}

// A sample of none shows nothing.
func TestASampleOfNoneFails(t *testing.T) {
	folder := moduleOf(t, map[string]string{"a.go": "package m\n\nfunc Is() bool { return true }\n"})
	p, err := load(folder, outside(), ".")
	require.NoError(t, err)
	r := report{out: &strings.Builder{}}
	require.EqualError(t, r.run(t.Context(), p, nil, func(*mutant) bool { return false }, 1), "no mutant was taken")
}

func TestALoadedProgramMustCompile(t *testing.T) {
	_, err := load(moduleOf(t, map[string]string{"a.go": "package m\n\nvar a int = true\n"}), outside(), ".")
	require.ErrorContains(t, err, "cannot use true")
}

// What keeps the tests from running is no test that notices.
func TestTestsMustRun(t *testing.T) {
	folder := moduleOf(t, map[string]string{
		"a.go":      "package m\n\nfunc Is() bool { return true }\n",
		"a_test.go": "package m\n\nfunc TestIs(t *testing.T) {}\n",
	})
	p, err := load(folder, outside(), ".")
	require.NoError(t, err)
	j, err := newJudge(folder, outside(), nil, time.Second, ".")
	require.NoError(t, err)
	for _, breaks := range []struct{ name, file, text string }{
		{"tests that do not compile", "a_test.go", "package m\n\nvar a int = true\n"},
		{"a module that is none", "go.mod", "<<<<<<<"},
	} {
		t.Run(breaks.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(folder, breaks.file), []byte(breaks.text), 0o600))
			j.limits = map[string]func() (time.Duration, error){} // they are asked anew
			r := report{out: &strings.Builder{}}
			require.ErrorContains(t, r.run(t.Context(), p, j, func(*mutant) bool { return true }, 1), "were not run")
		})
	}
}

// What ends the run is no verdict.
func TestAnEndedRunJudgesNothing(t *testing.T) {
	folder := moduleOf(t, map[string]string{"a.go": "package m\n\nfunc Is() bool { return true }\n"})
	p, err := load(folder, outside(), ".")
	require.NoError(t, err)
	j, err := newJudge(folder, outside(), nil, time.Second, ".")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := report{out: &strings.Builder{}}
	require.EqualError(t, r.run(ctx, p, j, func(*mutant) bool { return true }, 1), "context canceled", "once")
	assert.Empty(t, cmp.Diff(map[verdict]int{}, r.count))
}
