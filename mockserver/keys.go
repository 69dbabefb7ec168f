package mockserver

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// DefaultAPIKey is the key a server accepts when no other is given. It is a sample, made to be read in
// logs and examples; it opens nothing.
const DefaultAPIKey = "clave-de-prueba"

var errUnknownKey = cannotTake("the server does not know this key", "el servidor no conoce esa clave")

// Key is an API key with its daily quota: 0 refuses every call, [Unlimited] none. It prints without the
// key.
type Key struct {
	Key   string `json:"key"`
	Quota int    `json:"quota"`
}

// Format implements [fmt.Formatter]: whatever the verb, the key is left out.
func (k Key) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "Key{quota=%d}", k.Quota) }

// LogValue implements [slog.LogValuer].
func (k Key) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(k)) }

func (k Key) check() error {
	if k.Key == "" {
		return cannotTake("the API key is empty", "la clave de API está vacía")
	}
	for i := range len(k.Key) {
		// Other bytes cannot travel in a header, or arrive trimmed.
		if k.Key[i] <= ' ' || k.Key[i] > '~' {
			return cannotTake("the API key has a character that is not printable ASCII", "la clave de API tiene un carácter que no es ASCII imprimible")
		}
	}
	if k.Quota < Unlimited {
		return cannotTake("a quota of %d calls: give 0 or more, or Unlimited", "una cuota de %d llamadas: dé 0 o más, o -1, sin límite", k.Quota)
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
	accounts sync.Map // string -> *account; read by every request, written hardly ever

	changing sync.Mutex
	searched atomic.Pointer[redact.Keys] // the keys, for what looks for them in a text
}

// put takes keys that were checked, if any. One that is there keeps what it has used.
func (r *keyring) put(ks ...Key) {
	for _, k := range ks {
		if a := r.account(k.Key); a != nil {
			a.setLimit(k.Quota)
			continue
		}
		r.accounts.Store(k.Key, &account{id: redact.Fingerprint(k.Key), usage: usage{limit: k.Quota}})
	}
	r.search()
}

func (r *keyring) remove(key string) {
	r.accounts.Delete(key)
	r.search()
}

// search notes which keys are to be looked for from now on.
func (r *keyring) search() {
	r.changing.Lock()
	defer r.changing.Unlock()
	var texts []string
	r.accounts.Range(func(key, _ any) bool {
		texts = append(texts, key.(string))
		return true
	})
	keys := redact.NewKeys(texts...)
	r.searched.Store(&keys)
}

// account returns a key's account, or nil.
func (r *keyring) account(key string) *account {
	if entry, ok := r.accounts.Load(key); ok {
		return entry.(*account)
	}
	return nil
}

// named returns the account of a key, or of the key with a fingerprint, or nil.
func (r *keyring) named(text string) *account {
	found := r.account(text)
	if found != nil || !redact.IsFingerprint(text) {
		return found
	}
	r.accounts.Range(func(_, entry any) bool {
		if a := entry.(*account); a.id == text {
			found = a
		}
		return found == nil
	})
	return found
}

// all returns the keys with their quotas, in the order of the keys.
func (r *keyring) all() []Key {
	var keys []Key
	r.accounts.Range(func(key, entry any) bool {
		keys = append(keys, Key{key.(string), entry.(*account).daily()})
		return true
	})
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Key, b.Key) })
	return keys
}

// resetUsage makes it as if no key had ever been used.
func (r *keyring) resetUsage() {
	r.accounts.Range(func(_, entry any) bool {
		entry.(*account).usage.reset()
		return true
	})
}
