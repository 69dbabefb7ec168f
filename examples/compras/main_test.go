package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/mockserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entorno is a cron job's environment.
type entorno map[string]string

func (e entorno) env(name string) string { return e[name] }

func entornoDe(srv *mockserver.Server) entorno {
	return entorno{
		"FISCOPE_BASE_URL": srv.URL, "FISCOPE_API_KEY": srv.APIKey,
		"FISCOPE_SOL_RUC": mockserver.RUCSolicitante, "FISCOPE_SOL_USUARIO": mockserver.UsuarioSOL, "FISCOPE_SOL_CLAVE": mockserver.ClaveSOL,
	}
}

func (e entorno) con(name, value string) entorno {
	e[name] = value
	return e
}

// archivo writes a file of purchases.
func archivo(t *testing.T, texto string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "compras.csv")
	require.NoError(t, os.WriteFile(name, []byte(texto), 0o600))
	return name
}

const dosAceptados = "rucEmisor,tipo,comprobante\n20100070970,01,F001-123\n20331898008,01,E001-42\n"

func TestTheSampleOnAMock(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), nil, entorno{}.env, &out)
	require.ErrorIs(t, err, errPorRevisar, out.String())
	assert.Equal(t, 1, codigoDeSalida(err))
	for _, shows := range []string{
		"respuestas inventadas", "Se pueden pagar (3)", "Aceptados con reparo (1)", "el emisor está ACTIVO, NO HABIDO",
		`"EL ÑANDÚ"`, "Repetidos (1)", "es el mismo comprobante de la línea 2", "Anulados (1)", "No existen (1)",
		"En proceso (1)", "Error (1)", "No se pudieron leer (4)", "     11  RUC «2010007097»: deben ser 11 dígitos",
		"Líneas: 13. Se pueden pagar: 3. Por revisar: 10.",
		"Consultas enviadas: 11.", // 8 receipts and 3 issuers: each once
	} {
		assert.Contains(t, out.String(), shows)
	}
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), ancho, line)
	}
}

func TestExitCodes(t *testing.T) {
	cases := []struct {
		name  string
		csv   string
		quota int
		fault mockserver.Step
		code  int
		shows string
	}{
		{"all can be paid", dosAceptados, 4, nil, 0, "Se pueden pagar: 2. Por revisar: 0."},
		{"one was cancelled", dosAceptados + "20100070970,01,F001-124\n", 5, nil, 1, "Anulados (1)"},
		{"one cannot be read", dosAceptados + "?\n", 4, nil, 1, "Por revisar: 1."},
		{"the authority does not respond once", dosAceptados, 9, mockserver.SUNATDown, 1, "Error (1)"},
		{"an answer is lost", dosAceptados, 9, mockserver.CloseBefore, 1, "la consulta pudo gastarse"},
		{"an HTML page instead of an answer", dosAceptados, 9, mockserver.HTML200, 1, "no es la del servicio"},
		{"the quota ends before the receipts", dosAceptados, 1, nil, 2, "Sin validar (1)"},
		{"the quota ends before the issuers", dosAceptados, 3, nil, 2, "emisor sin consultar (1)"},
		{"nothing can be read", "no;es;esto\n", 4, nil, 2, "No se pudieron leer (1)"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			srv := mockserver.New(t, mockserver.WithQuota(tc.quota))
			if tc.fault != nil {
				srv.Fault(mockserver.Match{Op: mockserver.OpValidar, Times: 1}, tc.fault)
			}
			var out bytes.Buffer
			err := run(t.Context(), []string{"-memoria", t.TempDir(), archivo(t, tc.csv)}, entornoDe(srv).env, &out)
			assert.Equal(t, tc.code, codigoDeSalida(err), "%v\n%s", err, out.String())
			assert.Contains(t, out.String(), tc.shows)
			assert.NotContains(t, out.String(), mockserver.ClaveSOL)
		})
	}
	assert.Equal(t, 0, codigoDeSalida(run(t.Context(), []string{"-h"}, entorno{}.env, new(bytes.Buffer))))
	assert.Equal(t, 0, codigoDeSalida(flag.ErrHelp))
}

func TestARefusedClaveIsNeverSentAgain(t *testing.T) {
	srv := mockserver.New(t)
	memoria, csv := t.TempDir(), archivo(t, dosAceptados+"20100070970,03,B001-4567\n")
	attempts := func() int {
		state, ok := srv.SOLState(mockserver.RUCSolicitante, mockserver.UsuarioSOL)
		require.True(t, ok)
		return state.Attempts
	}
	wrong := entornoDe(srv).con("FISCOPE_SOL_CLAVE", "no-es-la-clave")
	ejecutar := func(e entorno, flags ...string) error {
		var out bytes.Buffer
		err := run(t.Context(), append(flags, "-memoria", memoria, csv), e.env, &out)
		assert.NotContains(t, out.String(), "no-es-la-clave")
		return err
	}

	err := ejecutar(wrong)
	assert.Equal(t, 2, codigoDeSalida(err))
	assert.Contains(t, explicar(err), "rechazó el usuario o la clave SOL")
	assert.Equal(t, 1, attempts(), "three receipts, one attempt")

	err = ejecutar(wrong) // the next run of the cron job
	assert.Equal(t, 2, codigoDeSalida(err))
	assert.Contains(t, explicar(err), "ya fue rechazada")
	assert.Equal(t, 1, attempts())

	require.Error(t, ejecutar(wrong, "-olvidar-clave"))
	assert.Equal(t, 2, attempts(), "because its owner said so")

	require.NoError(t, ejecutar(entornoDe(srv)), "the right clave is another one")
	assert.Equal(t, 5, attempts())
}

func TestWhatCannotRun(t *testing.T) {
	srv := mockserver.New(t)
	csv := archivo(t, dosAceptados)
	cases := []struct {
		name string
		args []string
		env  entorno
		says string
	}{
		{"a file of yours and no service", []string{csv}, entorno{}, "falta FISCOPE_BASE_URL"},
		{"the sample and a service", nil, entornoDe(srv), "la muestra solo se valida contra el mock"},
		{"no SOL user", []string{csv}, entornoDe(srv).con("FISCOPE_SOL_CLAVE", ""), "faltan FISCOPE_SOL_RUC"},
		{"a wrong SOL RUC", []string{csv}, entornoDe(srv).con("FISCOPE_SOL_RUC", "123"), "FISCOPE_SOL_RUC no es un RUC"},
		{"nowhere to remember", []string{"-memoria", csv, csv}, entornoDe(srv), "no se envía ninguna"},
		{"no API key", []string{csv}, entornoDe(srv).con("FISCOPE_API_KEY", ""), "API key is empty"},
		{"a wrong API key", []string{csv}, entornoDe(srv).con("FISCOPE_API_KEY", "otra"), "revise FISCOPE_API_KEY"},
		{"plain http to another machine", []string{csv}, entornoDe(srv).con("FISCOPE_BASE_URL", "http://fiscal.invalid"), "https"},
		{"two files", []string{csv, csv}, entornoDe(srv), "un solo archivo"},
		{"no such file", []string{"no-existe.csv"}, entornoDe(srv), "no existe el archivo no-existe.csv"},
		{"no such file, and no service", []string{"no-existe.csv"}, entorno{}, "no existe el archivo no-existe.csv"},
		{"a folder", []string{t.TempDir()}, entorno{}, "no se puede leer"},
		{"a flag that there is not", []string{"-x", csv}, entornoDe(srv), "vea compras -h"},
		{"a clave where none belongs", []string{"-olvidar-clave=" + mockserver.ClaveSOL, csv}, entornoDe(srv), "vea compras -h"},
		{"a flag after the file", []string{csv, "-mock"}, entornoDe(srv), "después de las opciones"},
		{"an empty file", []string{archivo(t, "")}, entornoDe(srv), "no trae ningún comprobante"},
		{"only titles", []string{archivo(t, "ruc;tipo;comprobante\n")}, entornoDe(srv), "no trae ningún comprobante"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			err := run(t.Context(), append([]string{"-memoria", t.TempDir()}, tc.args...), tc.env.env, new(bytes.Buffer))
			require.Error(t, err)
			assert.Equal(t, 2, codigoDeSalida(err))
			assert.Contains(t, explicar(err), tc.says)
			assert.NotContains(t, explicar(err), mockserver.ClaveSOL)
		})
	}
	t.Run("an encrypted private network", func(t *testing.T) {
		a := &ajustes{}
		e := entornoDe(srv).con("FISCOPE_BASE_URL", "http://fiscal.invalid").con("FISCOPE_INSECURE_HTTP", "1")
		require.NoError(t, a.conServicio(e.env, t.TempDir(), false))
		a.cerrar()
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("terminated signal received"))
		err := run(ctx, []string{"-mock", csv}, entorno{}.env, new(bytes.Buffer))
		assert.Equal(t, 2, codigoDeSalida(err))
		assert.Contains(t, explicar(err), "interrumpió")
	})
}
