package admin

import (
	"maps"
	"net/http"
	"slices"

	"github.com/fiscope/fiscope/mockserver"
)

// shown returns a fault with fingerprints instead of keys.
func (a *api) shown(f mockserver.FaultStatus) mockserver.FaultStatus {
	if f.Match.Key != "" {
		f.Match.Key = fingerprint(f.Match.Key)
	}
	for _, text := range []*string{&f.Name, &f.Match.RUC, &f.Match.Text, &f.Match.UserAgent} {
		*text = a.control.WithoutKeys(*text)
	}
	f.Steps = slices.Clone(f.Steps)
	for i := range f.Steps {
		e := &f.Steps[i]
		if e.Body != nil {
			e.Body = new(a.control.WithoutKeys(*e.Body))
		}
		e.Header = maps.Clone(e.Header)
		for name, value := range e.Header {
			e.Header[name] = a.control.WithoutKeys(value)
		}
	}
	return f
}

func (a *api) getFaults(r *http.Request) (any, error) {
	tenant, err := a.tenant(r)
	if err != nil {
		return nil, err
	}
	list := []mockserver.FaultStatus{}
	for _, f := range a.control.Faults(tenant) {
		list = append(list, a.shown(f))
	}
	return list, nil
}

func (a *api) postFault(r *http.Request) (any, error) {
	var f mockserver.Fault
	if err := read(r, &f, `{"name": "…", "match": {"op": "consultar", "times": 1}, "steps": [{"preset": "html-200"}]}`); err != nil {
		return nil, err
	}
	tenant, err := a.tenant(r)
	if err != nil {
		return nil, err
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
