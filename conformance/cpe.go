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

// CPE is what the suite needs to validate receipts (docs/contrato.md, 4.3).
type CPE struct {
	Comprobantes []Comprobante // one at least
	Usuario      UsuarioSOL
}

// Comprobante is a receipt and the codigo that its validation must return.
type Comprobante struct {
	RUCEmisor string `json:"rucEmisor"`
	Tipo      string `json:"tipoComprobante"`
	Serie     string `json:"serie"`
	Numero    int64  `json:"numero"`
	Codigo    string `json:"codigo"`
	Mensaje   string `json:"mensaje"` // of the mock: nothing is asked of it
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

// LoadCPE reads receipts and a user from a file in the format of fiscope-mock -data. Principal users are passed
// over, and so are the members of that format which are not about receipts. No error shows a value of the file.
func LoadCPE(name string) (*CPE, error) {
	text, err := os.ReadFile(name) //nolint:gosec // the caller's own file is what it is for
	if err != nil {
		return nil, err
	}
	cpe, err := readCPE(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return cpe, nil
}

func readCPE(text []byte) (*CPE, error) {
	var file struct {
		Comprobantes []Comprobante `json:"comprobantes"`
		Usuarios     []UsuarioSOL  `json:"usuarios"`

		Contribuyentes  json.RawMessage `json:"contribuyentes"`
		TiposCambio     json.RawMessage `json:"tiposCambio"`
		Keys            json.RawMessage `json:"keys"`
		Deleted         json.RawMessage `json:"deleted"`
		WithoutDefaults json.RawMessage `json:"withoutDefaults"`
	}
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil || d.More() {
		// The texts of encoding/json quote what they read, which may be a clave.
		line := 1 + bytes.Count(text[:min(d.InputOffset(), int64(len(text)))], []byte("\n"))
		return nil, fmt.Errorf("line %d: this is not the format of fiscope-mock -data: one JSON object with comprobantes and usuarios", line)
	}
	users := slices.DeleteFunc(file.Usuarios, func(u UsuarioSOL) bool { return u.Principal })
	if len(users) != 1 {
		return nil, fmt.Errorf("usuarios has %d secondary users: leave one, whose clave is sent; a principal user is never tried", len(users))
	}
	cpe := &CPE{file.Comprobantes, users[0]}
	return cpe, cpe.check()
}

// check returns what the receipts cannot be validated with, and shows no value.
func (c *CPE) check() error {
	if len(c.Comprobantes) == 0 {
		return errors.New("there are no comprobantes: give one at least, with its codigo")
	}
	for i, one := range c.Comprobantes {
		switch {
		case !formOfRUC.MatchString(one.RUCEmisor):
			return fmt.Errorf("comprobantes[%d]: rucEmisor is not 11 digits", i)
		case !slices.Contains(tipos, one.Tipo):
			return fmt.Errorf("comprobantes[%d]: tipoComprobante is none of %q", i, tipos)
		case one.Serie == "" || one.Numero < 1:
			return fmt.Errorf("comprobantes[%d]: serie is empty, or numero below 1", i)
		case estadoOf(one.Codigo) == "":
			return fmt.Errorf("comprobantes[%d]: codigo is none of 0, 2, 4, 98 and 99: say what its validation returns", i)
		}
	}
	u := c.Usuario
	switch {
	case u.Principal:
		return errors.New("the user is a principal one: give a secondary user")
	case !formOfRUC.MatchString(u.RUC):
		return errors.New("the user's ruc is not 11 digits")
	case u.Usuario == "" || u.Clave == "":
		return errors.New("the user's usuario or clave is empty")
	}
	return nil
}

// sample is a part of the receipts that has every codigo and every type that there are: each costs a query.
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

// formOfRUC is that of docs/contrato.md, 2.1.
var formOfRUC = regexp.MustCompile(`^[0-9]{11}$`)

// tipos are the types of receipt (docs/contrato.md, 2.3).
var tipos = []string{"01", "03", "07", "08"}

// resultados are the response codes with their estado (docs/contrato.md, 2.4).
var resultados = []struct{ codigo, estado string }{
	{"0", "Aceptado"}, {"2", "Anulado"}, {"4", "En Proceso"}, {"98", "No Existe"}, {"99", "Error"},
}

// estadoOf is the estado of a response code; "" for a code that the contract does not have.
func estadoOf(codigo string) string {
	for _, r := range resultados {
		if r.codigo == codigo {
			return r.estado
		}
	}
	return ""
}
