package admin

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// pagePrefix is where the files of the page lie.
const pagePrefix = Prefix + "page/"

// wantsPage reports whether a request for the list is answered with the page: it names text/html in its Accept, and
// wants it no less than plain text. "*/*", as curl sends it, names nothing.
func wantsPage(r *http.Request) bool {
	html, named := 0.0, false
	plain, least := 0.0, -1 // least is how exactly the range says text/plain that plain is of
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
			html, named = quality, true
		}
		if exact := map[string]int{"*/*": 1, "text/*": 2, "text/plain": 3}[media]; exact > 0 && exact > least {
			plain, least = quality, exact
		}
	}
	return named && html > 0 && html >= plain
}

// isOfPage reports whether a request is for the page or one of its files, which hold no secret.
func (a *api) isOfPage(r *http.Request) bool {
	return a.Page != nil && (r.URL.Path == Prefix && wantsPage(r) || strings.HasPrefix(r.URL.Path, pagePrefix))
}
