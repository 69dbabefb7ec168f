// Quickstart shows the four operations of fiscope and their failures: go run ./examples/quickstart
//
// It calls a mock in this process. With FISCOPE_BASE_URL and FISCOPE_API_KEY it calls that service, and spends four queries;
// with FISCOPE_SOL_RUC, FISCOPE_SOL_USUARIO and FISCOPE_SOL_CLAVE it also validates a receipt, a fifth.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

var comprobante = fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123}

func main() {
	client, mock, err := conectar()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
	ctx := context.Background()
	err = errors.Join(consultar(ctx, client), buscar(ctx, client), validar(ctx, client), tipoCambio(ctx, client))
	fallos(ctx, client, mock)
	_ = client.Close(ctx)
	if err != nil {
		fmt.Println("\nAlgo no salió bien: vea arriba las líneas con «✗».")
		os.Exit(1)
	}
	fmt.Println("\nListo. El código está en examples/quickstart.")
}

// conectar returns a client of the service in the environment, or of a mock.
func conectar() (*fiscope.Client, *mockserver.Server, error) {
	if os.Getenv("FISCOPE_BASE_URL") != "" {
		client, err := fiscope.NewClientFromEnv()
		if err == nil {
			fmt.Println("fiscope contra", client)
		}
		return client, nil, err
	}
	mock, err := mockserver.Start()
	if err != nil {
		return nil, nil, err
	}
	fmt.Printf("fiscope contra un servidor mock de este proceso (%s)\n", mock.URL)
	return mock.Client(fiscope.WithSOL(credenciales(mockserver.ClaveSOL))), mock, nil
}

func credenciales(clave string) fiscope.CredencialesSOL {
	return fiscope.CredencialesSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(clave)}
}

func consultar(ctx context.Context, client *fiscope.Client) error {
	fmt.Println("\n1. Consultar un RUC")
	var resp fiscope.Response
	c, err := client.Contribuyentes.Consultar(ctx, "20131312955", fiscope.WithResponse(&resp))
	if err != nil {
		return fallo(err)
	}
	campo("RUC", c.RUC)
	campo("Razón social", c.RazonSocial)
	campo("Estado", fmt.Sprintf("%s, %s", c.Estado, c.Condicion))
	campo("Dirección", c.Direccion)
	campo("Inscripción", c.FechaInscripcion.String())
	campo("Facturable", map[bool]string{true: "sí: activo y habido", false: "cuidado: no está activo y habido"}[c.ActivoYHabido()])
	if r := resp.RateLimit; r != nil && r.Remaining != nil {
		campo("Cuota", fmt.Sprintf("quedan %d consultas", *r.Remaining))
	}
	return nil
}

func buscar(ctx context.Context, client *fiscope.Client) error {
	fmt.Println("\n2. Buscar por nombre: «gloria»")
	encontrados, err := client.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: "gloria", Limite: 5})
	if err != nil {
		return fallo(err)
	}
	for _, c := range encontrados {
		fmt.Printf("  %s  %s (%s)\n", c.RUC, c.RazonSocial, c.Estado)
	}
	return nil
}

func validar(ctx context.Context, client *fiscope.Client) error {
	fmt.Printf("\n3. Validar el comprobante %s-%d de %s\n", comprobante.Serie, comprobante.Numero, comprobante.RUCEmisor)
	if os.Getenv("FISCOPE_BASE_URL") != "" && os.Getenv("FISCOPE_SOL_CLAVE") == "" {
		fmt.Println("  No se valida: hacen falta FISCOPE_SOL_RUC, FISCOPE_SOL_USUARIO y\n  FISCOPE_SOL_CLAVE, de un usuario SOL secundario.")
		return nil
	}
	v, err := client.CPE.Validar(ctx, comprobante, fiscope.CredencialesSOL{}) // the client's
	if err != nil {
		return fallo(err)
	}
	campo("Estado", fmt.Sprintf("%s (código %s)", v.Estado, v.Codigo))
	campo("Mensaje", v.Mensaje)
	campo("Válido", map[bool]string{true: "sí", false: "no"}[v.EsValido])
	return nil
}

func tipoCambio(ctx context.Context, client *fiscope.Client) error {
	fecha := client.Hoy().AnteriorDiaHabil()
	fmt.Println("\n4. Tipo de cambio de la SUNAT para una factura del", fecha)
	tc, err := client.TipoCambio.SUNAT(ctx, fecha)
	if err != nil {
		return fallo(err)
	}
	campo("Compra", "S/ "+tc.TipoCambio.Compra.StringFixed(3))
	campo("Venta", "S/ "+tc.TipoCambio.Venta.StringFixed(3))
	campo("Cierre", fmt.Sprintf("%s (%s)", tc.TipoCambio.Fecha, tc.TipoCambio.Origen))
	return nil
}

// fallos shows one failure of each kind. It never does anything to a real service that could block a SOL user.
func fallos(ctx context.Context, client *fiscope.Client, mock *mockserver.Server) {
	fmt.Println("\n5. Cuando algo falla")
	mostrar := func(que string, err error) { linea(fmt.Sprintf("  %-26s", que), explicar(err)) }
	_, err := client.Contribuyentes.Consultar(ctx, "99999999999")
	mostrar("un RUC que no existe", err)
	_, err = client.Contribuyentes.Consultar(ctx, "2013131295")
	mostrar("un RUC de 10 dígitos", err)
	_, err = client.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: "ab"})
	mostrar("buscar «ab»", err)
	_, err = client.TipoCambio.Consultar(ctx, fiscope.NewFecha(2026, 2, 30))
	mostrar("el 30 de febrero", err)
	if mock == nil {
		return
	}
	_, err = client.CPE.Validar(ctx, comprobante, credenciales("no-es-la-clave"))
	mostrar("una clave SOL incorrecta", err)
	mock.SetSUNATDown(true)
	_, err = client.CPE.Validar(ctx, comprobante, fiscope.CredencialesSOL{})
	mostrar("la SUNAT no responde", err)
	otro, _ := fiscope.NewClient(mock.URL, "no-es-la-clave")
	_, err = otro.Contribuyentes.Consultar(ctx, mockserver.RUCSolicitante)
	mostrar("otra clave de API", err)
	_ = mock.PutKey(mock.APIKey, 0)
	_, err = client.Contribuyentes.Consultar(ctx, mockserver.RUCSolicitante)
	mostrar("la cuota se agotó", err)
}

// explicar is where your program decides. For a clerk's text there is fiscope.TextoParaUsuario.
func explicar(err error) string {
	switch {
	case errors.Is(err, fiscope.ErrNotFound):
		return "No existe lo que se pidió."
	case errors.Is(err, fiscope.ErrSearchTooShort):
		return "Texto muy corto: escriba al menos 3 letras. No gastó consulta."
	case errors.Is(err, fiscope.ErrInvalidRequest):
		return "Dato inválido, detectado sin gastar una consulta."
	case errors.Is(err, fiscope.ErrInvalidSOLCredentials):
		return "Usuario o clave SOL incorrectos: no reintente, el usuario se bloquea."
	case errors.Is(err, fiscope.ErrUnauthorized):
		return "El servicio rechaza la clave de API: revísela."
	case errors.Is(err, fiscope.ErrQuotaExceeded):
		return "Se agotó la cuota del día: siga mañana."
	case errors.Is(err, fiscope.ErrUnavailable):
		return "El servicio no responde: intente más tarde."
	}
	return fmt.Sprint("Error: ", err)
}

func campo(nombre, valor string) { linea(fmt.Sprintf("  %-15s", nombre), valor) }
func fallo(err error) error      { linea("  ✗ ", explicar(err)); return err }

func linea(nombre, texto string) {
	linea := nombre
	for i, palabra := range strings.Fields(texto) {
		if i > 0 && len([]rune(linea+palabra)) > 78 {
			fmt.Println(strings.TrimRight(linea, " "))
			linea = strings.Repeat(" ", len([]rune(nombre)))
		}
		linea += palabra + " "
	}
	fmt.Println(strings.TrimRight(linea, " "))
}
