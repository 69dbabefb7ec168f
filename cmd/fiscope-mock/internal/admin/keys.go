package admin

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fiscope/fiscope/mockserver"
)

// tenant returns whose request it is, or nil for the whole server: without the header.
func (a *api) tenant(r *http.Request) (*mockserver.Tenant, error) {
	key := r.Header.Get("X-API-KEY")
	if key == "" {
		return nil, nil
	}
	if _, ok := a.Mock.Quota(key); !ok {
		return nil, notFound("agréguela con PUT /_mock/data, o quite el encabezado para hablar de todo el servidor", "este servidor no conoce la clave de X-API-KEY")
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

// quota is where a key stands.
type quota struct {
	Key       string    `json:"key"` // its fingerprint
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
	for _, k := range a.Mock.Data().Keys {
		if tenant == nil || tenant.APIKey == k.Key {
			list = append(list, a.quotaOf(k.Key))
		}
	}
	return list, nil
}

func (a *api) putQuota(r *http.Request) (any, error) {
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
	tenant, err := a.tenant(r)
	if err != nil {
		return nil, err
	}
	key := a.Mock.OwnKey()
	if tenant != nil {
		key = tenant.APIKey
	}
	if _, ok := a.Mock.Quota(key); !ok {
		return nil, notFound("envíe X-API-KEY con una clave de este servidor, o agréguela con PUT /_mock/data", "la clave propia del servidor fue retirada")
	}
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

// keyNamed returns a key of the server by itself or, if there is none, by its fingerprint.
func (a *api) keyNamed(text string) (string, bool) {
	keys := a.Mock.Data().Keys
	i := slices.IndexFunc(keys, func(k mockserver.Key) bool { return k.Key == text })
	if i < 0 {
		i = slices.IndexFunc(keys, func(k mockserver.Key) bool { return fingerprint(k.Key) == text })
	}
	if i < 0 {
		return "", false
	}
	return keys[i].Key, true
}
