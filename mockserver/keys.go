package mockserver

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
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
	Quota int    `json:"quota"` // 0 refuses every call, Unlimited none
}

// Format implements [fmt.Formatter]: it leaves the key out.
func (k Key) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "Key{quota=%d}", k.Quota) }

// LogValue implements [slog.LogValuer].
func (k Key) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(k)) }

func (k Key) id() string { return k.Key }

func (k Key) check() error {
	if k.Key == "" {
		return errors.New("la clave de API está vacía")
	}
	for i := range len(k.Key) {
		// Other bytes cannot travel in a header, or arrive trimmed.
		if k.Key[i] <= ' ' || k.Key[i] > '~' {
			return errors.New("la clave de API tiene un carácter que no es ASCII imprimible")
		}
	}
	if k.Quota < Unlimited {
		return fmt.Errorf("una cuota de %d llamadas: dé 0 o más, o -1, sin límite", k.Quota)
	}
	return nil
}

// account is what a server keeps of one API key.
type account struct {
	id string // the key's fingerprint
	usage
	seen ring // its part of the journal, which locks it
}

// keyring holds the accepted API keys, each with its account.
type keyring struct {
	own      string                      // Server.APIKey
	searched atomic.Pointer[redact.Keys] // the keys, for what looks for them in a text

	mu       sync.RWMutex
	accounts map[string]*account
}

// put takes keys that were checked, if any. One that is there keeps what it has used. Of those that are the
// same, the last one wins, and no call sees another one.
func (r *keyring) put(ks ...Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.accounts == nil {
		r.accounts = map[string]*account{}
	}
	quotas := make(map[string]int, len(ks))
	for _, k := range ks {
		quotas[k.Key] = k.Quota
	}
	for key, quota := range quotas {
		if a := r.accounts[key]; a != nil {
			a.setLimit(quota)
			continue
		}
		r.accounts[key] = &account{id: redact.Fingerprint(key), usage: usage{limit: quota}}
	}
	r.search()
}

func (r *keyring) remove(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.accounts, key)
	r.search()
}

// search notes which keys are to be looked for from now on. It is called with the lock held.
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

// all returns the keys with their quotas: the server's own key first, and the others in order.
func (r *keyring) all() []Key {
	var keys []Key
	r.mu.RLock()
	defer r.mu.RUnlock()
	for key, a := range r.accounts {
		keys = append(keys, Key{key, a.daily()})
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

// resetUsage makes it as if no key had ever been used.
func (r *keyring) resetUsage() {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, a := range r.accounts {
		a.usage.reset()
	}
}
