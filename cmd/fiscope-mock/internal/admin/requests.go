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

// journal is a part of the journal: dropped is how many older requests it has lost.
type journal struct {
	Requests []mockserver.Request `json:"requests"`
	Dropped  int                  `json:"dropped"`
}

// The bounds of a wait.
const (
	waitDefault = 10 * time.Second
	waitMost    = 5 * time.Minute
)

var parameters = []string{"op", "ruc", "path", "status", "code", "fault", "unmatched", "after", "limit", "count", "timeout"}

// query is what a request asks of the journal.
type query struct {
	filter       mockserver.Filter
	limit, count int
	timeout      time.Duration
}

func (a *api) readQuery(r *http.Request) (q query, err error) {
	values, err := a.parametersOf(r, parameters...)
	if err != nil {
		return q, err
	}
	tenant, err := a.tenant(r)
	if err != nil {
		return q, err
	}
	if tenant != nil {
		q.filter.Key = tenant.APIKey
	}
	q.filter.Op = mockserver.Operation(values.Get("op"))
	if q.filter.Op != "" && !slices.Contains(mockserver.Operations(), q.filter.Op) {
		return q, invalid(fmt.Sprintf("las operaciones son %v", mockserver.Operations()), "no existe la operación %.40q", a.Mock.WithoutKeys(values.Get("op")))
	}
	q.filter.RUC, q.filter.Path = values.Get("ruc"), values.Get("path")
	q.filter.Code, q.filter.Fault = values.Get("code"), values.Get("fault")
	after := 0
	q.count, q.timeout = 1, waitDefault
	for name, into := range map[string]*int{"status": &q.filter.Status, "after": &after, "limit": &q.limit, "count": &q.count} {
		if text := values.Get(name); text != "" {
			if *into, err = strconv.Atoi(text); err != nil || *into < 0 {
				return q, invalid("quítelo, o envíe un entero desde 0", "%s no es un número entero desde 0", name)
			}
		}
	}
	q.filter.After = int64(after)
	if text := values.Get("unmatched"); text != "" {
		if q.filter.Unmatched, err = strconv.ParseBool(text); err != nil {
			return q, invalid("envíe true o false", "unmatched no es true ni false")
		}
	}
	if text := values.Get("timeout"); text != "" {
		if q.timeout, err = time.ParseDuration(text); err != nil || q.timeout < 0 || q.timeout > waitMost {
			return q, invalid("envíe una como 10s, hasta 5m", "timeout no es una duración que se admita")
		}
	}
	return q, nil
}

// newest keeps the last limit requests, or all for 0, with their times in Lima.
func (a *api) newest(r *http.Request, found []mockserver.Request, limit int) journal {
	if limit > 0 && len(found) > limit {
		found = found[len(found)-limit:]
	}
	if found == nil {
		found = []mockserver.Request{}
	}
	for i := range found {
		found[i].Time = found[i].Time.In(fiscope.Lima)
	}
	return journal{found, a.Mock.Dropped(r.Header.Get("X-API-KEY"))}
}

func (a *api) getRequests(r *http.Request) (any, error) {
	q, err := a.readQuery(r)
	if err != nil {
		return nil, err
	}
	return a.newest(r, a.Mock.Requests(q.filter), q.limit), nil
}

// waitRequests is a long poll: it answers when there are enough, and else says how many there were.
func (a *api) waitRequests(r *http.Request) (any, error) {
	q, err := a.readQuery(r)
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
		return nil, invalid(fmt.Sprintf("inicie el servidor con -journal %d, o más", q.count), "el diario no tiene lugar para %d llamadas", q.count)
	case errors.Is(err, errEnding):
		return nil, errEnding
	case err != nil:
		return nil, &problem{
			http.StatusConflict, codeTimeout,
			fmt.Sprintf("llegaron %d de %d llamadas en %s", len(found), q.count, q.timeout),
			"vea las que llegaron en GET /_mock/requests",
		}
	}
	return a.newest(r, found, q.limit), nil
}

var errEnding = &problem{http.StatusServiceUnavailable, codeEnding, "el servidor se está cerrando", "vuelva a iniciarlo"}

func (a *api) deleteRequests(r *http.Request) (any, error) {
	tenant, err := a.tenant(r)
	switch {
	case err != nil:
		return nil, err
	case tenant != nil:
		return nil, tenant.Reset(mockserver.PartJournal)
	}
	return nil, a.Mock.Reset(mockserver.PartJournal)
}
