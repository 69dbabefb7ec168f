package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

//go:embed muestra.csv
var muestra []byte

const nombreMuestra = "muestra.csv"

// The sample has an accepted receipt of an issuer that is NO HABIDO, which the mock's data have not.
var comprobanteNoHabido = mockserver.Factura("20999990020", "F001", 7)

// ajustes is what a run works with.
type ajustes struct {
	archivo      string
	mock         *mockserver.Server // nil where the server is not ours
	client       *fiscope.Client
	credenciales fiscope.CredencialesSOL
}

func (a *ajustes) cerrar() {
	a.client.CloseIdleConnections()
	if a.mock != nil {
		_ = a.mock.Close()
	}
}

// leerAjustes decides whom to ask. A file of yours never meets the mock unless you say so: a cron job that
// lost its environment must fail, and not report what a mock invents.
func leerAjustes(args []string, env func(string) string, out io.Writer) (*ajustes, error) {
	flags := flag.NewFlagSet("compras", flag.ContinueOnError)
	flags.SetOutput(out)
	mock := flags.Bool("mock", false, "valida el archivo contra un mock de este proceso: respuestas inventadas")
	olvidar := flags.Bool("olvidar-clave", false, "envía otra vez una clave SOL que fue rechazada")
	carpeta := flags.String("memoria", carpetaPorDefecto(), "carpeta donde se recuerdan las claves rechazadas")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	a := &ajustes{archivo: flags.Arg(0)}
	baseURL := env("FISCOPE_BASE_URL")
	switch {
	case flags.NArg() > 1:
		return nil, errors.New("un solo archivo a la vez")
	case *mock, baseURL == "" && a.archivo == "":
		return a, a.conMock()
	case baseURL == "":
		return nil, errors.New("falta FISCOPE_BASE_URL (con -mock, las respuestas son inventadas)")
	case a.archivo == "":
		return nil, errors.New("falta el archivo: la muestra solo se valida contra el mock")
	}
	return a, a.conServicio(env, *carpeta, *olvidar)
}

func (a *ajustes) conMock() (err error) {
	if a.mock, err = mockserver.Start(mockserver.WithComprobantes(comprobanteNoHabido)); err != nil {
		return err
	}
	a.client = a.mock.Client()
	a.credenciales = fiscope.CredencialesSOL{
		RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(mockserver.ClaveSOL),
	}
	return nil
}

func (a *ajustes) conServicio(env func(string) string, carpeta string, olvidar bool) error {
	a.credenciales = fiscope.CredencialesSOL{
		RUC: env("FISCOPE_SOL_RUC"), Usuario: env("FISCOPE_SOL_USUARIO"), Clave: fiscope.NewSecreto(env("FISCOPE_SOL_CLAVE")),
	}
	if c := a.credenciales; c.RUC == "" || c.Usuario == "" || c.Clave.IsZero() {
		return errors.New("faltan FISCOPE_SOL_RUC, FISCOPE_SOL_USUARIO o FISCOPE_SOL_CLAVE, de un usuario SOL secundario")
	}
	if fiscope.ValidarRUC(a.credenciales.RUC) != nil {
		return errors.New("FISCOPE_SOL_RUC no es un RUC: son 11 dígitos, y el último los verifica")
	}
	memoria, err := abrirMemoria(carpeta)
	if err != nil {
		return fmt.Errorf("sin una carpeta donde recordar una clave rechazada no se envía ninguna: %w", err)
	}
	opts := []fiscope.Option{fiscope.WithStore(memoria)}
	if env("FISCOPE_INSECURE_HTTP") == "1" {
		opts = append(opts, fiscope.WithInsecureHTTP())
	}
	if a.client, err = fiscope.NewClient(env("FISCOPE_BASE_URL"), env("FISCOPE_API_KEY"), opts...); err != nil {
		return err
	}
	if olvidar {
		a.client.CPE.Olvidar(a.credenciales)
	}
	return nil
}

// The largest file that is read: a ledger of several hundred thousand lines.
const mayorArchivo = 32 << 20

func (a *ajustes) leerArchivo() ([]byte, error) {
	if a.archivo == "" {
		a.archivo = nombreMuestra
		return muestra, nil
	}
	f, err := os.Open(a.archivo)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a.archivo = filepath.Base(a.archivo)
	datos, err := io.ReadAll(io.LimitReader(f, mayorArchivo+1))
	if err == nil && len(datos) > mayorArchivo {
		err = fmt.Errorf("%s pasa de %d MiB", a.archivo, mayorArchivo>>20)
	}
	return datos, err
}
