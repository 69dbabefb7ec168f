package conformance

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
)

// reply is an answer that a mutant changes before it is sent.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (a *reply) write(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	w.Write(a.body)
}

// answering changes the answers that an operation gives to the requests that is says.
func answering(op operation, is func(*http.Request, *reply) bool, change func(*reply)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a := answerOf(next, r)
			if operationOf(r) == op && is(r, a) {
				change(a)
			}
			a.write(w)
		})
	}
}

// asking changes the requests of an operation before the mock has them.
func asking(op operation, change func(*http.Request, *fieldsOfBody)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if operationOf(r) == op {
				body := fieldsOfBody{}
				if op == validation {
					_ = json.NewDecoder(r.Body).Decode(&body)
				}
				change(r, &body)
				if op == validation {
					text, _ := json.Marshal(body)
					r.Body = readCloser{bytes.NewReader(text)}
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

type fieldsOfBody map[string]json.RawMessage

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

func answerOf(next http.Handler, r *http.Request) *reply {
	w := httptest.NewRecorder()
	next.ServeHTTP(w, r)
	header := w.Header().Clone()
	header.Del("Content-Length")
	return &reply{w.Code, header, w.Body.Bytes()}
}

func operationOf(r *http.Request) operation {
	switch path := r.URL.Path; {
	case path == "/api/contribuyentes/search":
		return search
	case path == "/api/cpe/validar":
		return validation
	case path == "/api/tipocambio":
		return rate
	}
	return lookup
}

// The requests that mutants choose.
func answered200(_ *http.Request, a *reply) bool { return a.status == 200 }
func answered404(_ *http.Request, a *reply) bool { return a.status == 404 }
func answered400(_ *http.Request, a *reply) bool { return a.status == 400 }
func wrongSOL(_ *http.Request, a *reply) bool    { return bytes.Contains(a.body, []byte("INVALID_SOL")) }

func withQuery(name, value string) func(*http.Request, *reply) bool {
	return func(r *http.Request, _ *reply) bool {
		return r.URL.Query().Has(name) && r.URL.Query().Get(name) == value
	}
}

func ofCodigo(codigo string) func(*http.Request, *reply) bool {
	return func(_ *http.Request, a *reply) bool {
		return bytes.Contains(a.body, []byte(`"codigo":"`+codigo+`"`))
	}
}

// What mutants do to an answer.
func body(text string) func(*reply)     { return func(a *reply) { a.body = []byte(text) } }
func appended(text string) func(*reply) { return func(a *reply) { a.body = append(a.body, text...) } }
func header(name string, values ...string) func(*reply) {
	return func(a *reply) { a.header[name] = values }
}

func status(code int) func(*reply) { return func(a *reply) { a.status = code } }

// failWith answers with an error of its own.
func failWith(code int, text string) func(*reply) {
	return func(a *reply) {
		a.status, a.body = code, []byte(`{"error":"no","code":"`+text+`"}`)
	}
}

// setMember writes another value for a member of the object, or of each object of the array; "" takes it away.
func setMember(name, value string) func(*reply) {
	return func(a *reply) {
		var list []map[string]json.RawMessage
		one := map[string]json.RawMessage{}
		if json.Unmarshal(a.body, &list) != nil {
			_ = json.Unmarshal(a.body, &one)
			list = []map[string]json.RawMessage{one}
		}
		for _, object := range list {
			if value == "" {
				delete(object, name)
			} else {
				object[name] = json.RawMessage(value)
			}
		}
		if bytes.HasPrefix(bytes.TrimSpace(a.body), []byte("[")) {
			a.body, _ = json.Marshal(list)
		} else {
			a.body, _ = json.Marshal(one)
		}
	}
}

func results(a *reply) (list []json.RawMessage) {
	_ = json.Unmarshal(a.body, &list)
	return list
}

func setResults(a *reply, list []json.RawMessage) { a.body, _ = json.Marshal(list) }

// times sends each request of an operation as often as a function of its answer says, all but the first for
// nothing: it costs more.
func times(op operation, of func(*reply) int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if operationOf(r) != op || r.Header.Get("X-API-KEY") != theKey {
				next.ServeHTTP(w, r)
				return
			}
			text := new(bytes.Buffer)
			_, _ = text.ReadFrom(r.Body)
			var a *reply
			for n := 0; a == nil || n < of(a); n++ {
				again := r.Clone(r.Context())
				again.Body = readCloser{bytes.NewReader(text.Bytes())}
				if came := answerOf(next, again); a == nil || came.status == 200 {
					a = came
				}
			}
			a.write(w)
		})
	}
}

// free answers as usual and gives the query back: Remaining of the lookups is higher by it.
func free(op operation) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		given := 0
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a := answerOf(next, r)
			if operationOf(r) == op && a.status == 200 {
				given++
			}
			if left := a.header.Get(headerRemaining); left != "" {
				n, _ := strconv.Atoi(left)
				a.header[http.CanonicalHeaderKey(headerRemaining)] = []string{strconv.Itoa(n + given)}
			}
			a.write(w)
		})
	}
}

// withKey gives each request of an operation the right key, where kind says so of the one that it has.
func withKey(op operation, accepts func(key string) bool) func(http.Handler) http.Handler {
	return asking(op, func(r *http.Request, _ *fieldsOfBody) {
		if accepts(r.Header.Get("X-API-KEY")) {
			r.Header.Set("X-API-KEY", theKey)
		}
	})
}

// setQuery changes a parameter of a search or a rate.
func setQuery(r *http.Request, change func(url.Values)) {
	values := r.URL.Query()
	change(values)
	r.URL.RawQuery = values.Encode()
}

const sunat = "SUPERINTENDENCIA NACIONAL DE ADUANAS Y DE ADMINISTRACION TRIBUTARIA - SUNAT"

// onlyFinds is a search that finds nothing where the text is not as it wants it.
func onlyFinds(is func(text string) bool) func(http.Handler) http.Handler {
	return answering(search, func(r *http.Request, a *reply) bool {
		return a.status == 200 && !is(r.URL.Query().Get("razonSocial"))
	}, body("[]"))
}
