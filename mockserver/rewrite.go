package mockserver

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/fiscope/fiscope"
)

// Rewrite is a change of an answer's own body or headers. What an answer does not have stays as it is: a
// rate has no RUC to change.
type Rewrite string

// The rewrites.
const (
	RewriteOtherRUC        Rewrite = "other-ruc"          // the record of another taxpayer
	RewriteOtherDate       Rewrite = "other-date"         // the rate of the day before
	RewriteNumbersAsText   Rewrite = "numbers-as-strings" // every number and boolean in quotes
	RewriteLatin1          Rewrite = "latin-1"            // ISO-8859-1 bytes inside the JSON strings
	RewriteTruncated       Rewrite = "truncated"          // half of the body, with the Content-Length of the half
	RewriteTrailing        Rewrite = "trailing-data"      // a second JSON value after the first
	RewriteGarbage         Rewrite = "garbage"            // bytes of no format
	RewriteGzipBomb        Rewrite = "gzip-bomb"          // 16 MiB of blanks in 16 KiB of gzip
	RewriteContradiction   Rewrite = "contradictory-cpe"  // a receipt that is Aceptado, and not valid
	RewriteEpochReset      Rewrite = "epoch-reset"        // X-RateLimit-Reset in seconds since 1970
	RewriteNoRateLimit     Rewrite = "no-rate-limit"      // without the three X-RateLimit headers
	RewriteStrangeQuota    Rewrite = "strange-quota"      // X-RateLimit headers that are no numbers and no date
	RewriteUncompressedLie Rewrite = "gzip-lie"           // Content-Encoding: gzip over a plain body
)

// rewrites change the body, and the header in place.
var rewrites = map[Rewrite]func(body []byte, h http.Header) []byte{
	RewriteOtherRUC:      func(body []byte, _ http.Header) []byte { return rucMember.ReplaceAllFunc(body, otherRUC) },
	RewriteOtherDate:     func(body []byte, _ http.Header) []byte { return fechaMember.ReplaceAllFunc(body, dayBefore) },
	RewriteNumbersAsText: func(body []byte, _ http.Header) []byte { return quoteLiterals(body) },
	RewriteLatin1:        func(body []byte, _ http.Header) []byte { return latin1(body) },
	RewriteTruncated:     func(body []byte, _ http.Header) []byte { return body[:len(body)/2] },
	RewriteTrailing:      func(body []byte, _ http.Header) []byte { return append(bytes.Clone(body), "{}\n"...) },
	RewriteGarbage: func([]byte, http.Header) []byte {
		return []byte("\x00\x9f\x8e\xff\xfe{\x01\x80\"ruc\":\xc3\x28\xa0\xa1\x1b[2J\x7f\xf0\x28\x8c\xbc")
	},
	RewriteGzipBomb: func(_ []byte, h http.Header) []byte {
		h.Set("Content-Encoding", "gzip")
		return gzipBomb()
	},
	RewriteUncompressedLie: func(body []byte, h http.Header) []byte {
		h.Set("Content-Encoding", "gzip")
		return body
	},
	RewriteContradiction: func(body []byte, _ http.Header) []byte {
		if !bytes.Contains(body, []byte(`"esValido"`)) {
			return body
		}
		return []byte(`{"codigo":"0","mensaje":"El comprobante existe y está aceptado.","estado":"Aceptado","esValido":false}` + "\n")
	},
	RewriteEpochReset: func(body []byte, h http.Header) []byte {
		if t, err := time.Parse(time.RFC3339, h.Get("X-RateLimit-Reset")); err == nil {
			h.Set("X-RateLimit-Reset", strconv.FormatInt(t.Unix(), 10))
		}
		return body
	},
	RewriteNoRateLimit: func(body []byte, h http.Header) []byte {
		for _, name := range rateLimitHeaders {
			h.Del(name)
		}
		return body
	},
	RewriteStrangeQuota: func(body []byte, h http.Header) []byte {
		for _, name := range rateLimitHeaders {
			if h.Get(name) != "" {
				h.Set(name, "muchas")
			}
		}
		return body
	},
}

func (r Rewrite) known() bool {
	_, ok := rewrites[r]
	return ok || r == ""
}

var (
	rucMember   = regexp.MustCompile(`"ruc":"[0-9]{11}"`)
	fechaMember = regexp.MustCompile(`"fecha":"[0-9-]{10}"`)
)

func otherRUC(member []byte) []byte {
	other := `"ruc":"20131312955"`
	if string(member) == other {
		other = `"ruc":"20100070970"`
	}
	return []byte(other)
}

func dayBefore(member []byte) []byte {
	fecha, err := fiscope.ParseFecha(string(member[len(`"fecha":"`) : len(member)-1]))
	if err != nil {
		return member
	}
	return []byte(`"fecha":"` + fecha.AddDays(-1).String() + `"`)
}

// quoteLiterals puts the numbers, true and false of a JSON text in quotes.
func quoteLiterals(body []byte) []byte {
	var out []byte
	text, escaped, literal := false, false, false
	for _, b := range body {
		bare := !text && (b == '-' || b == '+' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z')
		if bare != literal {
			out = append(out, '"')
			literal = bare
		}
		if b == '"' && !escaped {
			text = !text
		}
		escaped = text && b == '\\' && !escaped
		out = append(out, b)
	}
	return out
}

func latin1(body []byte) []byte {
	var out []byte
	for _, r := range string(body) {
		if r > 0xff {
			r = '?'
		}
		out = append(out, byte(r))
	}
	return out
}

const bombSize = 16 << 20

// gzipBomb is made once, and only when it is used.
var gzipBomb = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	blanks := bytes.Repeat([]byte(" "), 1<<20)
	for range bombSize / len(blanks) {
		_, _ = z.Write(blanks) // into memory: cannot fail
	}
	_ = z.Close()
	return b.Bytes()
})
