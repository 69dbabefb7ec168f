// Package page has the mock server's web page: one address, files without a build step, and no external resources. It
// uses the admin API, like any other program.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// policy lets the page load its own files and call its own server, nothing else. No text can run as a script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

//go:embed files
var embedded embed.FS

// file is one of the page's files, ready to send.
type file struct {
	media string
	etag  string // hash of its content
	text  []byte
}

// Handler answers GET and HEAD of prefix with the page, and of prefix + "page/" with its files. Browsers must revalidate them
// each time, because a newer program has newer files; an unchanged file costs a 304.
func Handler(prefix string) http.Handler {
	files := map[string]file{}
	err := fs.WalkDir(embedded, "files", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := embedded.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		at := prefix + "page/" + strings.TrimPrefix(name, "files/")
		if path.Base(name) == "index.html" {
			at = prefix
		}
		files[at] = file{media[path.Ext(name)], `"` + hex.EncodeToString(sum[:8]) + `"`, text}
		return nil
	})
	if err != nil {
		panic(err) // the files are embedded: only a bug gets here
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, known := files[r.URL.Path]
		switch {
		case !known:
			http.Error(w, "la página no tiene ese archivo", http.StatusNotFound)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "use GET o HEAD", http.StatusMethodNotAllowed)
		default:
			f.serve(w, r)
		}
	})
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.media)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.etag)
	h.Set("Vary", "Accept") // programs get a list at the same address
	if r.Header.Get("If-None-Match") == f.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(f.text)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(f.text)
	}
}

// media are the types of the files. The machine's own table, which package mime uses, may have others, with which a browser
// runs no module.
var media = map[string]string{
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".svg":  "image/svg+xml",
}
