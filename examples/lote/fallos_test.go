package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

func TestFailuresAreAskedAgain(t *testing.T) {
	rucs := inventados(6)
	for name, caso := range map[string]struct {
		falla mockserver.Effect
		dice  string
	}{
		"out of order": {mockserver.Status(503), "pendiente: el servicio no respondió"},
		"not JSON":     {mockserver.HTML200.And(mockserver.OK), "pendiente: el servicio respondió algo que no es del contrato"},
	} {
		t.Run(name, func(t *testing.T) {
			b := nuevoBanco(t, strings.Join(rucs, "\n"), mockserver.WithRegistro(padronInventado{}))
			falla := b.srv.Fault(mockserver.Match{RUC: rucs[2]}, caso.falla.Uncharged())
			out, err := b.correr(t.Context())
			require.ErrorIs(t, err, errIncompleto, out)
			assert.Contains(t, out, "Algunos RUC quedaron sin respuesta")
			assert.Equal(t, caso.dice, b.filas()[2]["consulta"])
			falla.Remove()
			out, err = b.correr(t.Context())
			require.NoError(t, err, out)
			b.srv.AssertSpent(t, mockserver.Filter{}, 6)
		})
	}
}

func TestAServiceThatIsDownIsLeftAlone(t *testing.T) {
	b := nuevoBanco(t, strings.Join(inventados(200), "\n"))
	b.srv.Fault(mockserver.Match{}, mockserver.HTML200)
	out, err := b.correr(t.Context())
	require.ErrorIs(t, err, errIncompleto)
	assert.Contains(t, out, "Se detuvo tras varios fallos seguidos (el servicio respondió algo que no es del contrato)")
	assert.Less(t, len(b.srv.Requests()), 40)
}

func TestARefusedKeyIsSaid(t *testing.T) {
	b := nuevoBanco(t, strings.Join(inventados(200), "\n"))
	_, err := correr(t.Context(), t, func(name string) string {
		return map[string]string{"FISCOPE_BASE_URL": b.srv.URL, "FISCOPE_API_KEY": "otra-clave"}[name]
	}, b.entrada)
	require.EqualError(t, err, "el servicio rechaza la clave de API: revise FISCOPE_API_KEY")
	b.srv.AssertCalls(t, mockserver.Filter{}, 1)
}
