package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gone is the URL of a server that was killed.
func gone(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	return "http://" + ln.Addr().String()
}

func TestURLFile(t *testing.T) {
	for what, before := range map[string]*string{
		"nothing there": nil, "of a server that was killed": new(gone(t) + "\n"), "the same without its line end": new(gone(t)),
		"https": new("https" + gone(t)[len("http"):]), "empty, as mktemp makes it": new(""),
	} {
		t.Run(what, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "url")
			if before != nil {
				require.NoError(t, os.WriteFile(name, []byte(*before), 0o600))
			}
			t.Run("while it serves", func(t *testing.T) {
				url, _ := serving(t, vars("FISCOPE_MOCK_URL_FILE", name), "-addr", "127.0.0.1:0")
				text, err := os.ReadFile(name)
				require.NoError(t, err)
				assert.Equal(t, url+"\n", string(text))
			})
			assert.NoFileExists(t, name)
		})
	}

	name := filepath.Join(t.TempDir(), "url")
	remove, err := writeURL(name, "http://127.0.0.1:2")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, []byte("http://127.0.0.1:3\n"), 0o600))
	remove()
	assert.FileExists(t, name, "another server's by now")

	var stderr bytes.Buffer
	assert.Equal(t, 2, run(t.Context(), []string{"-addr", "127.0.0.1:0", "-url-file", filepath.Join(t.TempDir(), "no", "url")}, vars(), io.Discard, &stderr))
	assert.Contains(t, stderr.String(), "-url-file")
}

// Who waits for a URL must not find that of a server that was killed, even if there will be no new one.
func TestURLOfAServerThatIsGoneGoesFirst(t *testing.T) {
	name := filepath.Join(t.TempDir(), "url")
	require.NoError(t, os.WriteFile(name, []byte(gone(t)+"\n"), 0o600))
	assert.Equal(t, 2, run(t.Context(), []string{"-addr", "nowhere", "-url-file", name}, vars(), io.Discard, io.Discard))
	assert.NoFileExists(t, name)
}

// What is there and is not the URL of a server that is gone stays as it is, and no server starts.
func TestURLFileThatIsSomebodyElses(t *testing.T) {
	dir := t.TempDir()
	running := filepath.Join(dir, "running")
	url, _ := serving(t, vars(), "-addr", "127.0.0.1:0", "-url-file", running)
	for name, c := range map[string]struct {
		text string // of a plain file; or else made by make
		make func(name string) error
		says string
	}{
		"a running server's": {text: url + "\n", says: "answers, " + url},
		"somebody's text":    {text: "apuntes\n", says: "something else"},
		"a URL of somebody":  {text: "http://ejemplo.invalid/pagina\n", says: "something else"},
		"a URL and more":     {text: gone(t) + "\notra\n", says: "something else"},
		"a folder":           {make: func(name string) error { return os.Mkdir(name, 0o700) }, says: "folder"},
		"a link to nothing":  {make: func(name string) error { return os.Symlink(name+"-otro", name) }, says: "link"},
		"a link to a file":   {make: func(name string) error { return os.Symlink(running, name) }, says: "link"},
		"a pipe":             {make: makePipe, says: "no plain file"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "url")
			if c.make == nil {
				require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
			} else if err := c.make(file); err != nil {
				t.Skipf("it cannot be made here: %v", err)
			}
			before, err := os.Lstat(file)
			require.NoError(t, err)
			for _, addr := range []string{"127.0.0.1:0", url[len("http://"):], "nowhere"} {
				var stdout, stderr bytes.Buffer
				assert.Equal(t, 2, run(t.Context(), []string{"-addr", addr, "-url-file", file}, vars(), &stdout, &stderr))
				assert.Empty(t, stdout.String(), "it did not serve")
				assert.Contains(t, stderr.String(), "-url-file")
				assert.Contains(t, stderr.String(), c.says)
			}
			after, err := os.Lstat(file)
			require.NoError(t, err)
			assert.True(t, os.SameFile(before, after))
			assert.Equal(t, before.Mode(), after.Mode())
			if c.make == nil {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				assert.Equal(t, c.text, string(text))
			}
		})
	}
	text, err := os.ReadFile(running)
	require.NoError(t, err)
	assert.Equal(t, url+"\n", string(text))
}

// What somebody else has put there since is not the server's to remove.
func TestURLFileThatIsNoPlainFileAnyMore(t *testing.T) {
	for name, put := range map[string]func(string) error{"a pipe": makePipe, "a folder": func(name string) error { return os.Mkdir(name, 0o700) }} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "url")
			remove, err := writeURL(file, "http://127.0.0.1:2")
			require.NoError(t, err)
			require.NoError(t, os.Remove(file))
			if err := put(file); err != nil {
				t.Skipf("it cannot be made here: %v", err)
			}
			remove() // and does not wait for somebody to write into a pipe
			_, err = os.Lstat(file)
			assert.NoError(t, err)
		})
	}
}
