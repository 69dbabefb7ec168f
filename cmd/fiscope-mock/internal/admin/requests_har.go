package admin

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"github.com/fiscope/fiscope/mockserver"
)

// har is an object of HAR 1.2, a format that HTTP tools import.
type har map[string]any

// exportRequests returns the requests of GET requests as HAR.
func (a *api) exportRequests(r *http.Request) (any, error) {
	q, err := a.readQuery(r, query{}, "limit")
	if err != nil {
		return nil, err
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	entries := []har{}
	for _, call := range a.newest(q, a.Mock.Requests(q.filter)).Requests {
		entries = append(entries, harEntry(scheme, call))
	}
	return har{"log": har{"version": "1.2", "creator": har{"name": "fiscope-mock", "version": cmp.Or(a.Version, "devel")}, "entries": entries}}, nil
}

func harEntry(scheme string, c mockserver.Request) har {
	sent, answered := http.Header(c.RequestHeaders), http.Header(c.ResponseHeaders)
	address := url.URL{Scheme: scheme, Host: sent.Get("Host"), Path: c.Path}
	var pairs []har
	address.RawQuery, pairs = harQuery(c.Query)
	request := harMessage(sent)
	request["method"], request["url"], request["queryString"] = c.Method, address.String(), pairs
	if c.Body != "" {
		request["postData"] = har{"mimeType": sent.Get("Content-Type"), "text": c.Body}
	}
	response := harMessage(answered)
	response["status"], response["statusText"], response["redirectURL"] = c.Status, http.StatusText(c.Status), answered.Get("Location")
	response["content"] = har{"size": len(c.Answer), "mimeType": cmp.Or(answered.Get("Content-Type"), "x-unknown"), "text": c.Answer}
	comment := fmt.Sprintf("llamada %d, costo %d", c.N, c.Cost)
	if c.Attempt > 1 {
		comment += fmt.Sprintf("; intento %d de la llamada %d", c.Attempt, c.RetryOf)
	}
	if c.Fault != "" {
		comment += "; falla " + c.Fault
	}
	if c.Broken {
		comment += "; la respuesta no llegó completa"
	}
	return har{
		"startedDateTime": c.Time, "time": c.Ms, "request": request, "response": response, "cache": har{},
		"timings": har{"send": 0, "wait": c.Ms, "receive": 0}, "connection": fmt.Sprint(c.Conn), "comment": comment,
	}
}

// harMessage returns the common members of a request and an answer; -1 means unknown.
func harMessage(h http.Header) har {
	headers := []har{}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			headers = append(headers, har{"name": name, "value": value})
		}
	}
	return har{"httpVersion": "HTTP/1.1", "cookies": []har{}, "headers": headers, "headersSize": -1, "bodySize": -1}
}

// journalQuery matches a query in the journal: decoded, in the order of the contract.
var journalQuery = regexp.MustCompile(`^(?:(razonSocial)=(.*?))?(?:(?:^|&)(limit)=([^&]*))?(?:(?:^|&)(fecha)=([^&]*))?(?:&?\([^()]*\))?$`)

func harQuery(shown string) (encoded string, pairs []har) {
	pairs, values, found := []har{}, url.Values{}, journalQuery.FindStringSubmatch(shown)
	for i := 1; i < len(found); i += 2 {
		if found[i] != "" {
			pairs = append(pairs, har{"name": found[i], "value": found[i+1]})
			values.Set(found[i], found[i+1])
		}
	}
	return values.Encode(), pairs
}
