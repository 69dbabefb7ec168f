package admin

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/fiscope/fiscope/mockserver"
)

// tenant returns whose request it is, or nil for the whole server: without the header.
func (a *api) tenant(r *http.Request) (*mockserver.Tenant, error) {
	key := r.Header.Get("X-API-KEY")
	if key == "" {
		return nil, nil
	}
	if _, ok := a.Mock.Quota(key); !ok {
		return nil, notFound("agréguela con POST /_mock/keys, o quite el encabezado para hablar de todo el servidor", "este servidor no conoce la clave de X-API-KEY")
	}
	return a.Mock.Tenant(key), nil
}

// fingerprint is how the journal shows a key.
func fingerprint(key string) string {
	_, id, _ := strings.Cut(mockserver.Filter{Key: key}.String(), "key=")
	return id
}

// isFingerprint reports whether a text has the form of a key's fingerprint.
func isFingerprint(text string) bool { return fingerprintForm.MatchString(text) }

var fingerprintForm = regexp.MustCompile(`^k_[0-9a-f]{8}$`)

// apiKey is a key that the server accepts, by its fingerprint.
type apiKey struct {
	Key   string `json:"key"`
	Limit int    `json:"limit"` // -1 for none
	Own   bool   `json:"own"`   // the server's own
}

func (a *api) getKeys(*http.Request) (any, error) {
	list := []apiKey{}
	for _, k := range a.Mock.Keys() {
		list = append(list, apiKey{fingerprint(k.Key), k.Quota, k.Key == a.Mock.OwnKey()})
	}
	return list, nil
}

// postKey adds a key, or changes the quota of one that there is.
func (a *api) postKey(r *http.Request) (any, error) {
	const shape = `{"key": "…", "quota": 100}; sin quota, una clave nueva recibe la del servidor, y -1 es sin límite`
	var to struct {
		Key   string `json:"key"`
		Quota *int   `json:"quota"`
	}
	if err := readSecret(r, &to, shape); err != nil {
		return nil, err
	}
	if to.Quota == nil {
		limit := a.Mock.Assumptions().Quota
		if q, known := a.Mock.Quota(to.Key); known {
			limit = q.Limit
		}
		to.Quota = &limit
	}
	return nil, a.Mock.PutKey(to.Key, *to.Quota)
}

func (a *api) deleteKey(r *http.Request) (any, error) {
	key, err := a.keyOfPath(r)
	if err != nil {
		return nil, err
	}
	return nil, a.Mock.DeleteKey(key)
}

// keyOfPath is the key whose fingerprint stands in a path. A key has no place in a URL.
func (a *api) keyOfPath(r *http.Request) (string, error) {
	for _, k := range a.Mock.Keys() {
		if fingerprint(k.Key) == r.PathValue("fingerprint") {
			return k.Key, nil
		}
	}
	return "", notFound("vea las que hay en GET /_mock/keys", "ninguna clave de este servidor tiene esa huella")
}

// keyNamed returns a key of the server by itself or, if there is none, by its fingerprint.
func (a *api) keyNamed(text string) (string, bool) {
	keys := a.Mock.Keys()
	i := slices.IndexFunc(keys, func(k mockserver.Key) bool { return k.Key == text })
	if i < 0 {
		i = slices.IndexFunc(keys, func(k mockserver.Key) bool { return fingerprint(k.Key) == text })
	}
	if i < 0 {
		return "", false
	}
	return keys[i].Key, true
}
