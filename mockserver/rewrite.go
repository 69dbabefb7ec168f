package mockserver

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fiscope/fiscope"
)

// rewriting changes an answer's body, and its header in place. It ignores parts that the answer does not have.
type rewriting struct {
	ops    []Operation // operations with something to change; nil for all
	limits bool        // only answers with the X-RateLimit headers
	change func(body []byte, h http.Header) []byte
}

func (r *rewriting) canTouch(op Operation, assume *Assumptions) bool {
	return (r.ops == nil || slices.Contains(r.ops, op)) && (!r.limits || assume.limits(op))
}

// ofBody returns a rewriting of the body.
func ofBody(change func([]byte) []byte, ops ...Operation) rewriting {
	return rewriting{ops: ops, change: func(body []byte, _ http.Header) []byte { return change(body) }}
}

// ofLimits returns a rewriting of the X-RateLimit headers.
func ofLimits(change func(http.Header)) rewriting {
	return rewriting{limits: true, change: func(body []byte, h http.Header) []byte {
		change(h)
		return body
	}}
}

var (
	otherRUC = ofBody(func(body []byte) []byte {
		return rucMember.ReplaceAllFunc(body, func(member []byte) []byte {
			if other := []byte(`"ruc":"20131312955"`); !bytes.Equal(member, other) {
				return other
			}
			return []byte(`"ruc":"20100070970"`)
		})
	}, OpConsultar, OpBuscar)
	otherDate     = ofBody(func(body []byte) []byte { return fechaMember.ReplaceAllFunc(body, dayBefore) }, OpTipoCambio)
	numbersAsText = ofBody(quoteLiterals, OpTipoCambio, OpValidar)
	contradiction = ofBody(func(body []byte) []byte {
		if !bytes.Contains(body, []byte(`"esValido"`)) {
			return body
		}
		return []byte(`{"codigo":"0","mensaje":"El comprobante existe y está aceptado.","estado":"Aceptado","esValido":false}` + "\n")
	}, OpValidar)
	latin1    = ofBody(inLatin1)
	truncated = ofBody(func(body []byte) []byte { return body[:len(body)/2] })
	trailing  = ofBody(func(body []byte) []byte { return append(bytes.Clone(body), "{}\n"...) })
	garbage   = ofBody(func([]byte) []byte {
		return []byte("\x00\x9f\x8e\xff\xfe{\x01\x80\"ruc\":\xc3\x28\xa0\xa1\x1b[2J\x7f\xf0\x28\x8c\xbc")
	})
	gzipBomb = rewriting{change: func(_ []byte, h http.Header) []byte {
		h.Set("Content-Encoding", "gzip")
		return bomb()
	}}
	gzipLie = rewriting{change: func(body []byte, h http.Header) []byte {
		h.Set("Content-Encoding", "gzip")
		return body
	}}
	epochReset = ofLimits(func(h http.Header) {
		if t, err := time.Parse(time.RFC3339, h.Get("X-RateLimit-Reset")); err == nil {
			h.Set("X-RateLimit-Reset", strconv.FormatInt(t.Unix(), 10))
		}
	})
	noRateLimit = ofLimits(func(h http.Header) {
		for _, name := range rateLimitHeaders {
			h.Del(name)
		}
	})
	strangeQuota = ofLimits(func(h http.Header) {
		for _, name := range rateLimitHeaders {
			if h.Get(name) != "" {
				h.Set(name, "muchas")
			}
		}
	})
)

var (
	rucMember   = regexp.MustCompile(`"ruc":"[0-9]{11}"`)
	fechaMember = regexp.MustCompile(`"fecha":"[0-9-]{10}"`)
)

func dayBefore(member []byte) []byte {
	fecha, err := fiscope.ParseFecha(string(member[len(`"fecha":"`) : len(member)-1]))
	if err != nil {
		return member
	}
	return []byte(`"fecha":"` + fecha.SumarDias(-1).String() + `"`)
}

// literals are the strings of a JSON text, and the other literals: numbers, true, false and null.
var literals = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[-+.0-9a-zA-Z]+`)

// quoteLiterals puts the numbers, true and false of a JSON text in quotes.
func quoteLiterals(body []byte) []byte {
	return literals.ReplaceAllFunc(body, func(literal []byte) []byte {
		if literal[0] == '"' {
			return literal
		}
		return []byte(`"` + string(literal) + `"`)
	})
}

func inLatin1(body []byte) []byte {
	var out []byte
	for _, r := range string(body) {
		if r > 0xff {
			r = '?'
		}
		out = append(out, byte(r))
	}
	return out
}

// bomb is made on first use.
var bomb = sync.OnceValue(func() []byte {
	const size = 16 << 20
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	blanks := bytes.Repeat([]byte(" "), 1<<20)
	for range size / len(blanks) {
		_, _ = z.Write(blanks) // in memory: cannot fail
	}
	_ = z.Close()
	return b.Bytes()
})
