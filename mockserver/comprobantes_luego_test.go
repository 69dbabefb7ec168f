package mockserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pending is a fixture with the receipt F001-900, which is pending until it changes.
func pending(luego string) string {
	return `{"comprobantes": [{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 900, "codigo": "4", "luego": [` + luego + `]}]}`
}

// A receipt changes by itself: a time after the first question, or after so many answers.
func TestAReceiptThatChangesByItself(t *testing.T) {
	for name, c := range map[string]struct {
		luego string
		after []time.Duration // between the questions
		want  string          // the codes
	}{
		"by the clock":     {`{"codigo": "0", "tras": "2m"}`, []time.Duration{0, time.Minute, 59 * time.Second, time.Second, time.Hour}, "4 4 4 0 0"},
		"by the answers":   {`{"codigo": "0", "consultas": 2}`, []time.Duration{0, 0, 0, 0}, "4 4 0 0"},
		"several times":    {`{"codigo": "99", "consultas": 1}, {"codigo": "0", "tras": "1m"}, {"codigo": "2", "consultas": 3}`, []time.Duration{0, 0, time.Minute, 0}, "4 99 0 2"},
		"nothing of it":    {`{"codigo": "0", "tras": "2m"}`, []time.Duration{time.Hour, 0}, "4 4"},
		"a clock set back": {`{"codigo": "0", "tras": "2m"}`, []time.Duration{0, -time.Hour, 2 * time.Hour}, "4 4 0"},
	} {
		t.Run(name, func(t *testing.T) {
			srv, api := start(t, mockserver.WithData(readData(t, pending(c.luego))), mockserver.WithFrozenClock())
			ask := func() string { return fmt.Sprint(api.validar(cpe(t, "numero", "900")).object(t)["codigo"]) }
			var got []string
			for _, after := range c.after {
				require.NoError(t, srv.Advance(after))
				got = append(got, ask())
			}
			assert.Equal(t, c.want, strings.Join(got, " "))
			require.NoError(t, srv.PutComprobante(srv.Control().Comprobantes("20100070970")[5]), "as it was put")
			assert.Equal(t, "4", ask(), "put again, it begins anew")
			require.NoError(t, srv.Reset(mockserver.PartData))
			assert.Equal(t, "4", ask())
		})
	}
}

func TestOnlyAnswersCountAsQuestions(t *testing.T) {
	srv, api := start(t, mockserver.WithData(readData(t, pending(`{"codigo": "0", "consultas": 1, "mensaje": "Ya está"}`))))
	api.validar(cpe(t, "numero", "900", "claveSol", `"mala"`))
	srv.SetSUNATDown(true)
	api.validar(cpe(t, "numero", "900"))
	srv.SetSUNATDown(false)
	assert.Contains(t, api.validar(cpe(t, "numero", "900")).body, `"codigo":"4"`)
	last := api.validar(cpe(t, "numero", "900")).body
	assert.Equal(t, `{"codigo":"0","mensaje":"Ya está","estado":"Aceptado","esValido":true}`+"\n", last)
}

func TestLuegoThatCannotBe(t *testing.T) {
	for luego, says := range map[string]string{
		`{"codigo": "0"}`: "dé tras, una duración como 2m, o consultas",
		`{"codigo": "0", "tras": "2m", "consultas": 1}`: "y no ambos",
		`{"codigo": "0", "tras": "-2m"}`:                "dé tras",
		`{"codigo": "1", "tras": "2m"}`:                 "luego, cambio 1: codigo no es 0",
		`{"codigo": "0", "tras": 2}`:                    `"tras" es un número: se espera una duración`,
		`{"codigo": "0", "Tras": "2m"}`:                 `no existe el miembro "Tras": se escribe "tras"`,
	} {
		_, err := mockserver.Control{}.ReadData(strings.NewReader(pending(luego)), "datos.json")
		assert.ErrorContains(t, err, "datos.json:1: ", luego)
		assert.ErrorContains(t, err, says, luego)
	}
}
