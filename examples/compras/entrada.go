package main

import (
	"fmt"
	"regexp"
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

// leerRenglones reads the CSV: UTF-8 or Windows-1252, parted by ";", ",", "|" or tabs, with a line of titles or
// without. A line that cannot be read is a renglon too, which says why: none is lost.
func leerRenglones(datos []byte) ([]*renglon, error) {
	texto, err := decodificar(datos)
	if err != nil {
		return nil, err
	}
	registros, err := leerRegistros(texto)
	if err != nil {
		return nil, err
	}
	var renglones []*renglon
	columnas, primero := sinTitulos, true
	vistos := map[fiscope.Comprobante]int{}
	for reg := range registros {
		if reg.falla != "" {
			renglones = append(renglones, &renglon{Linea: reg.linea, Estado: estadoIlegible, Detalle: reg.falla})
			continue
		}
		if primero {
			primero = false
			titulos, err := leerTitulos(reg.celdas)
			if err != nil {
				return nil, err
			}
			if titulos != nil {
				columnas = titulos
				continue
			}
		}
		if strings.TrimSpace(strings.Join(reg.celdas, "")) == "" { // a line of separators, as spreadsheets leave them
			continue
		}
		r := columnas.leer(reg)
		if r.Estado == "" {
			if antes, ok := vistos[r.Comprobante]; ok {
				r.Estado, r.Detalle = estadoRepetido, fmt.Sprintf("es el mismo comprobante de la línea %d", antes)
			} else {
				vistos[r.Comprobante] = reg.linea
			}
		}
		renglones = append(renglones, r)
	}
	return renglones, nil
}

// leer makes a receipt of a line's cells.
func (c columnas) leer(reg registro) *renglon {
	comprobante := c.comprobante(reg.celdas)
	r := &renglon{Linea: reg.linea, Importe: limpiar(c.celda(reg.celdas, colImporte)), Proveedor: limpiar(c.celda(reg.celdas, colProveedor))}
	r.Comprobante.RUCEmisor = c.dato(reg.celdas, colRUC)
	r.Comprobante.Tipo = tipoDe(c.dato(reg.celdas, colTipo))
	var err error
	r.Comprobante.Serie, r.Comprobante.Numero, err = fiscope.ParseSerieNumero(comprobante)

	ruc, extraña := r.Comprobante.RUCEmisor, c.extraña(reg.celdas)
	switch {
	case extraña != "":
		r.Detalle = extraña
	case fiscope.ClaseDeRUC(ruc) == "":
		r.Detalle = fmt.Sprintf("RUC «%s»: deben ser 11 dígitos", recortar(ruc, 20))
	case fiscope.ValidarRUC(ruc) != nil:
		r.Detalle = fmt.Sprintf("RUC %s: un dígito está mal o hay dos cambiados de lugar", ruc)
	case r.Comprobante.Tipo == "":
		r.Detalle = fmt.Sprintf("tipo «%s»: solo se validan 01, 03, 07 y 08", recortar(limpiar(c.celda(reg.celdas, colTipo)), 20))
	case err != nil:
		r.Detalle = fmt.Sprintf("comprobante «%s»: escríbalo como F001-00000123", recortar(comprobante, 30))
	case c.esRango(reg.celdas, r.Comprobante.Numero):
		r.Detalle = "es un rango de comprobantes: escriba uno en cada línea"
	default:
		return r
	}
	r.Estado = estadoIlegible
	return r
}

// extraña says which cell of the receipt has a character that does not show. To leave it out could make another
// receipt of it.
func (c columnas) extraña(celdas []string) string {
	for _, que := range []columna{colRUC, colTipo, colComprobante, colSerie, colNumero, colNumeroFinal} {
		for _, letra := range c.celda(celdas, que) {
			if extraño(letra) {
				return fmt.Sprintf("%s: tiene un carácter que no se ve o no existe (%U)", que, letra)
			}
		}
	}
	return ""
}

func (c columnas) esRango(celdas []string, numero int) bool {
	final := strings.TrimLeft(c.dato(celdas, colNumeroFinal), "0")
	return final != "" && final != fmt.Sprint(numero)
}

var (
	conDecimales = regexp.MustCompile(`^([0-9]+)[.,]0+$`)
	conExponente = regexp.MustCompile(`^([0-9])[.,]([0-9]{10})[eE]\+?10$`)
)

// sinFormato takes away what spreadsheets and data frames put to a number: an apostrophe, ="...", a decimal
// point, an exponent after all 11 digits of a RUC. One with fewer digits was rounded, and stays as it is.
func sinFormato(celda string) string {
	s := strings.TrimPrefix(limpiar(celda), "'")
	if dentro, ok := strings.CutPrefix(s, `="`); ok {
		s = strings.TrimSuffix(dentro, `"`)
	}
	if m := conDecimales.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	if m := conExponente.FindStringSubmatch(s); m != nil {
		return m[1] + m[2]
	}
	return s
}

// tipoDe reads the kind of a receipt: its code, or what people call it.
func tipoDe(s string) fiscope.TipoComprobante {
	if strings.ContainsAny(s, "0123456789") {
		return codigos[s]
	}
	return nombres[strings.TrimSuffix(plano(s), "electronica")]
}

var codigos = map[string]fiscope.TipoComprobante{
	"01": fiscope.TipoFactura, "1": fiscope.TipoFactura,
	"03": fiscope.TipoBoleta, "3": fiscope.TipoBoleta,
	"07": fiscope.TipoNotaCredito, "7": fiscope.TipoNotaCredito,
	"08": fiscope.TipoNotaDebito, "8": fiscope.TipoNotaDebito,
}

var nombres = map[string]fiscope.TipoComprobante{
	"factura": fiscope.TipoFactura, "ft": fiscope.TipoFactura,
	"boleta": fiscope.TipoBoleta, "boletadeventa": fiscope.TipoBoleta, "bv": fiscope.TipoBoleta,
	"notadecredito": fiscope.TipoNotaCredito, "nc": fiscope.TipoNotaCredito,
	"notadedebito": fiscope.TipoNotaDebito, "nd": fiscope.TipoNotaDebito,
}
