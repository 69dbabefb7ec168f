package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/fiscope/fiscope"
)

// refusal is an error of the contract's shape. Its text is in Spanish, and holds nothing of the request.
type refusal struct {
	status     int
	code, text string
}

func (r refusal) Error() string { return r.code }

// refusals are the answers to the classes of [fiscope.ErrorClass]. Any other is UNAVAILABLE.
var refusals = map[string]refusal{
	"search_too_short":        {http.StatusBadRequest, "SEARCH_TOO_SHORT", ""},
	"not_found":               {http.StatusNotFound, "NOT_FOUND", ""},
	"not_yet_published":       {http.StatusNotFound, "NOT_FOUND", ""},
	"invalid_sol_credentials": {http.StatusUnauthorized, "INVALID_SOL_CREDENTIALS", ""},
	"sol_credentials_blocked": {http.StatusUnauthorized, "INVALID_SOL_CREDENTIALS", ""},
	"quota_exceeded":          {http.StatusTooManyRequests, "QUOTA_EXCEEDED", ""},
	"unauthorized":            {http.StatusBadGateway, "UPSTREAM_UNAUTHORIZED", ""},
	"malformed_response":      {http.StatusBadGateway, "UPSTREAM_MALFORMED", ""},
	"redirect":                {http.StatusBadGateway, "UPSTREAM_MALFORMED", ""},
	"invalid_request":         {http.StatusBadGateway, "UPSTREAM_REFUSED", ""}, // by the service
}

// invalid are the codes of an input that was not sent, by [fiscope.Error.Field]. Any other is INVALID_FIELD.
var invalid = map[string]string{
	"ruc": "INVALID_RUC", "rucEmisor": "INVALID_RUC", "rucSolicitante": "INVALID_RUC", "limit": "INVALID_LIMIT", "fecha": "INVALID_DATE",
}

// refusalOf returns the answer to an error of an operation, and how long to wait; 0 if unknown.
func refusalOf(err error) (r refusal, wait time.Duration) {
	if errors.As(err, &r) {
		return r, 0
	}
	e := new(fiscope.Error)
	_ = errors.As(err, &e)
	class := fiscope.ErrorClass(err)
	r, known := refusals[class]
	switch {
	case class == "invalid_request" && e.StatusCode == 0:
		r.status, r.code = http.StatusBadRequest, cmp.Or(invalid[e.Field], "INVALID_FIELD")
	case !known:
		r.status, r.code = http.StatusServiceUnavailable, "UNAVAILABLE"
		if e.Op == fiscope.OpValidarCPE && e.StatusCode == http.StatusInternalServerError { // docs/contract.md, 4.3
			r.status = e.StatusCode
		}
	}
	r.text = fiscope.TextoParaUsuario(err)
	return r, e.RetryAfter
}

// write writes the result of an operation, or its error, and the headers of the quota if it is known.
func (c *call) write(result any, err error) {
	h, client, now := c.w.Header(), c.gateway.client, time.Now
	if client != nil {
		now = client.Ahora
		if q := client.RateLimit(); q != nil && c.Op != "" {
			for name, n := range map[string]*int{"X-RateLimit-Limit": q.Limit, "X-RateLimit-Remaining": q.Remaining} {
				if n != nil {
					h[name] = []string{strconv.Itoa(*n)} // net/http would spell the name in its own way
				}
			}
			if !q.Reset.IsZero() {
				h["X-RateLimit-Reset"] = []string{q.Reset.UTC().Format(time.RFC3339)}
			}
		}
	}
	if err != nil {
		r, wait := refusalOf(err)
		if wait > 0 {
			h["Retry-After"] = []string{strconv.Itoa(int(math.Ceil(wait.Seconds())))}
		}
		c.Status, c.Code = r.status, r.code
		write(c.w, r.status, map[string]string{"error": r.text, "code": r.code})
		return
	}
	c.Status, c.Source = http.StatusOK, c.resp.Source
	h["Fiscope-Source"] = []string{string(c.Source)}
	if c.Source != fiscope.SourceService && !c.resp.AsOf.IsZero() {
		h["Age"] = []string{strconv.Itoa(int(max(0, now().Sub(c.resp.AsOf)).Seconds()))}
	}
	write(c.w, http.StatusOK, result)
}

// write writes v as JSON. It consists of texts, dates and numbers, which always marshal. "A & B" is not escaped.
func write(w http.ResponseWriter, status int, v any) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	h := w.Header()
	h["Content-Type"], h["Content-Length"] = []string{"application/json"}, []string{strconv.Itoa(body.Len())}
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the caller may have left
}
