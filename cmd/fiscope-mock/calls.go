package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/fiscope/fiscope/mockserver"
)

// logged logs the calls that were not answered with 2xx, or all. Of a request it shows the method and the
// path only: queries and bodies hold what a log must not, and the journal has them, redacted.
func logged(mock *mockserver.Server, log *slog.Logger, all bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		watched := &watcher{ResponseWriter: w}
		began := time.Now()
		defer func() { // also when a fault cuts the connection, which is a panic
			if good := watched.status >= 200 && watched.status < 300; good && !all {
				return
			}
			level := slog.LevelWarn
			if watched.code == "" && watched.status != 0 {
				level = slog.LevelInfo
			}
			log.Log(r.Context(), level, "call", "method", shown(mock, r, r.Method), "path", shown(mock, r, r.URL.Path),
				"status", watched.status, "code", shown(mock, r, watched.code), "took", time.Since(began).Round(time.Microsecond))
		}()
		mock.ServeHTTP(watched, r)
	})
}

// shown is a piece of a request or of its answer without the API keys of the server and of the request, and bounded.
func shown(mock *mockserver.Server, r *http.Request, s string) string {
	const most = 200
	s = mock.WithoutKeys(s, r.Header.Get("X-API-KEY"))
	return s[:min(len(s), most)]
}

// watcher notes an answer's status, 0 for none, and an error's code.
type watcher struct {
	http.ResponseWriter
	status int
	code   string
}

func (w *watcher) WriteHeader(status int) {
	if w.status == 0 || w.status < 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watcher) Write(body []byte) (int, error) {
	if w.status >= 300 && w.code == "" {
		var e struct{ Code string }
		if json.Unmarshal(body, &e) == nil {
			w.code = e.Code
		}
	}
	return w.ResponseWriter.Write(body)
}

// Unwrap lets [http.ResponseController] reach the connection, which some faults break.
func (w *watcher) Unwrap() http.ResponseWriter { return w.ResponseWriter }
