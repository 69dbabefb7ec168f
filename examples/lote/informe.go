package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fiscope/fiscope"
)

// informe says what happened, in lines of at most 80 columns.
type informe struct{ out io.Writer }

const (
	anchoPantalla = 78
	malasVisibles = 10
)

func (i informe) presentar(e *entrada, s *servicio) {
	i.parrafo("Entrada   ", e.ruta)
	titulo := ""
	if e.encabezado != nil && e.columna < len(e.encabezado) {
		titulo = fmt.Sprintf(" («%s»)", strings.TrimSpace(e.encabezado[e.columna]))
	}
	separador := map[rune]string{';': "punto y coma", ',': "coma", '\t': "tabulador", '|': "barra vertical"}[e.separador]
	i.parrafo("          ", fmt.Sprintf("%s, separada por %s, RUC en la columna %d%s", e.texto.nombre, separador, e.columna+1, titulo))
	if s.mock == nil {
		i.parrafo("Servicio  ", s.nombre)
		return
	}
	q, _ := s.mock.Quota(s.mock.APIKey)
	i.parrafo("Servicio  ", fmt.Sprintf("un mock en este proceso, con %s consultas al día: sus datos son inventados", miles(q.Limit)))
}

func (i informe) revision(r *revision, o *opciones) {
	i.parrafo("Filas     ", fmt.Sprintf("%s; RUC distintos: %s; filas repetidas: %s; filas erradas: %s",
		miles(r.filas), miles(r.hechos+len(r.pendientes)), miles(r.repetidos), miles(len(r.malas))))
	if r.hechos > 0 {
		i.parrafo("Hechos    ", fmt.Sprintf("%s, consultados desde el %s: no se vuelven a pagar (-de-nuevo los consulta otra vez)",
			miles(r.hechos), fiscope.FechaEnLima(r.desde)))
	}
	if r.vencidos > 0 {
		i.parrafo("Vencidos  ", fmt.Sprintf("%s, con una respuesta de más de %d días (-vigencia): se consultan otra vez", miles(r.vencidos), o.vigencia))
	}
	for n, f := range r.malas {
		if n == malasVisibles {
			i.parrafo("  ✗ ", fmt.Sprintf("y %s filas erradas más: vea «fila errada» en la salida", miles(len(r.malas)-n)))
			break
		}
		i.parrafo("  ✗ ", fmt.Sprintf("línea %d: %s", f.linea, f.falla))
	}
	fmt.Fprintln(i.out)
}

// despedir says how it ended and, where something is left, when and how to go on.
func (i informe) despedir(o *opciones, r *revision, l *lote, causa error) error {
	faltan := 0
	for _, ruc := range r.pendientes {
		if !l.avance.tiene(ruc) {
			faltan++
		}
	}
	total := r.hechos + len(r.pendientes)
	if total == 0 {
		return fmt.Errorf("ninguna fila de %s tiene un RUC que se pueda consultar", o.entrada)
	}
	if faltan == 0 {
		i.parrafo("", fmt.Sprintf("Listo: los %s RUC tienen respuesta. Salida:", miles(total)))
		i.parrafo("  ", o.salida)
		return nil
	}
	if err := i.detenido(o, l, causa); err != nil {
		return err
	}
	i.parrafo("", fmt.Sprintf("Van %s de %s RUC y faltan %s. Lo hecho está guardado; la salida, con sus filas pendientes, en:",
		miles(total-faltan), miles(total), miles(faltan)))
	i.parrafo("  ", o.salida)
	como := "Para seguir, repita el mismo comando"
	if o.inventada {
		como += ", con la entrada al final (" + o.entrada + ")"
	}
	if o.deNuevo {
		como += ", pero sin -de-nuevo"
	}
	i.parrafo("", como+": lo ya consultado no se vuelve a pagar."+i.dias(o, l, faltan))
	if o.mock {
		i.parrafo("", "(El mock de este proceso empieza el día en cada ejecución: con él puede seguir ya.)")
	}
	return errIncompleto
}

// detenido says why it stopped, or returns what must be corrected before another run.
func (i informe) detenido(o *opciones, l *lote, causa error) error {
	switch {
	case causa == nil:
		i.parrafo("", "Algunos RUC quedaron sin respuesta: vea «pendiente» en la salida.")
	case errors.Is(causa, fiscope.ErrQuotaExceeded):
		que := "Se acabó la cuota del día."
		if o.reserva > 0 {
			que = fmt.Sprintf("Se llegó a la reserva: las últimas %s consultas del día son de otros.", miles(o.reserva))
		}
		i.parrafo("", que+" "+cuandoSeguir(l.client, causa))
	case errors.Is(causa, context.Canceled):
		i.parrafo("", "Detenido a pedido.")
	case errors.Is(causa, fiscope.ErrUnauthorized):
		return errors.New("el servicio rechaza la clave de API: revise FISCOPE_API_KEY")
	default:
		i.parrafo("", "Se detuvo tras varios fallos seguidos ("+motivo(causa)+"): siga más tarde.")
	}
	return nil
}

func (i informe) dias(o *opciones, l *lote, faltan int) string {
	q := l.client.RateLimit()
	if q == nil || q.Limit <= o.reserva {
		return ""
	}
	alDia := q.Limit - o.reserva
	if dias := (faltan + alDia - 1) / alDia; dias > 1 {
		return fmt.Sprintf(" A %s por día, son %d días más.", miles(alDia), dias)
	}
	return " Con la cuota de un día alcanza."
}

// parrafo prints a text folded between its words, under a label. A path is not folded.
func (i informe) parrafo(rotulo, texto string) {
	linea := rotulo
	largo := func(s string) int { return len([]rune(s)) }
	for n, palabra := range strings.Fields(texto) {
		switch {
		case n == 0:
		case largo(linea)+1+largo(palabra) <= anchoPantalla:
			linea += " "
		default:
			fmt.Fprintln(i.out, linea)
			linea = strings.Repeat(" ", largo(rotulo))
		}
		linea += palabra
	}
	fmt.Fprintln(i.out, linea)
}
