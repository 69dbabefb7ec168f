package admin

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// pagePrefix is the path of the page's files.
const pagePrefix = Prefix + "page/"

// WantsPage reports whether a request comes from a browser, which gets the page instead of the list: its Accept contains
// text/html, and prefers it to plain text or treats them alike. "*/*", as sent by curl, is not enough.
func WantsPage(r *http.Request) bool {
	html, plain, exactness := 0.0, 0.0, 0 // of the range for plain text: the most specific one counts
	for element := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		media, parameters, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		quality := 1.0
		if q, ok := parameters["q"]; ok {
			if quality, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		if media == "text/html" {
			html = quality
		}
		if exact := map[string]int{"*/*": 1, "text/*": 2, "text/plain": 3}[media]; exact > exactness {
			plain, exactness = quality, exact
		}
	}
	return html > 0 && html >= plain
}

// isOfPage reports whether a request is for the page or one of its files, which contain no secret.
func (a *api) isOfPage(r *http.Request) bool {
	path := r.URL.Path
	return a.Page != nil && (strings.HasPrefix(path, pagePrefix) || (path == Prefix || path+"/" == Prefix) && WantsPage(r))
}
