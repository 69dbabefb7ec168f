package mockserver_test

import (
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsNotTakenIsToldInBothLanguages(t *testing.T) {
	srv, err := mockserver.Start(mockserver.WithoutSocket())
	require.NoError(t, err)
	defer srv.Close()
	_, step := srv.AddFault(mockserver.Fault{Steps: []mockserver.Effect{{}, {Status: 1000}}})
	for name, c := range map[string]struct {
		err              error
		english, spanish string
	}{
		"a part of it":  {step, "step 2: status 1000: want 200 to 599", "paso 2: status 1000: debe ser de 200 a 599"},
		"a record":      {srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "2"}), "RUCEmisor is not 11 digits", "comprobante 2---0: rucEmisor no tiene 11 dígitos"},
		"another's":     {srv.PutTipoCambio("ayer", "1", "2"), "ayer", `la fecha "ayer" no es un día que exista, como YYYY-MM-DD`},
		"a clave":       {srv.PutUsuarioSOL(mockserver.SOL{RUC: "20131312955", Usuario: "U"}), "the clave is empty", "la clave está vacía"},
		"an API key":    {srv.PutKey("a b", 1), "printable ASCII", "la clave de API tiene un carácter que no es ASCII imprimible"},
		"what there is": {srv.Reset("todo"), `there is no part "todo"`, `no existe la parte "todo": las partes son [faults clock data locks quotas journal]`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.ErrorContains(t, c.err, c.english)
			var told interface{ Spanish() string }
			require.ErrorAs(t, c.err, &told)
			assert.Contains(t, told.Spanish(), c.spanish)
		})
	}
}
