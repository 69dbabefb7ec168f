package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"golang.org/x/text/encoding/charmap"
)

// muestra is a file as accounting programs write them: semicolons, Latin-1, and a few mistakes.
const muestra = `Proveedor;RUC;Monto
Supermercado;20100070970;1250,50
"Peña & Núñez; asociados";20999990011;380,00
El Ñandú;20999990020;99,90
Tubos de 3/4" del Norte;20999990038;-15,00
Gloria antigua;20100000131;2500,00
RUC que no existe;20999999990;10,00
Un dígito mal;20123456789;75,00
Falta un dígito;2010007097;75,00
Redondeado por la hoja de cálculo;2,01E+10;75,00
Otra vez el supermercado; 20100070970 ;640,00
Electricidad;'20331898008;210,35
`

// prepararEntrada writes the sample or the invented RUCs where they are not there yet. Without a place for them
// they go into a new folder: one of a fixed name may be somebody else's.
func (o *opciones) prepararEntrada() error {
	if o.entrada == "" {
		carpeta, err := os.MkdirTemp("", "fiscope-lote-")
		if err != nil {
			return err
		}
		nombre := "muestra.csv"
		if o.generar > 0 {
			nombre = fmt.Sprintf("rucs-%d.csv", o.generar)
		}
		o.inventada, o.entrada = true, filepath.Join(carpeta, nombre)
		o.salida = cmp.Or(o.salida, sinExtension(o.entrada)+".consultado.csv")
	} else if o.generar == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(o.entrada), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(o.entrada, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if o.generar == 0 {
		_, err = charmap.ISO8859_1.NewEncoder().Writer(w).Write([]byte(muestra))
	} else {
		fmt.Fprintln(w, "ruc")
		for n := range o.generar {
			fmt.Fprintln(w, rucInventado(n))
		}
	}
	return errors.Join(err, w.Flush(), f.Close())
}

// rucInventado returns the n-th RUC of a legal entity, with its check digit, of a range that is not in
// use yet.
func rucInventado(n int) string {
	diez := fmt.Sprintf("209%07d", n)
	for digito := range 10 {
		if ruc := diez + strconv.Itoa(digito); fiscope.ValidarRUC(ruc) == nil {
			return ruc
		}
	}
	return diez // never: one digit in ten is right
}

// padronInventado knows all those RUCs but one in forty, and makes their taxpayers up.
type padronInventado struct{}

func (padronInventado) PorRUC(_ context.Context, ruc string) (mockserver.Contribuyente, bool, error) {
	n, err := strconv.Atoi(ruc[3:10])
	if err != nil || !strings.HasPrefix(ruc, "209") || n%40 == 39 {
		return mockserver.Contribuyente{}, false, nil
	}
	c := mockserver.Empresa(ruc)
	c.RazonSocial = fmt.Sprintf("PEÑA Y NÚÑEZ SINTÉTICA %d S.A.C.", n)
	switch {
	case n%10 == 3:
		c.Estado = "BAJA DEFINITIVA"
	case n%10 == 7:
		c.Condicion = "NO HABIDO"
	case n%50 == 5:
		c.RazonSocial = fmt.Sprintf("=1+%d SINTÉTICA S.A.C.", n) // see inofensiva
	}
	return c, true, nil
}

func (padronInventado) Buscar(context.Context, string, int) ([]mockserver.Contribuyente, error) {
	return nil, nil
}
