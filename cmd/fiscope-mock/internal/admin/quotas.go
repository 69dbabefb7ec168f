package admin

import (
	"net/http"
	"time"

	"github.com/fiscope/fiscope/mockserver"
)

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
	for _, k := range a.Mock.Keys() {
		if tenant == nil || tenant.APIKey == k.Key {
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
		case tenant != nil:
			return tenant.APIKey, nil
		}
		if _, ok := a.Mock.Quota(a.Mock.OwnKey()); !ok {
			return "", notFound("envíe X-API-KEY con una clave de este servidor, o agréguela con POST /_mock/keys", "la clave propia del servidor fue retirada")
		}
		return a.Mock.OwnKey(), nil
	})
}

// putQuotaOf changes the quota of the key whose fingerprint stands in the path.
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
