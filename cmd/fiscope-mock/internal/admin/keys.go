package admin

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fiscope/fiscope/mockserver"
)

// tenant returns the key that a request is about, "" for the whole server if there is no header.
func (a *api) tenant(r *http.Request) (key string, err error) {
	key = r.Header.Get("X-API-KEY")
	if _, ok := a.Mock.Quota(key); key != "" && !ok {
		return "", notFound("agréguela con POST /_mock/keys, o quite el encabezado para hablar de todo el servidor", "este servidor no conoce la clave de API de X-API-KEY")
	}
	return key, nil
}

// fingerprint returns a key's fingerprint in the journal.
func fingerprint(key string) string {
	_, id, _ := strings.Cut(fmt.Sprint(mockserver.Filter{Key: key}), "key=")
	return id
}

// isFingerprint reports whether a text has the form of a fingerprint.
func isFingerprint(text string) bool { return fingerprintForm.MatchString(text) }

var fingerprintForm = regexp.MustCompile(`^k_[0-9a-f]{8}$`)

// apiKey is a key of the server, as a fingerprint.
type apiKey struct {
	Key   string `json:"key"`
	Limit int    `json:"limit"` // -1 for none
	Own   bool   `json:"own"`   // the server's own key
}

func (a *api) getKeys(*http.Request) (any, error) {
	list := []apiKey{}
	for _, k := range a.control.Keys() {
		list = append(list, apiKey{fingerprint(k.Key), k.Quota, k.Key == a.Mock.APIKey})
	}
	return list, nil
}

// postKey adds a key, or changes the quota of an existing one.
func (a *api) postKey(r *http.Request) (any, error) {
	const shape = `{"key": "…", "quota": 100}; sin quota, una clave de API nueva recibe la del servidor, y -1 es sin límite`
	var to struct {
		Key   string `json:"key"`
		Quota *int   `json:"quota"`
	}
	if err := readSecret(r, &to, shape); err != nil {
		return nil, err
	}
	if to.Quota == nil {
		limit := a.control.Assumptions().Quota
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

// keyOfPath returns the key whose fingerprint is in the path. URLs must not contain keys.
func (a *api) keyOfPath(r *http.Request) (string, error) {
	for _, k := range a.control.Keys() {
		if fingerprint(k.Key) == r.PathValue("fingerprint") {
			return k.Key, nil
		}
	}
	return "", notFound("vea las que hay en GET /_mock/keys", "ninguna clave de API de este servidor tiene esa huella")
}

// keyNamed finds a key of the server by the key or its fingerprint.
func (a *api) keyNamed(text string) (string, bool) {
	keys := a.control.Keys()
	i := slices.IndexFunc(keys, func(k mockserver.Key) bool { return k.Key == text })
	if i < 0 {
		i = slices.IndexFunc(keys, func(k mockserver.Key) bool { return fingerprint(k.Key) == text })
	}
	if i < 0 {
		return "", false
	}
	return keys[i].Key, true
}

// quota is the state of a key's quota.
type quota struct {
	Key       string    `json:"key"` // a fingerprint
	Limit     int       `json:"limit"`
	Used      int       `json:"used"`
	Remaining int       `json:"remaining"`
	Reset     time.Time `json:"reset"`
	Spent     int       `json:"spent"`
}

func (a *api) quotaOf(key string) quota {
	q, _ := a.Mock.Quota(key)
	return quota{fingerprint(key), q.Limit, q.Used, q.Remaining, q.Reset, q.Spent}
}

func (a *api) getQuotas(r *http.Request) (any, error) {
	tenant, err := a.tenant(r)
	if err != nil {
		return nil, err
	}
	list := []quota{}
	for _, k := range a.control.Keys() {
		if tenant == "" || tenant == k.Key {
			list = append(list, a.quotaOf(k.Key))
		}
	}
	return list, nil
}

// putQuota changes the quota of the key in X-API-KEY or, without it, of the server's own.
func (a *api) putQuota(r *http.Request) (any, error) {
	return a.changeQuota(r, func() (string, error) {
		tenant, err := a.tenant(r)
		switch {
		case err != nil:
			return "", err
		case tenant != "":
			return tenant, nil
		}
		if _, ok := a.Mock.Quota(a.Mock.APIKey); !ok {
			return "", notFound("envíe X-API-KEY con una clave de API de este servidor, o agréguela con POST /_mock/keys", "la clave de API propia del servidor fue retirada")
		}
		return a.Mock.APIKey, nil
	})
}

// putQuotaOf changes the quota of the key whose fingerprint is in the path.
func (a *api) putQuotaOf(r *http.Request) (any, error) {
	return a.changeQuota(r, func() (string, error) { return a.keyOfPath(r) })
}

func (a *api) changeQuota(r *http.Request, whose func() (string, error)) (any, error) {
	const shape = `{"limit": 100, "used": 99}, uno o ambos; -1 es sin límite`
	var to struct {
		Limit *int `json:"limit"`
		Used  *int `json:"used"`
	}
	if err := read(r, &to, shape); err != nil {
		return nil, err
	}
	switch {
	case to.Limit == nil && to.Used == nil:
		return nil, invalid("envíe "+shape, "no dice ninguna cuota")
	case to.Limit != nil && *to.Limit < mockserver.Unlimited:
		return nil, invalid("envíe "+shape, "limit es menor que -1, que es sin límite")
	case to.Used != nil && *to.Used < 0:
		return nil, invalid("envíe "+shape, "used es menor que 0")
	}
	key, err := whose()
	if err != nil {
		return nil, err
	}
	a.changing.Lock()
	defer a.changing.Unlock()
	if to.Limit != nil {
		err = a.Mock.PutKey(key, *to.Limit)
	}
	if err == nil && to.Used != nil {
		err = a.Mock.SetQuotaUsed(key, *to.Used)
	}
	if err != nil {
		return nil, err
	}
	return a.quotaOf(key), nil
}
