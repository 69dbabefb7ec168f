package admin

import (
	"maps"
	"net/http"
	"time"

	"github.com/fiscope/fiscope/internal/strictjson"
	"github.com/fiscope/fiscope/mockserver"
)

// fault is a fault in JSON: its durations are text, such as "1.5s".
type fault struct {
	Name  string `json:"name,omitempty"`
	Match match  `json:"match,omitzero"`
	Steps []step `json:"steps"`
}

type match struct {
	mockserver.Match
	For strictjson.Duration `json:"for,omitempty"`
}

type step struct {
	mockserver.Effect
	Latency strictjson.Duration `json:"latency,omitempty"`
}

// faultStatus is a fault with its counts.
type faultStatus struct {
	fault
	Seen   int  `json:"seen"`
	Hits   int  `json:"hits"`
	Active bool `json:"active"`
}

// shown returns a fault with fingerprints instead of keys.
func (a *api) shown(f mockserver.FaultStatus) faultStatus {
	if f.Match.Key != "" {
		f.Match.Key = fingerprint(f.Match.Key)
	}
	for _, text := range []*string{&f.Name, &f.Match.RUC, &f.Match.Text, &f.Match.UserAgent} {
		*text = a.control.WithoutKeys(*text)
	}
	to := faultStatus{fault{Name: f.Name, Match: match{f.Match, strictjson.Duration(f.Match.For)}}, f.Seen, f.Hits, f.Active}
	for _, e := range f.Steps {
		if e.Body != nil {
			e.Body = new(a.control.WithoutKeys(*e.Body))
		}
		e.Header = maps.Clone(e.Header)
		for name, value := range e.Header {
			e.Header[name] = a.control.WithoutKeys(value)
		}
		to.Steps = append(to.Steps, step{e, strictjson.Duration(e.Latency)})
	}
	return to
}

func (a *api) getFaults(r *http.Request) (any, error) {
	tenant, err := a.tenant(r)
	if err != nil {
		return nil, err
	}
	list := []faultStatus{}
	for _, f := range a.control.Faults(tenant) {
		list = append(list, a.shown(f))
	}
	return list, nil
}

func (a *api) postFault(r *http.Request) (any, error) {
	var given fault
	if err := read(r, &given, `{"name": "…", "match": {"op": "consultar", "times": 1}, "steps": [{"preset": "html-200"}]}`); err != nil {
		return nil, err
	}
	tenant, err := a.tenant(r)
	if err != nil {
		return nil, err
	}
	f := mockserver.Fault{Name: given.Name, Match: given.Match.Match}
	f.Match.For = time.Duration(given.Match.For)
	for _, s := range given.Steps {
		s.Effect.Latency = time.Duration(s.Latency)
		f.Steps = append(f.Steps, s.Effect)
	}
	switch {
	case tenant != "":
		f.Match.Key = tenant
	case f.Match.Key != "":
		key, ok := a.keyNamed(f.Match.Key)
		if !ok {
			return nil, invalid("agréguela con POST /_mock/keys, o quite match.key", "este servidor no conoce la clave de API de match.key")
		}
		f.Match.Key = key
	}
	active, err := a.control.AddFault(f)
	if err != nil {
		return nil, err
	}
	return a.shown(active.Status()), nil
}

func (a *api) deleteFaults(r *http.Request) (any, error) {
	tenant, err := a.tenant(r)
	if err != nil {
		return nil, err
	}
	a.control.ClearFaults(tenant)
	return nil, nil
}

func (a *api) deleteFault(r *http.Request) (any, error) {
	f, err := a.fault(r)
	if err == nil {
		f.Remove()
	}
	return nil, err
}

func (a *api) releaseFault(r *http.Request) (any, error) {
	f, err := a.fault(r)
	if err == nil {
		f.Release()
	}
	return nil, err
}

func (a *api) fault(r *http.Request) (*mockserver.ActiveFault, error) {
	tenant, err := a.tenant(r)
	if err != nil {
		return nil, err
	}
	name := r.PathValue("name")
	for _, f := range a.control.Faults(tenant) { // by the name shown
		if a.shown(f).Name == name {
			name = f.Name
		}
	}
	if f := a.control.FindFault(tenant, name); f != nil {
		return f, nil
	}
	return nil, notFound("vea las que hay en GET /_mock/faults", "no hay ninguna falla con ese nombre")
}

func (a *api) getPresets(*http.Request) (any, error) { return mockserver.Presets(), nil }
