package admin

import (
	"context"
	"net/http"

	"github.com/fiscope/fiscope/mockserver"
)

// journalAfter has the changes of requests after a revision, in the order of the revisions.
type journalAfter struct {
	Requests []mockserver.Request `json:"requests"`
	Last     int64                `json:"last"`     // the since of the next poll
	Cleared  bool                 `json:"cleared"`  // earlier requests may be gone: start again with these
	Instance string               `json:"instance"` // as in a stream's hello
	Dropped  int                  `json:"dropped"`  // as in the journal
}

// pollRequests is a long poll: it answers when there is a change; after the timeout, with nothing.
func (a *api) pollRequests(r *http.Request) (any, error) {
	q, err := a.readQuery(r, query{timeout: pollDefault}, "since", "timeout")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), q.timeout)
	defer cancel()
	defer context.AfterFunc(a.Ending, cancel)()
	changes, rev, _ := a.Mock.Changes(ctx, q.since, q.filter) // no changes is not an error
	if a.Ending.Err() != nil {
		return nil, errEnding
	}
	answer := journalAfter{Last: rev, Instance: a.instance}
	var found []mockserver.Request
	for _, c := range changes {
		switch {
		case c.Request != nil:
			found = append(found, *c.Request)
		case c.Key == "" || q.filter.Key != "": // everything was removed
			found, answer.Cleared = nil, true
		default: // the next poll returns the rest
			return journalAfter{Requests: []mockserver.Request{}, Cleared: true, Instance: a.instance}, nil
		}
	}
	j := a.newest(q, found)
	answer.Requests, answer.Dropped = j.Requests, j.Dropped
	return answer, nil
}
