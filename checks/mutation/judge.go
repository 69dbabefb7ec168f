package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/go/packages"
)

// verdict is what the tests say of a mutant.
type verdict string

const (
	killed   verdict = "killed"    // a test failed
	timedOut verdict = "timed out" // the tests did not end, which they do without it
	survived verdict = "survived"  // every test passed

	equivalent verdict = "equivalent" // it survived, and that is explained
)

// judge runs tests on mutants. Nothing of the program's folder is changed: the tests are built with an overlay.
type judge struct {
	folder string
	env    []string
	args   map[string][]string // for the tests of a package
	least  time.Duration       // that tests have to end

	importers map[string][]string // of a package, with tests

	mu     sync.Mutex
	limits map[string]func() (time.Duration, error) // that the tests of a package have
}

// newJudge makes a judge that asks the tests of the packages of the patterns.
func newJudge(folder string, env []string, args map[string][]string, least time.Duration, patterns ...string) (*judge, error) {
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedForTest,
		Dir:  folder, Env: env, Tests: true,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	importers := map[string][]string{}
	for _, pkg := range pkgs {
		if pkg.ForTest == "" { // the others import nothing more
			continue
		}
		for _, imported := range pkg.Imports {
			if imported.PkgPath != pkg.ForTest && !slices.Contains(importers[imported.PkgPath], pkg.ForTest) {
				importers[imported.PkgPath] = append(importers[imported.PkgPath], pkg.ForTest)
			}
		}
	}
	for _, of := range importers {
		slices.Sort(of)
	}
	return &judge{
		folder: folder, env: env, args: args, least: least,
		importers: importers, limits: map[string]func() (time.Duration, error){},
	}, nil
}

// judge asks the tests of the mutant's package, and of those that import it, until one notices. It returns which did.
func (j *judge) judge(ctx context.Context, m *mutant, text []byte) (v verdict, by string, err error) {
	folder, err := os.MkdirTemp("", "fiscope-mutant-")
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	mutated, overlay := filepath.Join(folder, filepath.Base(m.file)), filepath.Join(folder, "overlay.json")
	content, err := json.Marshal(map[string]any{"Replace": map[string]string{m.file: mutated}})
	if err != nil {
		return "", "", err
	}
	if err := errors.Join(os.WriteFile(mutated, text, 0o600), os.WriteFile(overlay, content, 0o600)); err != nil {
		return "", "", err
	}
	for _, pkg := range append([]string{m.pkg}, j.importers[m.pkg]...) {
		limit, err := j.limit(ctx, pkg)
		if err != nil {
			return "", "", err
		}
		v, by, err := j.test(ctx, pkg, limit, "-overlay="+overlay)
		if err != nil || v != survived {
			return v, by, err
		}
	}
	return survived, "", nil
}

// limit is how long the tests of a package may take: several times as long as they do. They must pass.
func (j *judge) limit(ctx context.Context, pkg string) (time.Duration, error) {
	j.mu.Lock()
	limit := j.limits[pkg]
	if limit == nil {
		limit = sync.OnceValues(func() (time.Duration, error) {
			began := time.Now()
			v, by, err := j.test(ctx, pkg, 10*time.Minute)
			if err == nil && v != survived {
				err = fmt.Errorf("without any mutant, the tests of %s fail: %s %s", pkg, v, by)
			}
			return j.least + 3*time.Since(began), err
		})
		j.limits[pkg] = limit
	}
	j.mu.Unlock()
	return limit()
}

var (
	failedTest  = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	failedTests = regexp.MustCompile(`(?m)^FAIL\t\S+\t[0-9.]+s$`) // that were run
)

// test runs the tests of a package, and returns which one failed.
func (j *judge) test(ctx context.Context, pkg string, limit time.Duration, flags ...string) (verdict, string, error) {
	args := slices.Concat([]string{"test", "-vet=off", "-count=1", "-short", "-failfast", "-p=1", "-timeout=" + limit.String()}, flags, []string{pkg}, j.args[pkg])
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = j.folder, j.env, time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch said := out.String(); {
	case err == nil:
		return survived, "", nil
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case !errors.As(err, &exit):
		return "", "", err
	case strings.Contains(said, "panic: test timed out after"):
		return timedOut, pkg, nil
	case !failedTests.MatchString(said):
		return "", "", fmt.Errorf("the tests of %s were not run:\n%s", pkg, said)
	default:
		if match := failedTest.FindStringSubmatch(said); match != nil {
			return killed, match[1], nil
		}
		return killed, pkg, nil // by a panic, or by what TestMain finds
	}
}
