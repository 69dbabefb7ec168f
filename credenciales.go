package fiscope

import (
	"strings"
	"unicode"

	"github.com/fiscope/fiscope/internal/solguard"
)

// CredencialesSOL are those of a secondary user of the tax authority's portal, never of the principal
// user (docs/contrato.md, 4.3). They marshal without the clave.
type CredencialesSOL struct {
	RUC     string  `json:"rucSolicitante"` // RUC of the caller, 11 digits
	Usuario string  `json:"usuarioSol"`
	Clave   Secreto `json:"claveSol"`
}

func (c CredencialesSOL) check() error {
	if err := checkRUC("rucSolicitante", c.RUC); err != nil {
		return err
	}
	for _, credential := range []struct{ field, text string }{{"usuarioSol", c.Usuario}, {"claveSol", c.Clave.text()}} {
		if credential.text == "" {
			return invalid("%s is empty", credential.field)
		}
		if strings.ContainsFunc(credential.text, unicode.IsControl) {
			return invalid("%s holds control characters: often the line break of the file it was read from", credential.field)
		}
		if strings.TrimFunc(credential.text, invisible) != credential.text {
			return invalid("%s has blanks or invisible characters around it: trim what it was read from", credential.field)
		}
	}
	return nil
}

// invisible reports blanks, and characters of Unicode that are not seen at all, such as a byte order mark.
func invisible(r rune) bool {
	return unicode.IsSpace(r) || r > unicode.MaxASCII && unicode.Is(unicode.Cf, r)
}

// parts returns what tells a credential from every other. The case of a user does not.
func (c CredencialesSOL) parts() []string {
	return []string{c.RUC, solguard.User(c.Usuario), c.Clave.text()}
}
