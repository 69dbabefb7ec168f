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
	alike atomic.Bool // it has no limit of its own; see WithKeys
	seen  ring        // its part of the journal, which locks it
}

// keyring holds the accepted API keys, each with its account.
type keyring struct {
	accounts sync.Map // string -> *account; read by every request, written hardly ever
	journal  *journal
	own      atomic.Pointer[string] // the server's own key; see Server.OwnKey

	changing sync.Mutex
	searched atomic.Pointer[redact.Keys] // the keys, for what looks for them in a text
}

// put takes keys that were checked, if any. One that is there keeps what it has used. Of those that are the
// same, the last one wins, and no call sees another one.
func (r *keyring) put(ks ...Key) {
	quotas := make(map[string]int, len(ks))
	for _, k := range ks {
		quotas[k.Key] = k.Quota
	}
	for key, quota := range quotas {
		if a := r.account(key); a != nil {
			a.alike.Store(false)
			a.setLimit(quota)
			continue
		}
		a := &account{id: redact.Fingerprint(key), usage: usage{limit: quota}}
		r.journal.begin(&a.seen)
		r.accounts.Store(key, a)
	}
	r.search()
}

// ownAccount is that of the server's own key, or nil where that was taken away.
func (r *keyring) ownAccount() *account { return r.account(*r.own.Load()) }

// setLimit changes the quota of the server's own key and of the keys that have none of their own.
func (r *keyring) setLimit(limit int) {
	if own := r.ownAccount(); own != nil {
		own.setLimit(limit)
	}
	r.accounts.Range(func(_, entry any) bool {
		if a := entry.(*account); a.alike.Load() {
			a.setLimit(limit)
		}
		return true
	})
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

// all returns the keys with their quotas: the server's own key first, or the default one where that was taken
// away, and the others in order.
func (r *keyring) all() []Key {
	var keys []Key
	r.accounts.Range(func(key, entry any) bool {
		keys = append(keys, Key{key.(string), entry.(*account).daily()})
		return true
	})
	own := *r.own.Load()
	if r.account(own) == nil {
		own = DefaultAPIKey
	}
	slices.SortFunc(keys, func(a, b Key) int {
		switch {
		case a.Key == own:
			return -1
		case b.Key == own:
			return 1
		}
		return strings.Compare(a.Key, b.Key)
	})
	return keys
}

// resetUsage makes it as if no key had ever been used.
func (r *keyring) resetUsage() {
	r.accounts.Range(func(_, entry any) bool {
		entry.(*account).usage.reset()
		return true
	})
}
