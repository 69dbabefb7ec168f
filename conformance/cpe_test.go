package conformance

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	aReceipt = `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123, "codigo": "0"}`
	aUser    = `{"ruc": "20131312955", "usuario": "ANA00001", "clave": "sEcReTo1", "principal": false}`
	another  = `{"ruc": "20131312955", "usuario": "EVA00001", "clave": "sEcReTo2"}`
	theBoss  = `{"ruc": "20131312955", "usuario": "JEFE0001", "clave": "sEcReTo3", "principal": true}`
)

func TestLoadCPE(t *testing.T) {
	for name, text := range map[string]string{
		"what is not of receipts": `{"contribuyentes": [{"ruc": "x"}], "tiposCambio": [], "keys": [], "deleted": {}, "withoutDefaults": true,
			"comprobantes": [` + aReceipt + `], "usuarios": [` + theBoss + `,` + aUser + `]}`,
		"a byte order mark": "\ufeff" + `{"comprobantes": [` + aReceipt + `], "usuarios": [` + aUser + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "cpe.json")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			got, err := LoadCPE(file)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(&CPE{
				[]Comprobante{{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 123, Codigo: "0"}},
				UsuarioSOL{RUC: "20131312955", Usuario: "ANA00001", Clave: "sEcReTo1"},
			}, got))
		})
	}
}

func TestLoadCPERefuses(t *testing.T) {
	both := func(receipts, users string) string {
		return `{"comprobantes": [` + receipts + `], "usuarios": [` + users + `]}`
	}
	receipt := func(of string) string { return both(aReceipt+`,{`+of+`}`, aUser) }
	for name, c := range map[string]struct{ text, says string }{
		"no JSON":           {`claveSol: sEcReTo1`, "this is not the format of fiscope-mock -data"},
		"another type":      {`{"usuarios": "sEcReTo1"}`, "this is not the format"},
		"two values":        {both(aReceipt, aUser) + "{}", "one JSON object"},
		"no users":          {both(aReceipt, ""), "0 secondary users"},
		"a principal alone": {both(aReceipt, theBoss), "0 secondary users"},
		"two users":         {both(aReceipt, aUser+","+another), "2 secondary users: leave one"},
		"no receipts":       {both("", aUser), "there are no comprobantes"},
		"no codigo":         {receipt(`"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123`), "comprobantes[1] needs"},
		"an unknown codigo": {receipt(`"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123, "codigo": "00"`), "comprobantes[1] needs"},
		"an unknown tipo":   {receipt(`"rucEmisor": "20100070970", "tipoComprobante": "1", "serie": "F001", "numero": 123, "codigo": "0"`), "comprobantes[1] needs"},
		"a RUC":             {receipt(`"rucEmisor": "2010007097", "tipoComprobante": "01", "serie": "F001", "numero": 123, "codigo": "0"`), "comprobantes[1] needs"},
		"no numero":         {receipt(`"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "codigo": "0"`), "comprobantes[1] needs"},
		"the user's RUC":    {both(aReceipt, `{"ruc": "sEcReTo1", "usuario": "ANA00001", "clave": "x"}`), "the user needs a ruc of 11 digits"},
		"no clave":          {both(aReceipt, `{"ruc": "20131312955", "usuario": "sEcReTo1"}`), "and a clave"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "cpe.json")
			require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
			_, err := LoadCPE(file)
			require.ErrorContains(t, err, c.says)
			assert.ErrorContains(t, err, file)
			assert.NotContains(t, err.Error(), "sEcReTo")
		})
	}
	_, err := LoadCPE(filepath.Join(t.TempDir(), "none.json"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Of many receipts those are validated that show something new: each costs a query.
func TestSample(t *testing.T) {
	many := CPE{}
	for range 100 {
		many.Comprobantes = append(many.Comprobantes, receipts...)
	}
	assert.Empty(t, cmp.Diff(receipts, many.sample()))
}
