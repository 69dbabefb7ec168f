// Lote looks up every RUC of a CSV, and writes a CSV with the registry's data.
//
//	go run ./examples/lote                  # a sample, on a mock in this process
//	go run ./examples/lote proveedores.csv  # your file, with the RUC in the first column
//
// It uses the service of FISCOPE_BASE_URL and FISCOPE_API_KEY. It stores each answer in a file: after a kill, or when the
// quota is spent, run the same command again, and nothing is paid twice in a week.
package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

const dias = 7 // an older answer is asked again

const muestra = "RUC,Proveedor\n20100070970,Supermercado\n20999990020,El Ñandú\n20331898008,Electricidad\n20999999990,No existe\n"

func main() {
	ctx, parar := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	parar()
	if errors.As(err, new(*fiscope.Error)) { // not a file error
		fmt.Fprintln(os.Stderr, fiscope.TextoParaUsuario(err))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lote:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	client, entrada, err := conectar(args)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close(context.WithoutCancel(ctx)) }()
	texto, err := os.ReadFile(entrada)
	if err != nil {
		return err
	}
	filas, err := csv.NewReader(strings.NewReader(string(texto))).ReadAll()
	if err != nil {
		return err
	}
	var rucs []string
	for _, fila := range filas[min(1, len(filas)):] {
		rucs = append(rucs, fila[0])
	}

	respuestas := entrada + ".respuestas.jsonl"
	progreso, err := fiscope.NewResultsFile(respuestas, fiscope.ResultsMaxAge(dias)) // the batch writes each answer to it
	if err != nil {
		return err
	}
	var detenido *fiscope.LoteDetenidoError
	for linea, err := range client.Contribuyentes.ConsultarLote(ctx, slices.Values(rucs), fiscope.LotePolicy{Progress: progreso}) {
		if err != nil && !errors.As(err, &detenido) {
			fmt.Println(linea.Entrada, fiscope.TextoParaUsuario(err))
		}
	}
	// Write the answers so far, whatever stopped the batch: that costs no query.
	if err := errors.Join(progreso.Close(), escribir(entrada+".consultado.csv", rucs, respuestas, client.Hoy().SumarDias(-dias))); err != nil || detenido == nil {
		return err
	}
	return detenido
}

// escribir makes the output from the answers of this and earlier runs, from a day on.
func escribir(salida string, rucs []string, respuestas string, desde fiscope.Fecha) error {
	conocidos := map[string]fiscope.Contribuyente{}
	for r, err := range fiscope.ReadResults(respuestas) {
		if err != nil {
			return err
		}
		var c fiscope.Contribuyente
		if json.Unmarshal(r.Answer, &c) == nil && fiscope.FechaEnLima(r.AsOf).Compare(desde) >= 0 {
			conocidos[r.Input] = c
		}
	}
	filas := [][]string{{"ruc", "razon_social", "estado", "condicion", "activo_y_habido"}}
	for _, ruc := range rucs {
		c := conocidos[ruc]
		sabido := map[bool]string{true: fmt.Sprint(c.ActivoYHabido())}[c.RUC != ""] // "" if it was not looked up, or not found
		filas = append(filas, []string{ruc, c.RazonSocial, string(c.Estado), string(c.Condicion), sabido})
	}
	f, err := os.Create(salida)
	if err != nil {
		return err
	}
	fmt.Println("Salida:", salida)
	return errors.Join(csv.NewWriter(f).WriteAll(filas), f.Close())
}

// conectar returns the client, and the file to read.
func conectar(args []string) (*fiscope.Client, string, error) {
	if len(args) > 0 {
		client, err := fiscope.NewClientFromEnv(fiscope.WithStrictRUC()) // a mistyped RUC costs nothing
		return client, args[0], err
	}
	mock, err := mockserver.Start()
	if err != nil {
		return nil, "", err
	}
	return mock.Client(), "muestra.csv", os.WriteFile("muestra.csv", []byte(muestra), 0o600)
}
