package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fiscope/fiscope"
)

// renglon is a line of the file, and what became of it.
type renglon struct {
	Linea       int
	Comprobante fiscope.Comprobante
	Importe     string // as it was written: it is shown, never calculated with
	Proveedor   string
	Estado      estado
	Detalle     string
}

// leerRenglones reads the CSV: UTF-8 or Latin-1, parted by ";", "," or tabs, with a line of titles or
// without. A line that cannot be read is a renglon too, which says why: none is lost.
func leerRenglones(datos []byte) ([]*renglon, error) {
	datos = bytes.TrimPrefix(datos, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(datos, []byte("\xff\xfe")) || bytes.HasPrefix(datos, []byte("\xfe\xff")) {
		return nil, errors.New("el archivo está en UTF-16: guárdelo como «CSV UTF-8»")
	}
	lector := csv.NewReader(bytes.NewReader(datos))
	lector.Comma = separador(datos)
	lector.FieldsPerRecord = -1

	var renglones []*renglon
	columnas, primera := sinTitulos, true
	vistos := map[fiscope.Comprobante]int{}
	for {
		celdas, err := lector.Read()
		var malformada *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return renglones, nil
		case errors.As(err, &malformada):
			renglones = append(renglones, ilegible(malformada.StartLine, comillas(malformada)))
			continue
		case err != nil:
			return nil, err
		}
		linea, _ := lector.FieldPos(0)
		for i := range celdas {
			celdas[i] = limpiar(celdas[i])
		}
		if primera {
			primera = false
			titulos, err := leerTitulos(celdas)
			if err != nil {
				return nil, err
			}
			if titulos != nil {
				columnas = titulos
				continue
			}
		}
		if strings.Join(celdas, "") == "" { // a line of separators, as spreadsheets leave them
			continue
		}
		r := columnas.leer(linea, celdas)
		if r.Estado == "" {
			if antes, ok := vistos[r.Comprobante]; ok {
				r.Estado, r.Detalle = estadoRepetido, fmt.Sprintf("es el mismo comprobante de la línea %d", antes)
			} else {
				vistos[r.Comprobante] = linea
			}
		}
		renglones = append(renglones, r)
	}
}

func ilegible(linea int, porQue string) *renglon {
	return &renglon{Linea: linea, Estado: estadoIlegible, Detalle: porQue}
}

func comillas(e *csv.ParseError) string {
	if e.Line > e.StartLine {
		return fmt.Sprintf("comillas que no se cierran: se perdió hasta la línea %d", e.Line)
	}
	return "comillas fuera de lugar: escriba \"\" dentro de un texto entre comillas"
}

// separador is the one that the first line has most of.
func separador(datos []byte) rune {
	primera, _, _ := bytes.Cut(datos, []byte("\n"))
	mejor, veces := ';', 0
	for _, r := range []rune{';', ',', '\t'} {
		if n := bytes.Count(primera, []byte(string(r))); n > veces {
			mejor, veces = r, n
		}
	}
	return mejor
}

// leer makes a receipt of a line's cells.
func (c columnas) leer(linea int, celdas []string) *renglon {
	comprobante := c.celda(celdas, colComprobante)
	if comprobante == "" && c.celda(celdas, colSerie) != "" {
		comprobante = c.celda(celdas, colSerie) + "-" + c.celda(celdas, colNumero)
	}
	r := &renglon{Linea: linea, Importe: c.celda(celdas, colImporte), Proveedor: c.celda(celdas, colProveedor)}
	r.Comprobante.RUCEmisor = strings.TrimPrefix(c.celda(celdas, colRUC), "'") // a spreadsheet's "this is text"
	r.Comprobante.Tipo = tipos[plano(c.celda(celdas, colTipo))]
	var err error
	r.Comprobante.Serie, r.Comprobante.Numero, err = fiscope.ParseSerieNumero(comprobante)

	ruc := r.Comprobante.RUCEmisor
	switch {
	case fiscope.ClaseDeRUC(ruc) == "":
		r.Detalle = fmt.Sprintf("RUC «%s»: deben ser 11 dígitos", recortar(ruc, 20))
	case fiscope.ValidarRUC(ruc) != nil:
		r.Detalle = fmt.Sprintf("RUC %s: un dígito está mal o hay dos cambiados de lugar", ruc)
	case r.Comprobante.Tipo == "":
		r.Detalle = fmt.Sprintf("tipo «%s»: solo se validan 01, 03, 07 y 08", recortar(c.celda(celdas, colTipo), 20))
	case err != nil:
		r.Detalle = fmt.Sprintf("comprobante «%s»: escríbalo como F001-00000123", recortar(comprobante, 30))
	default:
		return r
	}
	r.Estado = estadoIlegible
	return r
}

var tipos = map[string]fiscope.TipoComprobante{
	"01": fiscope.TipoFactura, "1": fiscope.TipoFactura, "factura": fiscope.TipoFactura,
	"03": fiscope.TipoBoleta, "3": fiscope.TipoBoleta, "boleta": fiscope.TipoBoleta,
	"07": fiscope.TipoNotaCredito, "7": fiscope.TipoNotaCredito, "notadecredito": fiscope.TipoNotaCredito,
	"08": fiscope.TipoNotaDebito, "8": fiscope.TipoNotaDebito, "notadedebito": fiscope.TipoNotaDebito,
}
