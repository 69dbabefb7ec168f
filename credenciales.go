package fiscope

import (
	"strings"
	"unicode"

	"github.com/fiscope/fiscope/internal/solguard"
)

// CredencialesSOL are the credentials of a secondary user of the tax authority's portal, never of the principal user
// (docs/contract.md, 4.3). They marshal without the clave.
type CredencialesSOL struct {
	RUC     string  `json:"rucSolicitante"` // RUC of the caller, 11 digits
	Usuario string  `json:"usuarioSol"`
	Clave   Secreto `json:"claveSol"`
}

func (c CredencialesSOL) check() error {
	if c == (CredencialesSOL{}) {
		return invalid("rucSolicitante", "is missing, and so are usuarioSol and claveSol: give them to the call, or to the client with WithSOL")
	}
	if err := checkRUC("rucSolicitante", c.RUC); err != nil {
		return err
	}
	for _, credential := range []struct{ field, text string }{{"usuarioSol", c.Usuario}, {"claveSol", c.Clave.text()}} {
		switch {
		case credential.text == "":
			return invalid(credential.field, "is empty")
		case strings.ContainsFunc(credential.text, unicode.IsControl):
			return invalid(credential.field, "holds control characters: often the line break of the file it was read from")
		case strings.TrimFunc(credential.text, invisible) != credential.text:
			return invalid(credential.field, "has blanks or invisible characters around it: trim what it was read from")
		}
	}
	return nil
}

// invisible reports blanks, and invisible characters such as a byte order mark.
func invisible(r rune) bool {
	return unicode.IsSpace(r) || r > unicode.MaxASCII && unicode.Is(unicode.Cf, r)
}

// parts returns what identifies a credential. The case of a user is ignored.
func (c CredencialesSOL) parts() []string {
	return []string{c.RUC, solguard.User(c.Usuario), c.Clave.text()}
}
