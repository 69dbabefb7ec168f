package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/fiscope/fiscope"
)

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
	fmt.Println(clase, clase == fiscope.ClasePersonaJuridica, clase.Descripcion())
	// Output: 20 true persona jurídica
}

func ExampleClaseRUC_Descripcion() {
	for _, ruc := range []string{"10000000006", "15123456782", "20131312955", "00000000001"} {
		fmt.Println(fiscope.ClaseDeRUC(ruc).Descripcion())
	}
	// Output:
	// persona natural
	// especial o no domiciliado (RUC 15)
	// persona jurídica
	// clase desconocida
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
		fmt.Println(e, e.Activo(), e.Baja(), e.Suspendido(), e.Anulado())
	}
	// Output:
	// ACTIVO true false false false
	// BAJA PROV. POR OFICI false true false false
	// SUSPENSIÓN TEMPORAL false false true false
	// SUSPENSION TEMPORAL false false true false
	// ANUL.PROVI.-ACTO ILI false false false true
}

func ExampleCondicion() {
	for _, c := range []fiscope.Condicion{"HABIDO", "NO HABIDO", "NO HALLADO SE MUDO D", "POR VERIFICAR"} {
		fmt.Println(c, c.Habido(), c.NoHabido(), c.NoHallado(), c.Pendiente())
	}
	// Output:
	// HABIDO true false false false
	// NO HABIDO false true false false
	// NO HALLADO SE MUDO D false false true false
	// POR VERIFICAR false false false true
}

func ExampleContribuyente_ActivoYHabido() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

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
	// Output: serie "B001" is unusual for tipoComprobante 01: want F and three more, or E001, or 1 to 4 digits if it is on paper
}
