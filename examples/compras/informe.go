package main

import (
	"fmt"
	"io"
	"strings"
)

// secciones is the report, in order: the states of each, and what to do.
var secciones = []struct {
	titulo, consejo string
	estado          estado
}{
	{"Se pueden pagar", "aceptados, de un emisor activo y habido", estadoPagable},
	{"Aceptados con reparo", "el crédito fiscal peligra: consulte antes de pagar", estadoReparo},
	{"Aceptados, emisor sin consultar", "no los pague todavía", estadoAceptado},
	{"Repetidos", "vale lo que se dice de la otra línea", estadoRepetido},
	{"Anulados", "no los pague", estadoAnulado},
	{"No existen", "una boleta puede tardar 7 días en figurar", estadoNoExiste},
	{"En proceso", "valídelos más tarde", estadoEnProceso},
	{"Error", "no se sabe nada de ellos: valídelos más tarde", estadoError},
	{"Sin validar", "no se llegó a ellos: no los pague", estadoSinValidar},
	{"No se pudieron leer", "corrija la línea del archivo", estadoIlegible},
}

const ancho = 80

func (r *revision) informar(out io.Writer, a *ajustes) {
	contra := a.client.String()
	if a.mock != nil {
		contra = "un mock de este proceso: respuestas inventadas"
	}
	fmt.Fprintf(out, "%s, contra %s\n", recortar(a.archivo, 30), contra)
	for _, s := range secciones {
		renglones := r.en(s.estado)
		if len(renglones) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s (%d): %s\n", s.titulo, len(renglones), s.consejo)
		for _, fila := range renglones {
			fila.escribir(out)
		}
	}
	pagables, todos := r.pagables(), len(r.renglones)
	fmt.Fprintf(out, "\nLíneas: %d. Se pueden pagar: %d. Por revisar: %d.\n", todos, pagables, todos-pagables)
	fmt.Fprintf(out, "Consultas enviadas: %d.\n", a.client.Stats().Sent)
}

func (r *renglon) escribir(out io.Writer) {
	sangria := "         "
	if r.Estado == estadoIlegible {
		escribirPlegado(out, fmt.Sprintf("  %5d  ", r.Linea), sangria, r.Detalle)
		return
	}
	c := r.Comprobante
	linea := fmt.Sprintf("  %5d  %s  %s  %-13s  %12s  %s", r.Linea, c.RUCEmisor, c.Tipo, c.SerieNumero(),
		recortar(r.Importe, 12), recortar(r.Proveedor, 25))
	fmt.Fprintln(out, strings.TrimRight(linea, " "))
	if r.Detalle != "" {
		escribirPlegado(out, sangria, sangria, r.Detalle)
	}
}

// escribirPlegado breaks a text between its words.
func escribirPlegado(out io.Writer, primera, sangria, texto string) {
	linea, vacia := primera, true
	for _, palabra := range strings.Fields(texto) {
		if !vacia && len([]rune(linea))+1+len([]rune(palabra)) > ancho {
			fmt.Fprintln(out, linea)
			linea, vacia = sangria, true
		}
		if !vacia {
			linea += " "
		}
		linea, vacia = linea+palabra, false
	}
	fmt.Fprintln(out, linea)
}

func (r *revision) en(e estado) (renglones []*renglon) {
	for _, fila := range r.renglones {
		if fila.Estado == e {
			renglones = append(renglones, fila)
		}
	}
	return renglones
}

func (r *revision) pagables() int { return len(r.en(estadoPagable)) }

func (r *revision) legibles() int { return len(r.renglones) - len(r.en(estadoIlegible)) }
