package mockserver

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

var errUnknownKey = errors.New("el servidor no conoce esa clave de API")

// Key is an API key with its daily quota. It prints without the key.
type Key struct {
	Key   string `json:"key"`
	Quota int    `json:"quota"` // 0 refuses every call, Unlimited never refuses
}

// Format implements [fmt.Formatter]: it omits the key.
func (k Key) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "Key{quota=%d}", k.Quota) }

// LogValue implements [slog.LogValuer].
func (k Key) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(k)) }

func (k Key) id() string { return k.Key }

func (k Key) check() error {
	if k.Key == "" {
		return errors.New("la clave de API está vacía")
	}
	for i := range len(k.Key) {
		// Other bytes are invalid in a header, or are trimmed.
		if k.Key[i] <= ' ' || k.Key[i] > '~' {
			return errors.New("la clave de API tiene un carácter que no es ASCII imprimible")
		}
	}
	if k.Quota < Unlimited {
		return fmt.Errorf("una cuota de %d llamadas: dé 0 o más, o -1, sin límite", k.Quota)
	}
	return nil
}

// account is a server's state of one API key.
type account struct {
	id string // the key's fingerprint
	usage
	seen ring // its part of the journal, which locks it
}

// keyring holds the accepted API keys, each with its account.
type keyring struct {
	own      string                      // Server.APIKey
	searched atomic.Pointer[redact.Keys] // the keys to search for in texts

	mu       sync.RWMutex
	accounts map[string]*account
}

// put adds valid keys in one step. An existing key keeps its usage. Of duplicates, the last one wins.
func (r *keyring) put(ks ...Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	quotas := make(map[string]int, len(ks))
	for _, k := range ks {
		quotas[k.Key] = k.Quota
	}
	for key, quota := range quotas {
		if r.accounts[key] == nil {
			r.accounts[key] = &account{id: redact.Fingerprint(key)}
		}
		r.accounts[key].limit.Store(int64(quota))
	}
	r.search()
}

func (r *keyring) remove(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.accounts, key)
	r.search()
}

// search sets the keys to search for in texts. The lock is held.
func (r *keyring) search() {
	keys := redact.NewKeys(slices.Collect(maps.Keys(r.accounts))...)
	r.searched.Store(&keys)
}

// account returns a key's account, or nil.
func (r *keyring) account(key string) *account {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.accounts[key]
}

// named returns the account of a key, or of the key with a fingerprint, or nil.
func (r *keyring) named(text string) *account {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if a := r.accounts[text]; a != nil {
		return a
	}
	for _, a := range r.accounts {
		if a.id == text {
			return a
		}
	}
	return nil
}

// all returns the keys with their quotas: the server's own key first, then the others, sorted.
func (r *keyring) all() []Key {
	var keys []Key
	r.mu.RLock()
	defer r.mu.RUnlock()
	for key, a := range r.accounts {
		keys = append(keys, Key{key, int(a.limit.Load())})
	}
	slices.SortFunc(keys, func(a, b Key) int {
		switch r.own {
		case a.Key:
			return -1
		case b.Key:
			return 1
		}
		return strings.Compare(a.Key, b.Key)
	})
	return keys
}

// refusedKey returns the answer to a missing or unknown key.
func refusedKey(r *http.Request, assume *Assumptions) answer {
	if r.Header.Get("X-API-KEY") == "" {
		hint := ""
		if r.Header.Get("Authorization") != "" {
			hint = " (el encabezado Authorization no se lee)"
		}
		return assume.MissingKey.refusal(
			"falta el encabezado X-API-KEY%s: envíe en él su clave de API, en cada llamada (docs/contract.md, 5)", hint)
	}
	return assume.InvalidKey.refusal(
		"la clave de API del encabezado X-API-KEY no es válida en este servidor: revise cuál le corresponde (docs/contract.md, 5)")
}
