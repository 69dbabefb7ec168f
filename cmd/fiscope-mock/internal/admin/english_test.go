package admin

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/strictjson"
	"github.com/fiscope/fiscope/mockserver"
)

// spanishWord is a word of which English text has none; names of members, such as luego, are no such words.
var spanishWord = regexp.MustCompile(`[áéíóúñü¿¡]|(?i)\b(al|cada|como|cuerpo|da|dé|de|del|dos|el|en|entre|es|ese|esa|esto|falta|hay|la|las|lo|los|más|ni|o|otro|para|que|se|ser|sin|su|sus|un|una|uno|y|ya|` +
	`corrija|deje|envíe|espera|hasta|inicie|llamadas|número|paso|ponga|puede|quite|responde|revise|registro|texto|vea|veces|vez|vuelva)\b`)

// The sentences of the Go code that the API's refusals can have, with where they stand.
func spanishSentences(t *testing.T) map[string]string {
	found := map[string]string{}
	for dir, skipped := range map[string]string{
		".": "requests_har.go", "../assumption": "", "../../../../internal/strictjson": "",
		"../../../../mockserver": "asserts.go asserts_time.go dataset.go journal.go recording.go op_validar.go", // no request to this API meets them
	} {
		files, err := filepath.Glob(dir + "/*.go")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || strings.Contains(skipped, filepath.Base(name)) {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, name, nil, 0)
			require.NoError(t, err)
			collect := func(all bool) func(ast.Node) bool {
				return func(n ast.Node) bool {
					text, is := literal(n)
					if is && strings.Contains(strings.TrimSpace(text), " ") && (all || spanishWord.MatchString(text)) {
						found[text] = fset.Position(n.Pos()).String()
					}
					return !is
				}
			}
			if !strings.HasSuffix(dir, "mockserver") {
				ast.Inspect(file, collect(false))
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if makesError(n) && dir != "../assumption" { // some of its errors are the program's, in English
					ast.Inspect(n, collect(true))
				}
				return true
			})
		}
	}
	return found
}

// literal returns the text of a string in Go code, of which %s is what is not known.
func literal(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(n.Value)
		return text, err == nil && n.Kind == token.STRING
	case *ast.Ident:
		return map[bool]string{true: strictjson.UnknownMember, false: "%s"}[n.Name == "UnknownMember"], false
	case *ast.BinaryExpr:
		left, leftIs := literal(n.X)
		right, rightIs := literal(n.Y)
		return left + right, n.Op == token.ADD && (leftIs || rightIs)
	}
	return "%s", false
}

// makesError reports whether the strings of a node are those of an error.
func makesError(n ast.Node) bool {
	of := ""
	switch n := n.(type) {
	case *ast.CallExpr:
		of = name(n.Fun)
	case *ast.CompositeLit:
		of = name(n.Type)
	case *ast.FuncDecl:
		of = n.Name.Name
	}
	return map[string]bool{"errors.New": true, "fmt.Errorf": true, "failed": true, "invalid": true, "notFound": true, "problem": true, "bad": true, "Spanish": true}[of]
}

func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return name(e.X) + "." + e.Sel.Name
	}
	return ""
}

// A refusal that is written in Go, and whatever the API answers to mistakes, has its English in english.txt, which has no other.
func TestRefusalsInEnglish(t *testing.T) {
	used := map[sentence]bool{}
	check := func(text, at string) {
		use(used, text)
		if english := inEnglish(text); english == text || spanishWord.MatchString(english) {
			t.Errorf("%s: english.txt has no %q: it gives %q", at, text, english)
		}
	}
	for text, at := range spanishSentences(t) {
		if regexp.MustCompile(`^mockserver: |^%s:%d: %w$|^use |MOCK_ADMIN_INTERNAL| $`).MatchString(text) {
			continue // cut off, or met below
		}
		check(regexp.MustCompile(`%[.\d]*[a-z]`).ReplaceAllStringFunc(text, func(verb string) string {
			return cmp.Or(map[string]string{"%d": "7", "%q": `"x"`}[verb], "x")
		}), at)
	}
	refused := map[string]bool{}
	r := start(t)
	for _, ask := range requestsOfPage(t, r) {
		for _, body := range mistaken(t, ask.body) {
			got := r.do(ask.method, ask.path, body)
			if got.status < 400 || refused[got.body] {
				continue
			}
			refused[got.body] = true
			var said problemAnswer
			require.NoError(t, json.Unmarshal([]byte(got.body), &said))
			check(said.Error, ask.method+" "+ask.path)
			check(said.Hint, ask.method+" "+ask.path)
		}
	}
	assert.Greater(t, len(refused), 500)
	for _, s := range sentences() {
		assert.True(t, used[s], "no refusal is %q", s.english)
	}
}

type problemAnswer struct{ Error, Hint string }

// English is only for who asks for it.
func TestEnglishIsAskedFor(t *testing.T) {
	r := start(t)
	for language, says := range map[string]string{"en": "it is not there any more; see GET /_mock/faults", "": "no hay ninguna falla", "es": "no hay ninguna falla", "en-US,en;q=0.9": "no hay ninguna falla"} {
		r.do("DELETE", "faults/x", "", "Accept-Language", language).isProblem(t, 404, codeNotFound, says)
	}
}

// use notes which sentences a text uses.
func use(used map[sentence]bool, text string) {
	for _, s := range sentences() {
		if parts := s.spanish.FindStringSubmatch(text); parts != nil {
			used[s] = true
			for _, part := range parts[1:] {
				use(used, part)
			}
			return
		}
	}
}

type ask struct{ method, path, body string }

// requestsOfPage are requests as the page sends them.
func requestsOfPage(t *testing.T, r remote) []ask {
	return []ask{
		{"POST", "faults", `{"name": "x", "match": {"op": "consultar", "ruc": "20131312955", "text": "x", "userAgent": "x", "nth": 1, "times": 1, "for": "1m"},
			"steps": [{"preset": "slow", "status": 503, "body": "x", "header": {"A": "x"}, "latency": "1s", "hold": true, "before": true}]}`},
		{"POST", "faults", `{"match": {"key": "x"}}`},
		{"PUT", "data", `{"contribuyentes": [{"ruc": "20131312955", "razonSocial": "x"}, {"ruc": "20131312963", "razonSocial": "x"}],
			"comprobantes": [{"rucEmisor": "20131312955", "tipoComprobante": "01", "serie": "F001", "numero": 1, "codigo": "0", "mensaje": "x", "luego": [{"codigo": "0", "tras": "1m", "consultas": 1}]}],
			"usuarios": [{"ruc": "20131312955", "usuario": "A", "clave": "x", "principal": true}], "tiposCambio": [{"fecha": "2026-11-20", "compra": 3.7, "venta": 3.8}],
			"keys": [{"key": "x", "quota": 1}], "withoutDefaults": false, "deleted": {"contribuyentes": ["20131312955"], "usuarios": [{"ruc": "20131312955", "usuario": "A"}], "tiposCambio": ["2026-11-20"], "defaultKey": false}}`},
		{"PUT", "tiposcambio/2026-11-20", `{"compra": 3.7, "venta": 3.8}`},
		{"PUT", "tiposcambio/2026-11-22", `{"compra": 3.7, "venta": 3.8}`},
		{"PUT", "tiposcambio/x", `{"compra": 3.7, "venta": 3.8}`},
		{"PUT", "contribuyentes/20131312955", `{"razonSocial": "x", "ruc": "20131312955"}`},
		{"PUT", "contribuyentes/x", `{"razonSocial": "x"}`},
		{"PUT", "comprobantes/20131312955/01/F001/1", `{"codigo": "0", "mensaje": "x", "serie": "F001", "luego": [{"codigo": "0", "tras": "1m"}]}`},
		{"PUT", "comprobantes/20131312955/01/F001/x", `{"codigo": "0"}`},
		{"PUT", "comprobantes/x/01/F001/1", `{"codigo": "0"}`},
		{"PUT", "comprobantes/20131312955/x/F001/1", `{"codigo": "0"}`},
		{"PUT", "sol/20131312955/A", `{"clave": "x", "principal": true}`},
		{"PUT", "sol/x/A", `{"clave": "x", "principal": true}`},
		{"POST", "keys", `{"key": "x", "quota": 1}`},
		{"PUT", "quotas/" + fingerprint(r.mock.APIKey), `{"limit": 1, "used": 1}`},
		{"PUT", "quotas", `{"limit": 1, "used": 1}`},
		{"PUT", "clock", `{"now": "2026-11-20T16:59:00-05:00", "frozen": false}`},
		{"POST", "clock/advance", `{"by": "1h"}`},
		{"PUT", "sunat", `{"down": false}`},
		{"POST", "reset", `{"parts": ["journal"]}`},
		{"POST", "session", `{"token": "x"}`},
		{"PUT", "assumptions", assumptionsBody(t)},
		{"DELETE", "faults/x", ""}, {"DELETE", "keys/x", ""}, {"DELETE", "contribuyentes/x", ""}, {"DELETE", "comprobantes/x/01/F/1", ""},
		{"DELETE", "sol/x/x", ""}, {"DELETE", "sol/x/x/block", ""}, {"DELETE", "tiposcambio/x", ""}, {"POST", "tiposcambio/x/restore", ""}, {"DELETE", "tiposcambio/2026-11-22", ""},
		{"GET", "tiposcambio?mes=x", ""}, {"GET", "contribuyentes?limit=x", ""}, {"GET", "comprobantes?limit=x", ""}, {"GET", "requests?op=x", ""},
		{"PATCH", "keys", ""}, {"PATCH", "contribuyentes/x", ""},
	}
}

func assumptionsBody(t *testing.T) string {
	all := map[string]string{}
	for _, p := range mockserver.OpenPoints() {
		all[p.Field] = "x"
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	return string(text)
}

// mistaken returns a JSON text with one mistake each.
func mistaken(t *testing.T, body string) []string {
	if body == "" {
		return []string{""}
	}
	texts := []string{body, "", "null", "[]", body[:len(body)/2], body + "x", "\xff\xfe" + body, "\xff", strings.Replace(body, `": `, `"; `, 1)}
	var whole any
	require.NoError(t, json.Unmarshal([]byte(body), &whole))
	change(whole, func(to any) { whole = to }, func() {
		text, err := json.Marshal(whole)
		require.NoError(t, err)
		texts = append(texts, string(text), strings.ReplaceAll(string(text), `"twice`, `"`))
	})
	return texts
}

// change sets each value inside of one to wrong ones, one at a time.
func change(value any, set func(any), changed func()) {
	for _, wrong := range []any{nil, "", "x", -2, 0, 1.5, 1e12, true, []any{}, map[string]any{}, []any{nil}, map[string]any{"x": 1}, "200", "2026-02-30", "-1s", "9999-01-01T00:00:00Z"} {
		set(wrong)
		changed()
	}
	switch value := value.(type) {
	case map[string]any:
		set(value)
		for name, item := range maps.Clone(value) {
			change(item, func(to any) { value[name] = to }, changed)
			value[name] = item
			for _, other := range []string{strings.ToUpper(name), "twice" + name} {
				value[other] = item
				changed()
				delete(value, other)
			}
		}
	case []any:
		set(value)
		for i, item := range value {
			change(item, func(to any) { value[i] = to }, changed)
			value[i] = item
		}
		set(append(value, value...))
		changed()
	}
	set(value)
}
