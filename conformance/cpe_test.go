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
		"receipts and a user":  `{"comprobantes": [` + aReceipt + `], "usuarios": [` + aUser + `]}`,
		"a principal user too": `{"usuarios": [` + theBoss + `,` + aUser + `], "comprobantes": [` + aReceipt + `]}`,
		"what is not of receipts": `{"contribuyentes": [{"ruc": "x"}], "tiposCambio": [], "keys": [], "deleted": {}, "withoutDefaults": true,
			"comprobantes": [` + aReceipt + `], "usuarios": [` + aUser + `]}`,
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
	for name, c := range map[string]struct{ text, says string }{
		"no JSON":           {`claveSol: sEcReTo1`, "line 1: this is not the format of fiscope-mock -data"},
		"an unknown member": {"{\n\"usuarioz\": \"sEcReTo1\"}", "line 2"},
		"another type":      {`{"usuarios": "sEcReTo1"}`, "line 1"},
		"two values":        {both(aReceipt, aUser) + "{}", "one JSON object"},
		"no users":          {both(aReceipt, ""), "0 secondary users"},
		"a principal alone": {both(aReceipt, theBoss), "0 secondary users"},
		"two users":         {both(aReceipt, aUser+","+another), "2 secondary users: leave one"},
		"no receipts":       {both("", aUser), "there are no comprobantes"},
		"no codigo":         {both(`{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123}`, aUser), "comprobantes[0]: codigo is none of"},
		"an unknown codigo": {both(aReceipt+`,{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123, "codigo": "00"}`, aUser), "comprobantes[1]: codigo"},
		"an unknown tipo":   {both(`{"rucEmisor": "20100070970", "tipoComprobante": "1", "serie": "F001", "numero": 123, "codigo": "0"}`, aUser), "tipoComprobante is none of"},
		"a RUC":             {both(`{"rucEmisor": "2010007097", "tipoComprobante": "01", "serie": "F001", "numero": 123, "codigo": "0"}`, aUser), "rucEmisor is not 11 digits"},
		"no numero":         {both(`{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "codigo": "0"}`, aUser), "numero below 1"},
		"the user's RUC":    {both(aReceipt, `{"ruc": "sEcReTo1", "usuario": "ANA00001", "clave": "x"}`), "the user's ruc is not 11 digits"},
		"no clave":          {both(aReceipt, `{"ruc": "20131312955", "usuario": "sEcReTo1"}`), "clave is empty"},
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
