package fiscope_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A program of somebody's, in a module of its own, tells the service which version of the SDK it was built with.
func TestUserAgentOfAProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	root, err := os.Getwd()
	require.NoError(t, err)
	answer := []byte(contract(t, "consultar_200.json"))
	// What the SDK needs is there already; a proxy has what is not.
	modules := goEnv(t, "GOMODCACHE") + "/cache/download," + goEnv(t, "GOPROXY")
	for name, test := range map[string]struct {
		require string // what go.mod says of the SDK
		env     []string
		want    string
	}{
		"a version": {
			"require github.com/fiscope/fiscope v0.1.7\n",
			[]string{"GOPROXY=file://" + published(t, root, "v0.1.7") + ",file://" + modules, "GOMODCACHE=" + t.TempDir()},
			"fiscope-go/0.1.7",
		},
		"a folder": {
			"require github.com/fiscope/fiscope v0.1.7\nreplace github.com/fiscope/fiscope => " + root + "\n",
			[]string{"GOPROXY=file://" + modules},
			"fiscope-go/devel",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module facturador\n\ngo 1.26.0\n\n"+test.require), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(programThatAsks), 0o600))
			build := exec.CommandContext(t.Context(), "go", "build", "-o", "facturador", ".")
			build.Dir = dir
			build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -modcacherw", "GOSUMDB=off", "GOTOOLCHAIN=local")
			build.Env = append(build.Env, test.env...)
			out, err := build.CombinedOutput()
			require.NoError(t, err, "%s", out)

			came := make(chan string, 1)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				came <- r.Header.Get("User-Agent")
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(answer)
			}))
			defer server.Close()
			out, err = exec.CommandContext(t.Context(), filepath.Join(dir, "facturador"), server.URL).CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Equal(t, test.want, <-came)
		})
	}
}

const programThatAsks = `package main

import (
	"context"
	"log"
	"os"

	"github.com/fiscope/fiscope"
)

func main() {
	client, err := fiscope.NewClient(os.Args[1], "clave-de-prueba")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.Contribuyentes.Consultar(context.Background(), "20131312955"); err != nil {
		log.Fatal(err)
	}
}
`

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// published returns the folder of a module proxy that has the SDK, as it is, under a version.
func published(t *testing.T, root, version string) string {
	t.Helper()
	const module = "github.com/fiscope/fiscope"
	proxy := t.TempDir()
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	goMod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	info, err := json.Marshal(map[string]string{"Version": version, "Time": "2026-11-22T14:17:34Z"})
	require.NoError(t, err)

	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	add := func(name string, content []byte) {
		f, err := w.Create(module + "@" + version + "/" + name)
		require.NoError(t, err)
		_, err = f.Write(content)
		require.NoError(t, err)
	}
	add("go.mod", goMod)
	files := os.DirFS(root)
	require.NoError(t, fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && name != "internal" && !strings.HasPrefix(name, "internal/"):
			return fs.SkipDir // what the SDK is not made of
		case entry.IsDir(), path.Ext(name) != ".go", strings.HasSuffix(name, "_test.go"):
			return nil
		}
		content, err := fs.ReadFile(files, name)
		add(name, content)
		return err
	}))
	require.NoError(t, w.Close())
	for file, content := range map[string][]byte{version + ".mod": goMod, version + ".info": info, version + ".zip": archive.Bytes()} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), content, 0o600))
	}
	return proxy
}
