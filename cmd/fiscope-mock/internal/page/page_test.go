package page_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/assumption"
	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/page"
	"github.com/fiscope/fiscope/mockserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// get asks the page's handler, with headers as name and value in turn.
func get(t *testing.T, method, path string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	page.Handler("/_mock/").ServeHTTP(w, r)
	return w.Result()
}

func TestFilesAreServed(t *testing.T) {
	for path, media := range map[string]string{
		"/_mock/":                   "text/html; charset=utf-8",
		"/_mock/page/page.js":       "text/javascript; charset=utf-8",
		"/_mock/page/view/calls.js": "text/javascript; charset=utf-8",
		"/_mock/page/page.css":      "text/css; charset=utf-8",
		"/_mock/page/icon.svg":      "image/svg+xml",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			t.Run(method+" "+path, func(t *testing.T) {
				answer := get(t, method, path)
				require.Equal(t, http.StatusOK, answer.StatusCode)
				assert.Equal(t, media, answer.Header.Get("Content-Type"))
				assert.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"))
				assert.Equal(t, "no-cache", answer.Header.Get("Cache-Control"), "a newer program has newer files")
				again := get(t, method, path, "If-None-Match", answer.Header.Get("ETag"))
				assert.Equal(t, http.StatusNotModified, again.StatusCode)
			})
		}
	}
	for _, path := range []string{"/_mock/page/", "/_mock/page/nada.js", "/_mock/page/files/page.js", "/_mock/page/../page.go", "/_mock/page/view"} {
		assert.Equal(t, http.StatusNotFound, get(t, "GET", path).StatusCode, path)
	}
	refused := get(t, "POST", "/_mock/page/page.js")
	assert.Equal(t, http.StatusMethodNotAllowed, refused.StatusCode)
	assert.Equal(t, "GET, HEAD", refused.Header.Get("Allow"))
}

// No text of a call can become a script, a style or a request to elsewhere.
func TestPolicy(t *testing.T) {
	header := get(t, "GET", "/_mock/").Header
	assert.Equal(t, "no-referrer", header.Get("Referrer-Policy"))
	policy := header.Get("Content-Security-Policy")
	for _, directive := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"} {
		assert.Contains(t, strings.Split(policy, "; "), directive)
	}
	assert.NotContains(t, policy, "unsafe")
	assert.NotContains(t, policy, "*")
}

// files returns the page's files by their names.
func files(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir("files", func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		found[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return found
}

// The page is loaded from a program that starts for each test run, perhaps in a container, and by slow browsers.
func TestSize(t *testing.T) {
	const most = 135_000 // bytes of all files, as they are
	size := 0
	for _, text := range files(t) {
		size += len(text)
	}
	assert.LessOrEqual(t, size, most)
	assert.Greater(t, size, 10_000, "these are not all files")
}

// Names and headers of calls are shown, and anybody can send them: only as text do they get into the document.
func TestNoTextBecomesMarkup(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|createContextualFragment|srcdoc|javascript:|setTimeout\(['"]`)
	for name, text := range files(t) {
		assert.Empty(t, forbidden.FindAllString(text, -1), name)
		assert.NotRegexp(t, `(?i)<script(?:>|[^>]*[^"]>[^<])|\son\w+="|style="`, text, name+": the policy lets none of it run")
	}
	assert.True(t, forbidden.MatchString("x.innerHTML = y"))
}

var keyOfText = regexp.MustCompile(`(?m)^(\w+)\|([^|\n]+)(?:\|([^|\n]+))?$`)

// Every text that is asked for is there, in both languages, and none is there for nothing.
func TestTexts(t *testing.T) {
	all := files(t)
	known := map[string]bool{}
	for _, text := range keyOfText.FindAllStringSubmatch(all["files/text.js"], -1) {
		assert.False(t, known[text[1]], "%s stands there twice", text[1])
		known[text[1]] = true
		assert.ElementsMatch(t, names(text[2]), names(text[3]+strings.Repeat(text[2], 1-min(len(text[3]), 1))), "%s: the {names} of both languages", text[1])
	}
	require.Greater(t, len(known), 100)
	code := ""
	for name, text := range all {
		if strings.HasSuffix(name, ".js") && name != "files/text.js" {
			code += text
		}
	}
	for _, use := range regexp.MustCompile(`\bt\('(\w+)'`).FindAllStringSubmatch(code, -1) {
		assert.True(t, known[use[1]], "there is no text %s", use[1])
	}
	prefixed := regexp.MustCompile("^(?:answered_|sol_|whySOL_|whyMOCK_|rule_|sum_|part_|group_|kind0|codigo)|(?:Title|Means)$") // put together from parts
	for key := range known {
		if !prefixed.MatchString(key) {
			assert.Regexp(t, "['\" ]"+key+"['\" ]", code, "nobody asks for the text "+key)
		}
	}
}

func names(text string) []string { return regexp.MustCompile(`\{\w+\}`).FindAllString(text, -1) }

// A preset and an assumption have their Spanish on the page.
func TestSpanishOfTheServersLists(t *testing.T) {
	all := files(t)
	for _, preset := range mockserver.Presets() {
		assert.Regexp(t, `(?m)^`+string(preset.Name)+`\|.+$`, all["files/preset.js"])
	}
	for _, item := range assumption.List(mockserver.DefaultAssumptions()) {
		assert.Regexp(t, `(?m)^`+item.Name+`\|[^|\n]+\|[^|\n]+$`, all["files/assumption.js"])
	}
}
