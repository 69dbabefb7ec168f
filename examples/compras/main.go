// Compras validates receipts before they are paid. It is made for cron: its exit code is the result.
//
//	go run ./examples/compras              # a sample, on a mock in this process
//	go run ./examples/compras compras.txt  # your receipts, one per line, as 20100070970-01-F001-123
//
// It uses the service of FISCOPE_BASE_URL and FISCOPE_API_KEY, with the secondary SOL user of FISCOPE_SOL_RUC,
// FISCOPE_SOL_USUARIO and FISCOPE_SOL_CLAVE. It exits with 0 if all receipts can be paid, 1 if some must be reviewed, and 2
// if it could not finish: do not pay receipts that were not validated.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/filestore"
	"github.com/fiscope/fiscope/mockserver"
)

const muestra = "20100070970-01-F001-123 20331898008-01-E001-42 20100070970-01-F001-124 20100070970-01-F001-125 20100070970-01-F001-126"

func main() {
	ctx, parar := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	porRevisar, err := run(ctx, os.Args[1:])
	parar()
	if errors.As(err, new(*fiscope.Error)) { // not a file error
		fmt.Fprintln(os.Stderr, fiscope.TextoParaUsuario(err))
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "compras: no terminó:", err)
		os.Exit(2)
	case porRevisar > 0:
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (porRevisar int, err error) {
	client, texto, err := conectar(args)
	if err != nil {
		return 0, err
	}
	defer func() { _ = client.Close(context.WithoutCancel(ctx)) }()
	var comprobantes []fiscope.Comprobante
	for _, palabra := range strings.Fields(texto) {
		c, err := fiscope.ParseComprobante(palabra)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", palabra, err)
		}
		comprobantes = append(comprobantes, c)
	}
	// The zero CredencialesSOL are the client's. A wrong clave stops the batch after one attempt.
	for linea, err := range client.CPE.ValidarLote(ctx, slices.Values(comprobantes), fiscope.CredencialesSOL{}, fiscope.LotePolicy{}) {
		if detenido := (*fiscope.LoteDetenidoError)(nil); errors.As(err, &detenido) {
			return porRevisar, detenido
		}
		reparo := juzgar(ctx, client, linea.Entrada, linea.Resultado, err)
		if reparo != "" {
			porRevisar++
		}
		fmt.Printf("%s  %s\n", linea.Entrada, map[bool]string{true: "se puede pagar", false: reparo}[reparo == ""])
	}
	fmt.Printf("Por revisar: %d de %d. Consultas enviadas: %d.\n", porRevisar, len(comprobantes), client.Stats().Sent)
	return porRevisar, nil
}

// juzgar returns why a receipt must not be paid, or "" if it is accepted, from an active and habido issuer.
func juzgar(ctx context.Context, client *fiscope.Client, c fiscope.Comprobante, v *fiscope.ResultadoCPE, err error) string {
	switch {
	case err != nil:
		return fiscope.TextoParaUsuario(err)
	case !v.EsValido:
		return v.Mensaje
	}
	emisor, err := client.Contribuyentes.Consultar(ctx, c.RUCEmisor) // a repeated issuer costs nothing: WithCache
	switch {
	case err != nil:
		return "emisor: " + fiscope.TextoParaUsuario(err)
	case !emisor.ActivoYHabido():
		return fmt.Sprintf("el emisor está %s, %s", emisor.Estado, emisor.Condicion)
	}
	return ""
}

// conectar returns the client, and the text with the receipts.
func conectar(args []string) (*fiscope.Client, string, error) {
	cache := fiscope.WithCache(fiscope.CachePolicy{})
	if len(args) == 0 {
		mock, err := mockserver.Start()
		if err != nil {
			return nil, "", err
		}
		return mock.Client(cache, fiscope.WithSOL(fiscope.CredencialesSOL{
			RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(mockserver.ClaveSOL),
		})), muestra, nil
	}
	texto, err := os.ReadFile(args[0])
	if err != nil {
		return nil, "", err
	}
	// A clave that SUNAT refuses is not sent again, not even by tomorrow's run: the file remembers it.
	memoria, err := filestore.New("compras.memoria")
	if err != nil {
		return nil, "", err
	}
	client, err := fiscope.NewClientFromEnv(cache, fiscope.WithStore(memoria))
	return client, string(texto), err
}
