// Mutate finds changes of a package that none of its tests notices. It writes each changed place so that a variable
// of the environment switches the change on: one build of the tests then serves all of them.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// listed is a package as go list prints it.
type listed struct {
	ImportPath, Dir, Name, Export, ForTest string
	GoFiles, TestGoFiles, XTestGoFiles     []string
	Deps                                   []string
	DepOnly                                bool
}

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 100, "how many changes, at most")
	seed := flag.Uint64("seed", 1, "which of them: the same number chooses the same")
	flag.Parse()
	packages := list(flag.Args())
	var all []mutant
	for _, p := range packages.named {
		all = append(all, packages.read(p)...)
	}
	fmt.Printf("%d places in %d packages\n", len(all), len(packages.named))
	rand.New(rand.NewPCG(*seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(*n, len(all))]
	for i := range all {
		all[i].id = i + 1
	}
	suites := packages.build(all)

	here, _ := os.Getwd()
	var wait sync.WaitGroup
	var survived atomic.Int64
	next := make(chan mutant)
	for range runtime.NumCPU() {
		wait.Go(func() {
			for m := range next {
				own := func(s *suite) bool { return s.pkg == m.pkg && s.test(m.id) != nil }
				other := func(s *suite) bool {
					return s.pkg != m.pkg && slices.Contains(s.deps, m.pkg.ImportPath) && s.test(m.id) != nil
				}
				if !slices.ContainsFunc(suites, own) && !slices.ContainsFunc(suites, other) {
					survived.Add(1)
					fmt.Printf("%s: %s\n", strings.TrimPrefix(m.where.String(), here+"/"), m.what)
				}
			}
		})
	}
	for _, m := range all {
		next <- m
	}
	close(next)
	wait.Wait()
	fmt.Printf("%d changes: %d noticed, %d not\n", len(all), len(all)-int(survived.Load()), survived.Load())
}

func check(err error, what string) {
	if err != nil {
		log.Fatalln(what+":", err)
	}
}

// tree is what go list says of the named packages and of all that they and their tests need.
type tree struct {
	named  []*listed
	export map[string]string   // the compiled types, by import path
	deps   map[string][]string // of the tests, by import path
}

func list(patterns []string) *tree {
	cmd := exec.Command("go", append([]string{"list", "-export", "-test", "-deps",
		"-json=ImportPath,Dir,Name,Export,ForTest,GoFiles,TestGoFiles,XTestGoFiles,Deps,DepOnly", "--"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	check(err, "go list")
	t := &tree{export: map[string]string{}, deps: map[string][]string{}}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(listed)
		err := d.Decode(p)
		if errors.Is(err, io.EOF) {
			return t
		}
		check(err, "go list")
		if of, ok := strings.CutSuffix(p.ImportPath, ".test"); ok {
			for _, d := range p.Deps {
				path, _, _ := strings.Cut(d, " ")
				t.deps[of] = append(t.deps[of], path)
			}
		} else if p.ForTest == "" {
			t.export[p.ImportPath] = p.Export
			if !p.DepOnly && len(p.GoFiles) > 0 {
				t.named = append(t.named, p)
			}
		}
	}
}

// read finds the places of a package that can be changed.
func (t *tree) read(p *listed) (all []mutant) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		check(err, p.ImportPath)
		files = append(files, file)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(t.export[path]) })}
	_, err := config.Check(p.ImportPath, fset, files, info)
	check(err, p.ImportPath)
	for _, file := range files {
		all = append(all, places(p, fset, file, info)...)
	}
	return all
}

// suite is the built tests of a package.
type suite struct {
	pkg             *listed
	deps            []string
	binary, overlay string
	skip            string // tests
	limit           time.Duration
}

// build builds the tests of each named package with all mutants, and sees that they pass while none is chosen.
func (t *tree) build(all []mutant) []*suite {
	byFile := map[string][]mutant{}
	text := map[string]string{}
	for _, m := range all {
		byFile[m.where.Filename] = append(byFile[m.where.Filename], m)
		text[filepath.Join(m.pkg.Dir, "mutant_switch.go")] = fmt.Sprintf(helpers, m.pkg.Name)
	}
	for path, mutants := range byFile {
		source, _ := os.ReadFile(path) // it was just parsed
		text[path] = rewrite(string(source), mutants)
	}
	replace := map[string]string{} // go build reads the second instead of the first
	for path := range text {
		replace[path] = filepath.Join(os.TempDir(), strconv.Itoa(len(replace))+".go")
		check(os.WriteFile(replace[path], []byte(text[path]), 0o600), path)
	}
	overlay := filepath.Join(os.TempDir(), "overlay.json")
	index, _ := json.Marshal(map[string]any{"Replace": replace})
	check(os.WriteFile(overlay, index, 0o600), overlay)

	var suites []*suite
	for i, p := range t.named {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		s := &suite{pkg: p, deps: t.deps[p.ImportPath], binary: filepath.Join(os.TempDir(), strconv.Itoa(i)+".test"), overlay: overlay, skip: "-", limit: 10 * time.Minute}
		out, err := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", s.binary, p.ImportPath).CombinedOutput()
		check(err, p.ImportPath+" does not build: "+string(out))
		begun := time.Now()
		for err := s.test(0); err != nil; err = s.test(0) { // of a test that counts allocations, for example
			failed := regexp.MustCompile(`(?m)^--- FAIL: (\w+)`).FindStringSubmatch(err.Error())
			if failed == nil {
				check(err, p.ImportPath)
			}
			fmt.Printf("%s of %s is left out: it fails without a change\n", failed[1], p.ImportPath)
			s.skip, begun = s.skip+"|"+failed[1], time.Now()
		}
		s.limit = 10*time.Second + 4*time.Since(begun)
		suites = append(suites, s)
	}
	return suites
}

// test runs the tests with one change. What hangs fails. Tests that build a program build it with the change, too.
func (s *suite) test(id int) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	temp, err := os.MkdirTemp("", "")
	check(err, "the folder of a run")
	defer os.RemoveAll(temp)
	cmd := exec.CommandContext(ctx, s.binary, "-test.failfast", "-test.skip=^("+s.skip+")$")
	cmd.Dir = s.pkg.Dir
	cmd.Env = append(os.Environ(), "FISCOPE_MUTANT="+strconv.Itoa(id), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+s.overlay, "TMPDIR="+temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what a test starts ends with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		_ = cmd.Cancel()
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return err
}
