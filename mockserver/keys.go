package mockserver

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// DefaultAPIKey is the key a server accepts when no other is given. It is a sample, made to be read in
// logs and examples; it opens nothing.
const DefaultAPIKey = "clave-de-prueba"

var (
	errUnknownKey  = errors.New("the server does not know this key")
	errUnknownUser = errors.New("the server does not know this SOL user")
	errNegative    = errors.New("a number below 0")
)

// keyring holds the accepted API keys, each with its account.
type keyring struct {
	accounts sync.Map // string -> *account; read by every request, written hardly ever
}

func (s *Server) putKey(k Key) error {
	if err := k.check(); err != nil {
		return err
	}
	entry, ok := s.keys.accounts.Load(k.Key)
	if !ok {
		entry, _ = s.keys.accounts.LoadOrStore(k.Key, &account{id: fingerprint(k.Key)})
	}
	entry.(*account).limit.Store(int64(k.Quota))
	return nil
}

func (k *keyring) remove(key string) { k.accounts.Delete(key) }

func (k *keyring) account(key string) *account {
	if entry, ok := k.accounts.Load(key); ok {
		return entry.(*account)
	}
	return nil
}

func (k *keyring) accountList() []*account {
	var list []*account
	k.accounts.Range(func(_, entry any) bool {
		list = append(list, entry.(*account))
		return true
	})
	return list
}

// all returns the keys with their quotas, in the order of the keys.
func (k *keyring) all() []Key {
	var keys []Key
	k.accounts.Range(func(key, entry any) bool {
		keys = append(keys, Key{key.(string), int(entry.(*account).limit.Load())})
		return true
	})
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Key, b.Key) })
	return keys
}

// refusedKey is the answer to a missing or unknown key.
func (s *Server) refusedKey(r *http.Request) answer {
	if r.Header.Get("X-API-KEY") == "" {
		hint := ""
		if r.Header.Get("Authorization") != "" {
			hint = " (el encabezado Authorization no se lee)"
		}
		return refusal(s.assume.MissingKey.Status, s.assume.MissingKey.Code,
			"falta el encabezado X-API-KEY%s: envíe en él su clave de API, en cada llamada (contrato, sección 5)", hint)
	}
	return refusal(s.assume.InvalidKey.Status, s.assume.InvalidKey.Code,
		"la clave de API del encabezado X-API-KEY no es válida en este servidor: revise cuál le corresponde (contrato, sección 5)")
}
