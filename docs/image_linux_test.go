package docs_test

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The command of the Dockerfile makes a program that needs nothing else: alone in its root, as the user of the image
// and as process 1, it serves, says that it is well, and ends at SIGTERM.
func TestTheProgramOfTheImage(t *testing.T) {
	if !*runCommands {
		t.Skip("left out: the program of the image is built with -commands")
	}
	image := readDockerfile(repository(t)["Dockerfile"])
	root := filepath.Join(t.TempDir(), "root")
	require.NoError(t, os.Mkdir(root, 0o755))
	line := regexp.MustCompile(`--mount=\S+ `).ReplaceAllString(image["RUN"][0], "")
	line = strings.Replace(line, "-o / ", "-o "+root+"/ ", 1)
	build := exec.CommandContext(t.Context(), "sh", "-c", line)
	build.Dir = released(t, "v0.1.7")
	build.Env = append(os.Environ(), "GOFLAGS=-buildvcs=true") // as it is unless somebody set it otherwise
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s: %s", line, out)

	program, err := elf.Open(filepath.Join(root, "fiscope-mock"))
	require.NoError(t, err)
	libraries, err := program.ImportedLibraries()
	require.NoError(t, err)
	assert.Empty(t, libraries, "it is static")
	assert.Nil(t, program.Section(".interp"), "it is static")
	require.NoError(t, program.Close())

	inside := container{root: root, user: image["USER"][1], env: []string{strings.Replace(image["ENV"][1], ":8080", ":0", 1)}}
	inside.isolate(t)
	out, err = inside.command(t, "/fiscope-mock", "version").Output()
	require.NoError(t, err)
	assert.Regexp(t, `^fiscope-mock v0\.1\.7 \(commit [0-9a-f]{12} of 2026-11-22T14:17:34Z\) go1\.`, string(out), "what git knows in the context")

	serving := inside.command(t, "/fiscope-mock")
	stdout, err := serving.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	serving.Stderr = &stderr
	require.NoError(t, serving.Start())
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan(), "%s", &stderr)
	url := lines.Text()

	assert.Equal(t, 200, status(t, url+"/api/contribuyentes/20131312955", "X-API-KEY", "clave-de-prueba"))
	assert.Equal(t, 403, status(t, url+"/_mock/data"), "there is no admin token")
	require.NoError(t, inside.command(t, "/fiscope-mock", "health", url).Run(), "it is well")

	require.NoError(t, serving.Process.Signal(syscall.SIGTERM))
	_, err = io.Copy(io.Discard, stdout)
	require.NoError(t, err)
	assert.NoError(t, serving.Wait(), "%s", &stderr)
	var exit *exec.ExitError
	require.ErrorAs(t, inside.command(t, "/fiscope-mock", "health", url).Run(), &exit, "it is gone")
	assert.Equal(t, 1, exit.ExitCode())
}

// released returns a clone of the repository, of a commit that has a tag.
func released(t *testing.T, tag string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fiscope")
	clone(t, dir)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "x"}, {"tag", tag}} {
		git := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		git.Dir = dir
		git.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-11-22T14:17:34Z", "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := git.CombinedOutput()
		require.NoError(t, err, "git %s: %s", args[0], out)
	}
	return dir
}

func status(t *testing.T, url string, header ...string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// container is what an engine makes of an image, as far as this machine lets a test do so.
type container struct {
	root, user string
	env        []string
	attr       syscall.SysProcAttr
}

// isolate finds out how a process gets the root, the user and a number 1 of its own: as root, where that may make a
// process 1, else without it; or as somebody else in a namespace of users.
func (c *container) isolate(t *testing.T) {
	t.Helper()
	var uid, gid uint32
	_, err := fmt.Sscanf(c.user, "%d:%d", &uid, &gid)
	require.NoError(t, err)
	as := &syscall.Credential{Uid: uid, Gid: gid, NoSetGroups: os.Getuid() != 0}
	ways := []syscall.SysProcAttr{
		{Chroot: c.root, Credential: as, Cloneflags: syscall.CLONE_NEWPID},
		{Chroot: c.root, Credential: as},
	}
	if os.Getuid() != 0 {
		ways = []syscall.SysProcAttr{{
			Chroot: c.root, Credential: as, Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: int(uid), HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: int(gid), HostID: os.Getgid(), Size: 1}},
		}}
	}
	for i := range ways {
		c.attr = ways[i]
		c.attr.Pdeathsig = syscall.SIGKILL
		if err = c.command(t, "/fiscope-mock", "version").Run(); err == nil {
			if c.attr.Cloneflags == 0 {
				t.Log("left out: nobody is process 1 here")
			}
			return
		}
	}
	t.Skipf("left out: the program cannot be alone here: %v", err)
}

func (c *container) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	attr := c.attr
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", c.env, &attr
	return cmd
}
