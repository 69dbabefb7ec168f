package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
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
	datos        []byte
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

const uso = `Uso: compras [opciones] [archivo.csv]

Valida los comprobantes de un registro de compras antes de pagarlos: cada uno es
una consulta, y otra cada emisor de los aceptados. Sin archivo usa una muestra,
contra un mock en este proceso.

El archivo es un CSV con las columnas rucEmisor, tipo y comprobante (o serie y
numero) y, si las tiene, importe y proveedor; también el del SIRE. En UTF-8 o
Windows-1252, separado por punto y coma, coma, tabulador o barra vertical.

  -mock             valida el archivo contra un mock de este proceso: las
                    respuestas son inventadas
  -memoria CARPETA  donde se recuerdan las claves SOL rechazadas; si falta,
                    fiscope-compras en la carpeta de caché del usuario
  -olvidar-clave    envía otra vez una clave SOL que fue rechazada

El servicio se indica con variables: FISCOPE_BASE_URL, FISCOPE_API_KEY,
FISCOPE_SOL_RUC, FISCOPE_SOL_USUARIO y FISCOPE_SOL_CLAVE, de un usuario SOL
secundario. FISCOPE_INSECURE_HTTP=1 permite http en una red privada.

Termina con 0 si todo se puede pagar, con 1 si hay algo por revisar, y con 2 si
no se pudo validar hasta el final.
`

// leerAjustes reads the file and decides whom to ask. A file of yours never meets the mock unless you say so: a
// cron job that lost its environment must fail, and not report what a mock invents.
func leerAjustes(args []string, env func(string) string, out io.Writer) (*ajustes, error) {
	flags := flag.NewFlagSet("compras", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is said by main
	mock := flags.Bool("mock", false, "")
	olvidar := flags.Bool("olvidar-clave", false, "")
	carpeta := flags.String("memoria", carpetaPorDefecto(), "")
	baseURL := env("FISCOPE_BASE_URL")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, uso)
		return nil, err
	case err != nil:
		// Not the error: it shows the value, and after -olvidar-clave= somebody may have written the clave.
		return nil, errors.New("hay una opción que no existe o no sirve: vea compras -h")
	case flags.NArg() > 1:
		return nil, errors.New("un solo archivo a la vez, después de las opciones: vea compras -h")
	case flags.NArg() == 0 && baseURL != "" && !*mock:
		return nil, errors.New("falta el archivo: la muestra solo se valida contra el mock")
	}
	a := &ajustes{archivo: flags.Arg(0)}
	if err := a.leerArchivo(); err != nil {
		return nil, err
	}
	if *mock || flags.NArg() == 0 {
		return a, a.conMock()
	}
	if baseURL == "" {
		return nil, errors.New("falta FISCOPE_BASE_URL (con -mock, las respuestas son inventadas)")
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

func (a *ajustes) leerArchivo() error {
	if a.archivo == "" {
		a.archivo, a.datos = nombreMuestra, muestra
		return nil
	}
	datos, err := leerHasta(a.archivo, mayorArchivo)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no existe el archivo %s", a.archivo)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("no hay permiso para leer %s", a.archivo)
	case err != nil:
		return fmt.Errorf("no se puede leer %s: %w", a.archivo, err)
	case len(datos) > mayorArchivo:
		return fmt.Errorf("%s pasa de %d MiB", a.archivo, mayorArchivo>>20)
	}
	a.archivo, a.datos = filepath.Base(a.archivo), datos
	return nil
}

// leerHasta returns a file, and of a larger one a byte more than n.
func leerHasta(ruta string, n int64) ([]byte, error) {
	f, err := os.Open(ruta)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n+1))
}
