package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// journal is a part of the journal; dropped is how many older requests it has lost.
type journal struct {
	Requests []mockserver.Request `json:"requests"`
	Dropped  int                  `json:"dropped"`
}

// The limits of a wait.
const (
	waitDefault = 10 * time.Second
	waitMost    = 5 * time.Minute
)

// filters are the parameters that select requests.
var filters = []string{"op", "ruc", "text", "path", "status", "code", "fault", "unmatched", "after", "key"}

var operations = []mockserver.Operation{mockserver.OpConsultar, mockserver.OpBuscar, mockserver.OpValidar, mockserver.OpTipoCambio}

// query is a request's query of the journal.
type query struct {
	filter       mockserver.Filter
	limit, count int
	since        int64
	timeout      time.Duration
}

// readQuery parses the filters of a request and the parameters in more; q has the defaults.
func (a *api) readQuery(r *http.Request, q query, more ...string) (query, error) {
	values, err := a.parametersOf(r, slices.Concat(filters, more)...)
	if err != nil {
		return q, err
	}
	tenant, err := a.tenant(r)
	if err != nil {
		return q, err
	}
	if q.filter.Key, err = keyOf(tenant, values.Get("key")); err != nil {
		return q, err
	}
	q.filter.Op = mockserver.Operation(values.Get("op"))
	if q.filter.Op != "" && !slices.Contains(operations, q.filter.Op) {
		return q, invalid(fmt.Sprintf("las operaciones son %v", operations), "no existe la operación %.40q", a.control.WithoutKeys(values.Get("op")))
	}
	q.filter.RUC, q.filter.Text, q.filter.Path = values.Get("ruc"), values.Get("text"), values.Get("path")
	q.filter.Code, q.filter.Fault = values.Get("code"), values.Get("fault")
	after := 0
	for name, into := range map[string]*int{"status": &q.filter.Status, "after": &after, "limit": &q.limit, "count": &q.count} {
		if text := values.Get(name); text != "" {
			if *into, err = strconv.Atoi(text); err != nil || *into < 0 {
				return q, invalid("quítelo, o envíe un entero desde 0", "%s no es un número entero desde 0", name)
			}
		}
	}
	q.filter.After = int64(after)
	switch values.Get("unmatched") {
	case "true":
		q.filter.Unmatched = true
	case "", "false":
	default:
		return q, invalid("envíe true o false", "unmatched no es true ni false")
	}
	if text := values.Get("since"); text != "" {
		if q.since, err = revision("since", text); err != nil {
			return q, err
		}
	}
	if text := values.Get("timeout"); text != "" {
		if q.timeout, err = time.ParseDuration(text); err != nil || q.timeout < 0 || q.timeout > waitMost {
			return q, invalid("envíe una como 10s, hasta 5m", "timeout no es una duración que se admita")
		}
	}
	return q, nil
}

// keyOf returns the key to select: a tenant's, the one of a fingerprint, or "" for all.
func keyOf(tenant, id string) (string, error) {
	switch {
	case id != "" && !isFingerprint(id): // perhaps a key, which must not be in a URL
		return "", invalid("envíe la huella que muestran requests y quotas (k_ y 8 dígitos hexadecimales), o la clave de API en X-API-KEY", "key no es la huella de una clave de API")
	case tenant == "":
		return id, nil
	case id != "" && id != fingerprint(tenant):
		return "", invalid("quite uno de los dos", "key y X-API-KEY son de claves de API distintas")
	}
	return tenant, nil
}

// revision parses a revision. A number that is too large counts as above the newest.
func revision(name, text string) (int64, error) {
	rev, err := strconv.ParseInt(text, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || rev < 0 {
		return 0, invalid("quítelo, o envíe el rev de la última llamada recibida", "%s no es un número entero desde 0", name)
	}
	return rev, nil
}

// newest returns the last requests, as many as q says, with times in Lima.
func (a *api) newest(q query, found []mockserver.Request) journal {
	if q.limit > 0 && len(found) > q.limit {
		found = found[len(found)-q.limit:]
	}
	if found == nil {
		found = []mockserver.Request{}
	}
	for i := range found {
		found[i].Time = found[i].Time.In(fiscope.Lima)
	}
	return journal{found, a.control.Dropped(q.filter.Key)}
}

func (a *api) getRequests(r *http.Request) (any, error) {
	q, err := a.readQuery(r, query{count: 1, timeout: waitDefault}, "limit", "count", "timeout")
	if err != nil {
		return nil, err
	}
	return a.newest(q, a.Mock.Requests(q.filter)), nil
}

// waitRequests is a long poll: it answers when there are enough requests; after the timeout, with how many there were.
func (a *api) waitRequests(r *http.Request) (any, error) {
	q, err := a.readQuery(r, query{count: 1, timeout: waitDefault}, "limit", "count", "timeout")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), q.timeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(a.Ending, func() { stop(errEnding) })()
	found, err := a.Mock.WaitRequests(ctx, q.filter, q.count)
	switch {
	case errors.Is(err, mockserver.ErrJournalTooSmall):
		return nil, invalid(fmt.Sprintf("inicie el servidor con -journal %d, o más", q.count), "el historial no tiene espacio para %d llamadas", q.count)
	case errors.Is(err, errEnding):
		return nil, errEnding
	case err != nil:
		return nil, &problem{
			http.StatusConflict, codeTimeout,
			fmt.Sprintf("llegaron %d de %d llamadas en %s", len(found), q.count, q.timeout),
			"vea las que llegaron en GET /_mock/requests",
		}
	}
	return a.newest(q, found), nil
}

var errEnding = &problem{http.StatusServiceUnavailable, codeEnding, "el servidor se está cerrando", "vuelva a iniciarlo"}

func (a *api) deleteRequests(r *http.Request) (any, error) {
	tenant, err := a.tenant(r)
	switch {
	case err != nil:
		return nil, err
	case tenant != "":
		return nil, a.control.ResetKey(tenant, mockserver.PartJournal)
	}
	return nil, a.Mock.Reset(mockserver.PartJournal)
}
