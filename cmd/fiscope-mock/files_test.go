package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
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

// written is a -url-file in which a server has written its URL.
func written(t *testing.T, name string) *urlFile {
	t.Helper()
	file, err := takeURLFile(name, nil, "")
	require.NoError(t, err)
	require.NoError(t, file.write("http://127.0.0.1:2"))
	return file
}

// starting returns the settings of a server at an address, with a -url-file.
func starting(addr, name string) settings {
	s := defaultSettings()
	s.addr, s.log, s.urlFile = addr, logOff, name
	return s
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
	file := written(t, name)
	require.NoError(t, os.WriteFile(name, []byte("http://127.0.0.1:3\n"), 0o600))
	file.remove()
	assert.FileExists(t, name, "another server's by now")

	var stderr bytes.Buffer
	assert.Equal(t, 2, run(t.Context(), []string{"-addr", "127.0.0.1:0", "-url-file", filepath.Join(t.TempDir(), "no", "url")}, vars(), io.Discard, &stderr))
	assert.Contains(t, stderr.String(), "-url-file")
}

// A start that fails leaves everything as it was, also the URL of a server that is gone.
func TestAFailedStartChangesNoFile(t *testing.T) {
	for name, change := range map[string]func(*settings){
		"no address":        func(s *settings) { s.addr = "nowhere" },
		"an address in use": func(s *settings) { s.addr = busy(t) },
		"no folder for the CA": func(s *settings) {
			s.selfSigned, s.caFile = true, filepath.Join(filepath.Dir(s.urlFile), "no", "ca.pem")
		},
		"wrong data": func(s *settings) { s.data = []string{s.urlFile + ".json"} },
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "url")
			stale := gone(t) + "\n"
			require.NoError(t, os.WriteFile(file, []byte(stale), 0o600))
			s := starting("127.0.0.1:0", file)
			change(&s)
			_, err := start(s, newLogger(logOff, io.Discard))
			require.Error(t, err)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, stale, string(text))
			entries, err := os.ReadDir(filepath.Dir(file))
			require.NoError(t, err)
			assert.Len(t, entries, 1)
		})
	}
}

// busy is an address at which somebody listens, until the end of the test.
func busy(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	return ln.Addr().String()
}

// Of servers that start at the same time one has the file, whatever was there and whatever becomes of the others.
func TestOneServerOwnsItsURLFile(t *testing.T) {
	taken, stale := busy(t), gone(t)+"\n"
	for round := range 100 {
		file := filepath.Join(t.TempDir(), "url")
		if round%2 == 0 {
			require.NoError(t, os.WriteFile(file, []byte(stale), 0o600))
		}
		var (
			starts sync.WaitGroup
			mu     sync.Mutex
			owners []*running
		)
		for _, addr := range []string{"127.0.0.1:0", taken, "127.0.0.1:0", taken} {
			starts.Go(func() {
				r, err := start(starting(addr, file), newLogger(logOff, io.Discard))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					owners = append(owners, r)
				} else if addr != taken {
					assert.ErrorContains(t, err, "-url-file: ")
				}
			})
		}
		starts.Wait()
		require.Len(t, owners, 1)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, owners[0].url+"\n", string(text))
		require.NoError(t, owners[0].close())
		entries, err := os.ReadDir(filepath.Dir(file))
		require.NoError(t, err)
		require.Empty(t, entries)
	}
}

func TestTakeURLFile(t *testing.T) {
	listening := busy(t)
	answering := []byte("http://" + listening + "\n")
	for name, c := range map[string]struct {
		stale  []byte // when it was looked at
		now    []byte // nil for none
		starts bool   // somebody else is about to write it
		own    string // where the server listens
		says   string
	}{
		"stale, and answering by now": {stale: answering, now: answering, says: "has just written"},
		"stale, and its own address":  {stale: answering, now: answering, own: "http://" + listening},
		"free":                        {},
		"stale":                       {stale: []byte("http://127.0.0.1:2\n"), now: []byte("http://127.0.0.1:2\n")},
		"taken away meanwhile":        {stale: []byte("http://127.0.0.1:2\n")},
		"empty":                       {stale: []byte{}, now: []byte{}},
		"written meanwhile":           {now: []byte("http://127.0.0.1:3\n"), says: "has just written"},
		"written over a stale one":    {stale: []byte("http://127.0.0.1:2\n"), now: []byte("http://127.0.0.1:3\n"), says: "has just written"},
		"emptied, and somebody's now": {now: []byte{}, says: "has just written"},
		"somebody else is starting":   {starts: true, says: "about to write"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "url")
			if c.now != nil {
				require.NoError(t, os.WriteFile(file, c.now, 0o600))
			}
			if c.starts {
				other, err := takeURLFile(file, nil, "")
				require.NoError(t, err)
				defer other.remove()
			}
			ours, err := takeURLFile(file, c.stale, c.own)
			if c.says != "" {
				assert.ErrorContains(t, err, c.says)
			} else {
				require.NoError(t, err)
				require.NoError(t, ours.write("http://127.0.0.1:4"))
				c.now = []byte("http://127.0.0.1:4\n")
				info, err := os.Stat(file)
				require.NoError(t, err)
				if runtime.GOOS != "windows" {
					assert.Equal(t, os.FileMode(0o644), info.Mode(), "other users' tests read it")
				}
			}
			text, _ := os.ReadFile(file)
			assert.Equal(t, string(c.now), string(text))
		})
	}
}

func TestWriteCAForAll(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no such modes")
	}
	name, _, err := writeCA(filepath.Join(t.TempDir(), "ca.pem"), []byte("CA"))
	require.NoError(t, err)
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), info.Mode())
}

// The CA would take the place of the URL, or the URL that of the CA.
func TestTheURLAndTheCAAreTwoFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	link := func(name, to string) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.Symlink(to, name))
		return name
	}
	there := file("there", "")
	hard := filepath.Join(dir, "hard")
	require.NoError(t, os.Link(there, hard))
	for name, c := range map[string]struct {
		url, ca string
		same    bool
	}{
		"two":                        {filepath.Join(dir, "a"), filepath.Join(dir, "b"), false},
		"two that are there":         {there, file("other", ""), false},
		"one":                        {filepath.Join(dir, "a"), filepath.Join(dir, "a"), true},
		"one, in other words":        {filepath.Join(dir, "a"), dir + "/./x/../a", true},
		"one that is there":          {there, there, true},
		"a hard link":                {there, hard, true},
		"a link":                     {there, link("link", there), true},
		"a link to what comes":       {filepath.Join(dir, "later"), link("early", "later"), true},
		"a link to a link":           {filepath.Join(dir, "later"), link("earlier", "early"), true},
		"a folder that is a link":    {filepath.Join(dir, "a"), filepath.Join(link("folder", dir), "a"), true},
		"a link in a circle":         {filepath.Join(dir, "a"), link("circle", "circle"), false},
		"another in the same folder": {filepath.Join(dir, "a"), filepath.Join(dir, "folder", "b"), false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readSettings(defaultSettings(), []string{"-tls", "-url-file", c.url, "-tls-ca-file", c.ca}, vars())
			if c.same {
				assert.ErrorContains(t, err, "one file")
			} else {
				assert.NoError(t, err)
			}
		})
	}
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
			ours := written(t, file)
			require.NoError(t, os.Remove(file))
			if err := put(file); err != nil {
				t.Skipf("it cannot be made here: %v", err)
			}
			ours.remove() // and does not wait for somebody to write into a pipe
			_, err := os.Lstat(file)
			assert.NoError(t, err)
		})
	}
}
