package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
)

// CPE is what the suite needs to validate receipts (docs/contract.md, 4.3).
type CPE struct {
	Comprobantes []Comprobante // at least one
	Usuario      UsuarioSOL
}

// Comprobante is a receipt and the codigo that its validation must return.
type Comprobante struct {
	RUCEmisor string `json:"rucEmisor"`
	Tipo      string `json:"tipoComprobante"`
	Serie     string `json:"serie"`
	Numero    int64  `json:"numero"`
	Codigo    string `json:"codigo"`
}

// UsuarioSOL is a secondary SOL user. It prints without its clave.
type UsuarioSOL struct {
	RUC       string `json:"ruc"`
	Usuario   string `json:"usuario"`
	Clave     string `json:"clave"`
	Principal bool   `json:"principal"`
}

// Format implements [fmt.Formatter]: whatever the verb, the clave is left out.
func (u UsuarioSOL) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "UsuarioSOL{%s}", u.RUC)
}

// LoadCPE reads receipts and a user from a file in the format of fiscope-mock -data. It ignores principal users, and
// members that are not about receipts. No error shows a value of the file.
func LoadCPE(name string) (*CPE, error) {
	text, err := os.ReadFile(name) //nolint:gosec // the caller's own file is what it is for
	if err != nil {
		return nil, err
	}
	var file struct {
		Comprobantes []Comprobante `json:"comprobantes"`
		Usuarios     []UsuarioSOL  `json:"usuarios"`
	}
	if json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &file) != nil { // its error may quote a clave
		return nil, fmt.Errorf("%s: this is not the format of fiscope-mock -data: one JSON object with comprobantes and usuarios", name)
	}
	users := slices.DeleteFunc(file.Usuarios, func(u UsuarioSOL) bool { return u.Principal })
	if len(users) != 1 {
		return nil, fmt.Errorf("%s: usuarios has %d secondary users: leave one, whose clave is sent; a principal user is never tried", name, len(users))
	}
	cpe := &CPE{file.Comprobantes, users[0]}
	if err := cpe.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return cpe, nil
}

// check returns why the receipts cannot be validated. It shows no value.
func (c *CPE) check() error {
	if len(c.Comprobantes) == 0 {
		return errors.New("there are no comprobantes: give one at least, with its codigo")
	}
	for i, one := range c.Comprobantes {
		if !formOfRUC.MatchString(one.RUCEmisor) || !slices.Contains(tipos, one.Tipo) || one.Serie == "" || one.Numero < 1 || resultados[one.Codigo] == "" {
			return fmt.Errorf("comprobantes[%d] needs a rucEmisor of 11 digits, a tipoComprobante of %q, a serie, a numero above 0, "+
				"and the codigo that is to come: 0, 2, 4, 98 or 99", i, tipos)
		}
	}
	if u := c.Usuario; u.Principal || !formOfRUC.MatchString(u.RUC) || u.Usuario == "" || u.Clave == "" {
		return errors.New("the user needs a ruc of 11 digits, a usuario and a clave, and may be no principal one")
	}
	return nil
}

// sample returns some of the receipts, with every codigo and type among them: each costs a query.
func (c *CPE) sample() (some []Comprobante) {
	seen := map[string]bool{}
	for _, one := range c.Comprobantes {
		if codigo, tipo := "codigo "+one.Codigo, "tipo "+one.Tipo; !seen[codigo] || !seen[tipo] {
			seen[codigo], seen[tipo] = true, true
			some = append(some, one)
		}
	}
	return some
}

// formOfRUC is the form of a RUC (docs/contract.md, 2.1).
var formOfRUC = regexp.MustCompile(`^[0-9]{11}$`)

// tipos are the types of receipt (docs/contract.md, 2.3).
var tipos = []string{"01", "03", "07", "08"}

// resultados are the response codes with their estado (docs/contract.md, 2.4).
var resultados = map[string]string{"0": "Aceptado", "2": "Anulado", "4": "En Proceso", "98": "No Existe", "99": "Error"}
