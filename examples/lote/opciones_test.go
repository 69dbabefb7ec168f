package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsGivenIsChecked(t *testing.T) {
	lejos := func(name string) string {
		return map[string]string{"FISCOPE_BASE_URL": "https://api.example.com", "FISCOPE_API_KEY": "clave"}[name]
	}
	sinTLS := func(name string) string {
		return map[string]string{"FISCOPE_BASE_URL": "http://fiscope.example", "FISCOPE_API_KEY": "clave"}[name]
	}
	propio := nuevoBanco(t, "20131312955\n").entrada
	for name, caso := range map[string]struct {
		env  func(string) string
		args []string
		dice string
	}{
		"a file without a service":         {sinEntorno, []string{propio}, "faltan FISCOPE_BASE_URL"},
		"invented RUCs on a real service":  {lejos, []string{"-n", "10"}, "solo para un mock"},
		"the sample on a real service":     {lejos, nil, "solo para un mock"},
		"a quota for a real service":       {lejos, []string{"-cuota", "5", propio}, "-cuota es del mock"},
		"plain http to elsewhere":          {sinTLS, []string{propio}, "https"},
		"two inputs":                       {lejos, []string{propio, "otra.csv"}, "una entrada por vez"},
		"the output over the input":        {lejos, []string{"-salida", propio, propio}, "no puede ser la entrada"},
		"nothing at a time":                {lejos, []string{"-paralelo", "0", propio}, "-paralelo va desde 1"},
		"a file that does not exist":       {lejos, []string{propio + "x"}, "no existe el archivo " + propio + "x"},
		"neither a file nor a service":     {sinEntorno, []string{propio + "x"}, "no existe el archivo"},
		"a folder":                         {sinEntorno, []string{t.TempDir()}, "no se puede leer"},
		"answers of no age":                {lejos, []string{"-vigencia", "0", propio}, "-vigencia va de 1"},
		"a number that is none":            {lejos, []string{"-n", "muchos"}, "vea lote -h"},
		"a column that does not exist":     {lejos, []string{"-columna", "RUC", propio}, "no hay columna «RUC»"},
		"a position that cannot be":        {lejos, []string{"-columna", "0", propio}, "desde 1"},
		"a flag that does not exist":       {lejos, []string{"-x"}, "-x"},
		"more invented RUCs than there be": {sinEntorno, []string{"-n", "1000001"}, "-n va de"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := correr(t.Context(), t, caso.env, caso.args...)
			require.ErrorContains(t, err, caso.dice)
			require.NotErrorIs(t, err, errIncompleto)
		})
	}
}

func TestInAPrivateNetworkPlainHTTPIsAllowed(t *testing.T) {
	o, err := leerOpciones([]string{"rucs.csv"}, func(name string) string {
		return map[string]string{"FISCOPE_BASE_URL": "http://fiscope.example", "FISCOPE_API_KEY": "clave", "FISCOPE_INSECURE_HTTP": "1"}[name]
	}, &bytes.Buffer{})
	require.NoError(t, err)
	s, err := o.conectar()
	require.NoError(t, err)
	s.cerrar()
}
