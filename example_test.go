package fiscope_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// server starts a mock for an example. Your program has a base URL and an API key instead.
func server() *mockserver.Server {
	srv, err := mockserver.Start()
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

func Example() {
	srv := server()
	defer srv.Close()

	client, err := fiscope.NewClient(srv.URL, srv.APIKey)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close(context.Background()) }()

	c, err := client.Contribuyentes.Consultar(context.Background(), "20131312955")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.RazonSocial)
	fmt.Println(c.ActivoYHabido())
	// Output:
	// SUPERINTENDENCIA NACIONAL DE ADUANAS Y DE ADMINISTRACION TRIBUTARIA - SUNAT
	// true
}

func ExampleContribuyentesService_Consultar() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer func() { _ = client.Close(context.Background()) }()

	_, err := client.Contribuyentes.Consultar(context.Background(), "99999999999")
	switch {
	case errors.Is(err, fiscope.ErrNotFound):
		fmt.Println("nobody has that RUC")
	case err != nil:
		log.Fatal(err)
	}
	// Output: nobody has that RUC
}

func ExampleContribuyentesService_Buscar() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer func() { _ = client.Close(context.Background()) }()

	found, err := client.Contribuyentes.Buscar(context.Background(), fiscope.Busqueda{RazonSocial: "luz del sur", Limite: 5})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range found {
		fmt.Println(c.RUC, c.RazonSocial)
	}
	// Output: 20331898008 LUZ DEL SUR S.A.A.
}

func ExampleCPEService_Validar() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer func() { _ = client.Close(context.Background()) }()

	factura := fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123}
	v, err := client.CPE.Validar(context.Background(), factura, fiscope.CredencialesSOL{
		RUC:     mockserver.RUCSolicitante,
		Usuario: mockserver.UsuarioSOL,
		Clave:   fiscope.NewSecreto(mockserver.ClaveSOL),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Estado, v.EsValido)
	// Output: Aceptado true
}

func ExampleTipoCambioService_Consultar() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer func() { _ = client.Close(context.Background()) }()

	tc, err := client.TipoCambio.Consultar(context.Background(), fiscope.NewFecha(2026, time.October, 20))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tc.Fecha, tc.Venta.StringFixed(3))
	// Output: 2026-10-20 3.903
}

func ExampleTipoCambioService_Hoy() {
	fourOClock := func() time.Time { return time.Date(2026, time.November, 20, 16, 0, 0, 0, fiscope.Lima) }
	srv, err := mockserver.Start(mockserver.WithClock(fourOClock))
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	client := srv.Client()
	defer func() { _ = client.Close(context.Background()) }()

	_, err = client.TipoCambio.Hoy(context.Background())
	if errors.Is(err, fiscope.ErrNotFound) {
		fmt.Println("not yet published")
	}
	// Output: not yet published
}

func ExampleWithResponse() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer func() { _ = client.Close(context.Background()) }()

	var resp fiscope.Response
	_, err := client.Contribuyentes.Consultar(context.Background(), "20131312955", fiscope.WithResponse(&resp))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(resp.StatusCode, *resp.RateLimit.Remaining, "of", *resp.RateLimit.Limit)
	// Output: 200 999 of 1000
}

func ExampleError() {
	client, err := fiscope.NewClient("https://api.example.com", "an-api-key")
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Contribuyentes.Consultar(context.Background(), "2013131295")
	fmt.Println(err)
	var e *fiscope.Error
	if errors.As(err, &e) {
		fmt.Println(e.Delivery, errors.Is(err, fiscope.ErrInvalidRequest))
	}
	// Output:
	// fiscope: Contribuyentes.Consultar: invalid request: ruc must be exactly 11 digits: it has 10; nothing was sent
	// not sent true
}

func ExampleValidarRUC() {
	for _, ruc := range []string{"20131312955", "20131312995", "2013131295"} {
		fmt.Println(fiscope.ValidarRUC(ruc))
	}
	// Output:
	// <nil>
	// fiscope: invalid request: ruc 20…995 does not match its check digit: a digit is wrong, or two are swapped
	// fiscope: invalid request: ruc must be exactly 11 digits: it has 10
}

func ExampleClaseDeRUC() {
	clase := fiscope.ClaseDeRUC("20131312955")
	fmt.Println(clase, clase == fiscope.ClasePersonaJuridica)
	// Output: 20 true
}

func ExampleDNIDeRUC() {
	dni, ok := fiscope.DNIDeRUC("10000000006")
	fmt.Println(dni, ok)
	_, ok = fiscope.DNIDeRUC("20131312955")
	fmt.Println(ok)
	// Output:
	// 00000000 true
	// false
}

func ExampleWithStrictRUC() {
	client, err := fiscope.NewClient("https://api.example.com", "an-api-key", fiscope.WithStrictRUC())
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Contribuyentes.Consultar(context.Background(), "20131312995")
	fmt.Println(errors.Is(err, fiscope.ErrInvalidRequest))
	fmt.Println(err)
	// Output:
	// true
	// fiscope: Contribuyentes.Consultar: invalid request: ruc 20…995 does not match its check digit: a digit is wrong, or two are swapped; nothing was sent
}

func ExampleEstado() {
	for _, e := range []fiscope.Estado{"ACTIVO", "BAJA PROV. POR OFICI", "SUSPENSIÓN TEMPORAL", "SUSPENSION TEMPORAL", "ANUL.PROVI.-ACTO ILI"} {
		fmt.Println(e, e.Activo(), e.Baja(), e.Suspendido())
	}
	// Output:
	// ACTIVO true false false
	// BAJA PROV. POR OFICI false true false
	// SUSPENSIÓN TEMPORAL false false true
	// SUSPENSION TEMPORAL false false true
	// ANUL.PROVI.-ACTO ILI false false false
}

func ExampleCondicion() {
	for _, c := range []fiscope.Condicion{"HABIDO", "NO HABIDO", "NO HALLADO SE MUDO D", "POR VERIFICAR"} {
		fmt.Println(c, c.Habido(), c.NoHallado())
	}
	// Output:
	// HABIDO true false
	// NO HABIDO false false
	// NO HALLADO SE MUDO D false true
	// POR VERIFICAR false false
}

func ExampleContribuyente_ActivoYHabido() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer func() { _ = client.Close(context.Background()) }()

	c, err := client.Contribuyentes.Consultar(context.Background(), "20131312955")
	if err != nil {
		log.Fatal(err)
	}
	if c.ActivoYHabido() {
		fmt.Println("go on")
	}
	// Output: go on
}

func ExampleContribuyenteResumen_ActivoYHabido() {
	found := []fiscope.ContribuyenteResumen{
		{RUC: "20100000131", Estado: "ACTIVO", Condicion: "HABIDO"},
		{RUC: "20100000050", Estado: "ACTIVO", Condicion: "NO HALLADO SE MUDO D"},
		{RUC: "20000000001", Estado: "BAJA DE OFICIO", Condicion: "HABIDO"},
	}
	for _, c := range found {
		fmt.Println(c.RUC, c.ActivoYHabido())
	}
	// Output:
	// 20100000131 true
	// 20100000050 false
	// 20000000001 false
}

func ExampleParseSerieNumero() {
	for _, text := range []string{"F001-00000123", " f001 - 123 ", "0001 000123", "F001-123 124"} {
		serie, numero, err := fiscope.ParseSerieNumero(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(serie, numero)
	}
	// Output:
	// F001 123
	// F001 123
	// 0001 123
	// fiscope: invalid request: "F001-123 124" is not a series and a number, as in F001-00000123: the number must be digits and nothing else
}

func ExampleComprobante_SerieNumero() {
	c := fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123}
	fmt.Println(c.SerieNumero())
	// Output: F001-00000123
}

func ExampleComprobante_String() {
	c := fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123}
	fmt.Println(c)
	// Output: 20100070970-01-F001-00000123
}

func ExampleComprobante_Advertencia() {
	c := fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "B001", Numero: 123}
	if odd := c.Advertencia(); odd != "" {
		fmt.Println(odd)
	}
	// Output: la serie "B001" no es usual para tipoComprobante 01: se espera F y tres más, o E001, o de 1 a 4 dígitos si es de papel
}

// tracer is a tracer in a few lines: with OpenTelemetry's, start is trace.Tracer.Start, and end is
// span.SetAttributes, span.SetStatus and span.End.
type tracer struct{}

type parentOfSpan struct{}

func (tracer) start(ctx context.Context, name string) (context.Context, *tracedSpan) {
	parent, _ := ctx.Value(parentOfSpan{}).(*tracedSpan)
	s := &tracedSpan{name: name}
	if parent != nil {
		s.name = parent.name + " > " + name
	}
	return context.WithValue(ctx, parentOfSpan{}, s), s
}

type tracedSpan struct{ name string }

func (s *tracedSpan) end(attributes ...any) { fmt.Println(s.name, fmt.Sprint(attributes...)) }

// A hook makes a span of each operation. What a transport of yours makes of its requests is within it.
func ExampleWithHook() {
	srv := server()
	defer srv.Close()
	var spans tracer
	client, err := fiscope.NewClient(srv.URL, srv.APIKey, fiscope.WithHook(
		func(ctx context.Context, op fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
			ctx, span := spans.start(ctx, string(op))
			return ctx, func(resp fiscope.Response, err error) {
				span.end("attempts=", resp.Attempts, " class=", fiscope.ErrorClass(err))
			}
		}))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close(context.Background()) }()

	ctx, span := spans.start(context.Background(), "invoice")
	_, _ = client.Contribuyentes.Consultar(ctx, "20131312955")
	_, _ = client.Contribuyentes.Consultar(ctx, "2013131295") // a digit is missing
	_, _ = client.TipoCambio.SUNAT(ctx, fiscope.NewFecha(2024, 7, 29))
	span.end()
	// Output:
	// invoice > Contribuyentes.Consultar attempts=1 class=
	// invoice > Contribuyentes.Consultar attempts=0 class=invalid_request
	// invoice > TipoCambio.SUNAT > TipoCambio.Consultar attempts=1 class=
	// invoice > TipoCambio.SUNAT attempts=1 class=
	// invoice
}

// The nine tasks of a billing program. The environment has FISCOPE_BASE_URL, FISCOPE_API_KEY and FISCOPE_SOL_*.
func Example_tasks() {
	ctx := context.Background()
	client, err := fiscope.NewClientFromEnv(fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 24 * time.Hour}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = client.Close(ctx) }()

	// A customer, an error as HTTP, and the quota for a dashboard.
	http.HandleFunc("GET /clientes/{ruc}", func(w http.ResponseWriter, r *http.Request) {
		ruc, err := fiscope.ParseRUC(r.PathValue("ruc"))
		if err != nil {
			fiscope.WriteError(w, err)
			return
		}
		c, err := client.Contribuyentes.Consultar(r.Context(), ruc)
		if err != nil {
			fiscope.WriteError(w, err)
			return
		}
		_ = json.NewEncoder(w).Encode(c)
	})
	http.HandleFunc("GET /cuota", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, client.RateLimit(), client.Stats().Sent) })

	// A search, and the rate of an invoice.
	found, err := client.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: "gloria"})
	fmt.Println(len(found), err)
	tc, err := client.TipoCambio.SUNAT(ctx, fiscope.NewFecha(2026, time.November, 23))
	fmt.Println(tc, err)

	// A receipt, and the wait for one in process. The zero credentials are the client's.
	factura := fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123}
	v, err := client.CPE.Validar(ctx, factura, fiscope.CredencialesSOL{})
	if err == nil && v.Codigo.Indeterminado() {
		_, err = client.CPE.Esperar(ctx, factura, fiscope.CredencialesSOL{}, fiscope.EsperaPolicy{})
	}
	fmt.Println(err)

	// A month of receipts: the next run goes on where this one ends.
	progress, err := fiscope.NewResultsFile("noviembre.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	month := slices.Values([]fiscope.Comprobante{factura})
	for line, err := range client.CPE.ValidarLote(ctx, month, fiscope.CredencialesSOL{}, fiscope.LotePolicy{Progress: progress}) {
		fmt.Println(line.Entrada, line.Resultado, err)
	}
	fmt.Println(progress.Close())
}

func ExampleContribuyentesService_ConsultarLote() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.Close(context.Background())

	rucs := slices.Values([]string{"20131312955", "20331898008", "99999999999", "20131312955"})
	found := map[int]string{} // they come in no order
	for l, err := range client.Contribuyentes.ConsultarLote(context.Background(), rucs, fiscope.LotePolicy{}) {
		var stopped *fiscope.LoteDetenidoError
		switch {
		case errors.As(err, &stopped):
			fmt.Println("go on another day from", stopped.Siguiente)
		case errors.Is(err, fiscope.ErrNotFound):
			found[l.Posicion] = "nobody"
		case err != nil:
			fmt.Println(l.Posicion, err)
		default:
			found[l.Posicion] = l.Resultado.RazonSocial
		}
	}
	for position := range len(found) {
		fmt.Println(position, found[position])
	}
	fmt.Println(client.Stats().Sent, "queries")
	// Output:
	// 0 SUPERINTENDENCIA NACIONAL DE ADUANAS Y DE ADMINISTRACION TRIBUTARIA - SUNAT
	// 1 LUZ DEL SUR S.A.A.
	// 2 nobody
	// 3 SUPERINTENDENCIA NACIONAL DE ADUANAS Y DE ADMINISTRACION TRIBUTARIA - SUNAT
	// 3 queries
}

func ExampleLoteDetenidoError() {
	srv, err := mockserver.Start(mockserver.WithQuota(10))
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	client := srv.Client()
	defer client.Close(context.Background())

	// Two queries of the ten are for others.
	batch := client.Contribuyentes.ConsultarLote(context.Background(), rucs(1000), fiscope.LotePolicy{Concurrency: 1}, fiscope.WithQuotaReserve(2))
	for l, err := range batch {
		var stopped *fiscope.LoteDetenidoError
		if errors.As(err, &stopped) {
			fmt.Println("the next run begins at", stopped.Siguiente, errors.Is(err, fiscope.ErrQuotaExceeded))
			break
		}
		_ = l.Siguiente // what to store, for a program that may be killed
	}
	// Output:
	// the next run begins at 8 true
}

// A month of receipts, whose job may be killed at any time. Each run asks for what has no final answer yet, and the
// table is made from the file.
func ExampleNewResultsFile() {
	folder, err := os.MkdirTemp("", "fiscope")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.Close(context.Background())

	receipts := func(yield func(fiscope.Comprobante) bool) {
		for numero := 123; numero <= 126; numero++ {
			if !yield(fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: numero}) {
				return
			}
		}
	}
	path := filepath.Join(folder, "noviembre.jsonl")
	for _, killedAt := range []int{1, -1} {
		results, err := fiscope.NewResultsFile(path)
		if err != nil {
			log.Fatal(err)
		}
		for l, err := range client.CPE.ValidarLote(context.Background(), receipts, fiscope.CredencialesSOL{
			RUC:     mockserver.RUCSolicitante,
			Usuario: mockserver.UsuarioSOL,
			Clave:   fiscope.NewSecreto(mockserver.ClaveSOL),
		}, fiscope.LotePolicy{Concurrency: 1, Progress: results}) {
			if err != nil {
				fmt.Println(err)
			}
			if l.Posicion == killedAt {
				break
			}
		}
		if err := results.Close(); err != nil {
			log.Fatal(err)
		}
	}

	file, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	table := csv.NewWriter(os.Stdout)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var line struct {
			Input   string
			Answer  fiscope.ResultadoCPE
			Error   string
			Pending bool
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			log.Fatal(err)
		}
		_ = table.Write([]string{line.Input, string(line.Answer.Estado), line.Error, fmt.Sprint(line.Pending)})
	}
	table.Flush()
	fmt.Println(client.Stats().Sent, "queries")
	// Output:
	// 20100070970-01-F001-00000123,Aceptado,,false
	// 20100070970-01-F001-00000124,Anulado,,false
	// 20100070970-01-F001-00000125,En Proceso,,true
	// 20100070970-01-F001-00000126,No Existe,,true
	// 5 queries
}

func ExampleTipoCambioService_SUNAT() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer func() { _ = client.Close(context.Background()) }()

	// An invoice of Monday, 2 August 2021: the rate is the close of Friday.
	lunes := fiscope.NewFecha(2021, time.August, 2)
	tc, err := client.TipoCambio.SUNAT(context.Background(), lunes)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tc.Para, "venta", tc.TipoCambio.Venta.StringFixed(3), "of", tc.TipoCambio.Fecha, "for", tc.Consultas, "query")
	// Output: 2021-08-02 venta 3.321 of 2021-07-30 for 1 query
}

func ExampleWithProvisional() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer func() { _ = client.Close(context.Background()) }()
	ctx := context.Background()

	nextWeek := fiscope.HoyEnLima().SumarDias(7)
	_, err := client.TipoCambio.SUNAT(ctx, nextWeek)
	fmt.Println(errors.Is(err, fiscope.ErrNotYetPublished), client.Stats().Sent)

	tc, err := client.TipoCambio.SUNAT(ctx, nextWeek, fiscope.WithProvisional())
	fmt.Println(err, tc.Provisional)
	// Output:
	// true 0
	// <nil> true
}

func ExampleTipoCambioService_Mes() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer func() { _ = client.Close(context.Background()) }()

	for tc, err := range client.TipoCambio.Mes(context.Background(), 2021, time.July) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if tc.Para.Day() >= 27 {
			fmt.Println(tc.Para, tc.TipoCambio.Venta.StringFixed(3))
		}
	}
	// Output:
	// 2021-07-27 3.317
	// 2021-07-28 3.318
	// 2021-07-31 3.321
}
