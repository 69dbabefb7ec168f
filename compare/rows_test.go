package compare

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The rows of the table are the same in every run, and docs/comparison.md has them.
func TestRows(t *testing.T) {
	document := documented(t)
	for name, count := range map[string]func(*testing.T, contender) int{
		"12 wrong answers (200): silently zero or wrong": wrongAnswers,
		"8 redirects to another host: with a secret":     redirects,
		"1000 goroutines, a wrong clave: requests":       wrongClaves,
		"10 % of 5xx, 1000 lookups: fail":                outage,
	} {
		t.Run(name, func(t *testing.T) {
			var counts []string
			for _, c := range contenders {
				counts = append(counts, strconv.Itoa(count(t, c)))
			}
			row := "| " + name + " | " + strings.Join(counts, " | ") + " |"
			assert.True(t, strings.Contains(document, row+"\n"), "docs/comparison.md lacks this row:\n%s", row)
			if strings.Contains(name, "wrong answers") {
				assert.True(t, strings.Contains(document, "bar ["+strings.Join(counts, ", ")+"]\n"), "the picture of docs/comparison.md")
			}
		})
	}
}

// The document names the versions that were compared: those of go.mod.
func TestTheDocumentNamesTheVersions(t *testing.T) {
	goMod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	for _, c := range contenders[1 : len(contenders)-1] {
		required := regexp.MustCompile(`\t` + regexp.QuoteMeta(c.module) + ` v\S+`).FindString(string(goMod))
		assert.True(t, strings.Contains(documented(t), strings.TrimSpace(required)+"\n"), "docs/comparison.md lacks%s: measure again", required)
	}
}

func documented(t *testing.T) string {
	text, err := os.ReadFile(filepath.Join("..", "docs", "comparison.md"))
	require.NoError(t, err)
	return string(text)
}

// wrongAnswers counts answers of status 200 that are not what was asked for, and were taken for it.
func wrongAnswers(t *testing.T, c contender) (silent int) {
	cut := inJSON(http.StatusOK, c.api.found)
	cut.cut = true
	for _, wrong := range []answer{
		inJSON(http.StatusOK, "null"), inJSON(http.StatusOK, "{}"), inJSON(http.StatusOK, ""),
		inJSON(http.StatusOK, "["+c.api.found+"]"), page(http.StatusOK), inJSON(http.StatusOK, c.api.other),
		inJSON(http.StatusOK, c.api.bare), inJSON(http.StatusOK, c.api.twofold), cut,
		inJSON(http.StatusOK, c.api.found+c.api.other), inJSON(http.StatusOK, c.api.found+"<!-- 3 ms -->"),
		inJSON(http.StatusOK, c.api.missing),
	} {
		found, err := c.open(t, always(wrong)).lookup(t.Context(), c.api.id)
		if err == nil && found != c.api.object {
			silent++
		}
	}
	return silent
}

// redirects counts calls of which another host saw the key or the clave.
func redirects(t *testing.T, c contender) (seen int) {
	for _, status := range []int{301, 302, 307, 308, -301, -302, -307, -308} { // below zero those of a POST
		sees := false
		there := c.open(t, func(r *http.Request) answer {
			if r.URL.Host != "otra.example" {
				a := inJSON(max(status, -status), "")
				a.header.Set("Location", "https://otra.example"+r.URL.Path)
				return a
			}
			text := fmt.Sprint(r.Header)
			if r.Body != nil {
				body, err := io.ReadAll(r.Body)
				assert.NoError(t, err)
				text += string(body)
			}
			sees = sees || strings.Contains(text, key) || strings.Contains(text, clave)
			return inJSON(http.StatusOK, c.api.found)
		})
		if status > 0 {
			_, _ = there.lookup(t.Context(), c.api.id) // an error is as good as an answer here
		} else {
			_ = there.send(t.Context(), clave)
		}
		if sees {
			seen++
		}
	}
	return seen
}

// wrongClaves counts the requests of goroutines that send a wrong clave at once.
func wrongClaves(t *testing.T, c contender) int {
	var arrived atomic.Int64
	refuses := c.open(t, func(*http.Request) answer {
		arrived.Add(1)
		return inJSON(http.StatusUnauthorized, c.api.refused)
	})
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() { assert.Error(t, refuses.send(t.Context(), clave)) })
	}
	all.Wait()
	return int(arrived.Load())
}

// outage counts lookups that fail, one after the other, of a service a tenth of whose answers are 5xx: an error of its
// own, or a page of its gateway.
func outage(t *testing.T, c contender) (failed int) {
	random := rand.New(rand.NewPCG(18, 2))
	of := c.open(t, func(*http.Request) answer {
		if random.IntN(10) > 0 {
			return inJSON(http.StatusOK, c.api.found)
		}
		if status := []int{500, 502, 503, 504}[random.IntN(4)]; status > 500 {
			return page(status)
		}
		return inJSON(http.StatusInternalServerError, c.api.failed)
	})
	for range 1000 {
		if !c.finds(t.Context(), of) {
			failed++
		}
	}
	return failed
}
