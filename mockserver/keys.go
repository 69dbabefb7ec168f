package mockserver

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
)

// DefaultAPIKey is the key a server accepts when no other is given. It is a sample, made to be read in
// logs and examples; it opens nothing.
const DefaultAPIKey = "clave-de-prueba"

// keyring holds the accepted API keys, each with its account.
type keyring struct {
	accounts sync.Map // string -> *account; read by every request, written hardly ever
}

func (s *Server) putKey(key string, quota int) error {
	if key == "" {
		return errors.New("the API key is empty")
	}
	for i := range len(key) {
		// Other bytes cannot travel in a header, or arrive trimmed.
		if key[i] <= ' ' || key[i] > '~' {
			return errors.New("the API key has a character that is not printable ASCII")
		}
	}
	if quota < Unlimited {
		return fmt.Errorf("a quota of %d calls: give 0 or more, or Unlimited", quota)
	}
	entry, _ := s.keys.accounts.LoadOrStore(key, new(account))
	entry.(*account).limit.Store(int64(quota))
	return nil
}

// account returns whose request it is, or the refusal for a missing or unknown key.
func (s *Server) account(r *http.Request) (*account, answer) {
	key := r.Header.Get("X-API-KEY")
	if key == "" {
		hint := ""
		if r.Header.Get("Authorization") != "" {
			hint = " (el encabezado Authorization no se lee)"
		}
		return nil, refusal(s.assume.MissingKey.Status, s.assume.MissingKey.Code,
			"falta el encabezado X-API-KEY%s: envíe en él su clave de API, en cada llamada (contrato, sección 5)", hint)
	}
	if entry, ok := s.keys.accounts.Load(key); ok {
		return entry.(*account), answer{}
	}
	return nil, refusal(s.assume.InvalidKey.Status, s.assume.InvalidKey.Code,
		"la clave de API del encabezado X-API-KEY no es válida en este servidor: revise cuál le corresponde (contrato, sección 5)")
}
