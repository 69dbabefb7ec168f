package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
)

// call returns the action of a command that makes one call.
func call(do func(ctx context.Context, s *session, arg string) error) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		s, err := connect(cmd)
		defer s.close()
		if err != nil {
			return err
		}
		return do(ctx, s, strings.TrimSpace(strings.Join(cmd.Args().Slice(), " ")))
	}
}

// wrong returns an error in the command line.
func (s *session) wrong(format string, args ...any) error {
	return terminal.Wrong(fmt.Errorf(format, args...), s.cmd.Name)
}

// answer prints an answer in JSON, or else by show, and returns the exit status.
func (s *session) answer(answer any, exit status, show func()) error {
	if !s.asJSON {
		show()
	} else if err := s.json(answer); err != nil {
		return err
	}
	if exit == allWell {
		return nil
	}
	return exit
}

func showRUC(ctx context.Context, s *session, text string) error {
	ruc, wrong := readRUC(text)
	if wrong != "" {
		return s.wrong("el RUC no es válido: %s", wrong)
	}
	var resp fiscope.Response
	c, err := s.client.Contribuyentes.Consultar(ctx, ruc, fiscope.WithResponse(&resp))
	if err != nil {
		return err
	}
	if resp.Source == fiscope.SourceRespaldo {
		s.note("El servicio no los dio: los datos son del padrón del %s.", fiscope.FechaEnLima(resp.AsOf))
	}
	exit, verdict := problem, "✗ No está activo y habido: puede perder el crédito fiscal"
	if c.ActivoYHabido() {
		exit, verdict = allWell, "✓ Activo y habido"
	}
	return s.answer(c, exit, func() {
		s.behind("", c.RazonSocial)
		for i, f := range []struct{ name, value string }{
			{"RUC", c.RUC}, {"Estado", string(c.Estado)}, {"Condición", string(c.Condicion)},
			{"Dirección", c.Direccion}, {"Ubigeo", c.Ubigeo}, {"Distrito", c.Distrito}, {"Provincia", c.Provincia},
			{"Departamento", c.Departamento}, {"Tipo", c.Tipo}, {"Actividad", c.ActividadEconomica},
			{"Inscripción", c.FechaInscripcion.String()}, {"Inicio", c.FechaInicioActividades.String()},
		} {
			if i < 3 || f.value != "" && f.value != "-" {
				s.field(f.name, f.value)
			}
		}
		s.line("  %s", s.paint(exit, verdict))
	})
}

func searchName(ctx context.Context, s *session, name string) error {
	if name == "" {
		return s.wrong("falta el nombre, o una parte de él")
	}
	found, err := s.client.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: name, Limite: s.cmd.Int("limite")})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return s.answer(found, problem, func() { s.line("Ningún contribuyente tiene «%s» en su nombre.", terminal.Printable(name)) })
	}
	return s.answer(found, allWell, func() {
		for _, c := range found {
			s.behind(c.RUC+"  ", fmt.Sprintf("%s (%s, %s)", c.RazonSocial, c.Estado, c.Condicion))
		}
	})
}

func showCPE(ctx context.Context, s *session, text string) error {
	c, err := readComprobante(text)
	if err != nil {
		return s.wrong("%s", fiscope.TextoParaUsuario(err))
	}
	v, err := s.client.CPE.Validar(ctx, c, fiscope.CredencialesSOL{})
	if err != nil {
		return err
	}
	exit, verdict := problem, "✗ No es válido"
	switch {
	case v.EsValido:
		exit, verdict = allWell, "✓ Válido"
	case v.Codigo.Indeterminado():
		exit, verdict = unfinished, "? Todavía no se sabe: repita más tarde"
	}
	return s.answer(v, exit, func() {
		s.line("%s %s de %s", kinds[c.Tipo], c.SerieNumero(), c.RUCEmisor)
		s.field("Estado", fmt.Sprintf("%s (código %s)", v.Estado, v.Codigo))
		s.field("Mensaje", v.Mensaje)
		s.line("  %s", s.paint(exit, verdict))
		if odd := oddSeries(c, v.Codigo); odd != "" {
			s.line("  %s", odd)
		}
	})
}

// oddSeries asks back if a receipt that does not exist has a series unusual for its kind; else it is "".
func oddSeries(c fiscope.Comprobante, code fiscope.CodigoCPE) string {
	if code != fiscope.CodigoNoExiste || c.Advertencia() == "" {
		return ""
	}
	return "¿Está bien escrito? Esa serie no es la usual de ese tipo."
}

var kinds = map[fiscope.TipoComprobante]string{
	fiscope.TipoFactura: "Factura", fiscope.TipoBoleta: "Boleta",
	fiscope.TipoNotaCredito: "Nota de crédito", fiscope.TipoNotaDebito: "Nota de débito",
}

// readComprobante parses a receipt's name, or the text of its QR.
func readComprobante(text string) (fiscope.Comprobante, error) {
	if strings.Contains(text, "|") {
		qr, err := fiscope.ParseQR(text)
		return qr.Comprobante, err
	}
	return fiscope.ParseComprobante(text)
}

func showRate(ctx context.Context, s *session, text string) error {
	month, notMonth := time.Parse("2006-01", text)
	fecha, err := readDate(text)
	switch {
	case notMonth == nil:
		return s.showMonth(ctx, month.Year(), month.Month(), s.cmd.String("salida"))
	case err != nil && strings.HasSuffix(err.Error(), "out of range"):
		return s.wrong("no existe el día %s", text)
	case err != nil:
		return s.wrong("va una fecha como 2026-11-20 o 20/11/2026, o un mes como 2026-11")
	case s.cmd.String("salida") != "":
		return s.wrong("-salida va con un mes, como 2026-11")
	case text == "":
		fecha = s.client.Hoy()
	}
	tc, err := s.client.TipoCambio.SUNAT(ctx, fecha)
	if err != nil {
		return s.rateError(err, text)
	}
	return s.answer(tc, allWell, func() {
		s.line("Tipo de cambio de la SUNAT para un comprobante del %s", fecha)
		s.field("Compra", "S/ "+tc.TipoCambio.Compra.StringFixed(3))
		s.field("Venta", "S/ "+tc.TipoCambio.Venta.StringFixed(3))
		s.field("Cierre", tc.TipoCambio.Fecha.String()+" ("+tc.TipoCambio.Origen+")")
		if missing := sinTasa(*tc); missing != "" {
			s.field("Atención", missing)
		}
	})
}

// sinTasa says that an older rate was taken; "" if none was.
func sinTasa(tc fiscope.TipoCambioVigente) string {
	if len(tc.SinTasa) == 0 {
		return ""
	}
	text := fmt.Sprintf("falta el tipo de cambio de días hábiles (%s): revise antes de registrar.", strings.Trim(fmt.Sprint(tc.SinTasa), "[]"))
	if tc.Provisional {
		text += " Todavía puede cambiar."
	}
	return text
}

// rateError returns the error of a rate; a half-typed date is wrong use.
func (s *session) rateError(err error, text string) error {
	if e := (*fiscope.Error)(nil); errors.As(err, &e) && errors.Is(err, fiscope.ErrInvalidRequest) && e.Field == "fecha" {
		return s.wrong("no hay tipo de cambio de %s: va desde julio de 1991 hasta 31 días después de hoy", text)
	}
	return err
}

// readDate parses a date in the contract's form or as people write it; "" is not a date.
func readDate(text string) (fiscope.Fecha, error) {
	layout := time.DateOnly
	if strings.Contains(text, "/") {
		layout = "2/1/2006"
	}
	day, err := time.Parse(layout, text)
	if text == "" {
		return fiscope.Fecha{}, nil
	}
	return fiscope.NewFecha(day.Date()), err
}

// showMonth shows SUNAT's table of a month, as far as it is published, or writes it to a file for a spreadsheet,
// which replaces only one of its own.
func (s *session) showMonth(ctx context.Context, year int, month time.Month, output string) error {
	const titles = "fecha;compra;venta;cierre;atención"
	if text, err := os.ReadFile(output); err == nil && !bytes.HasPrefix(text, []byte("\ufeff"+titles)) { //nolint:gosec // the user's own
		return fmt.Errorf("%s ya existe y no es de este programa: indique otra -salida", output)
	}
	file := &table{sep: ';', header: strings.Split(titles, ";"), width: 5}
	days := []fiscope.TipoCambioVigente{}
	for day, err := range s.client.TipoCambio.Mes(ctx, year, month, fiscope.WithTodosLosDias()) {
		if errors.Is(err, fiscope.ErrNotYetPublished) && len(days) > 0 {
			s.note("Desde el %s todavía no se publica.", day.Para)
			break
		}
		if err != nil {
			return s.rateError(err, fmt.Sprintf("%04d-%02d", year, month))
		}
		days = append(days, day)
		tc := day.TipoCambio
		file.rows = append(file.rows, row{cells: []string{day.Para.String(), tc.Compra.StringFixed(3), tc.Venta.StringFixed(3), tc.Fecha.String(), sinTasa(day)}})
	}
	if output != "" {
		if err := file.write(output, 0o644, nil, func(int) []string { return nil }); err != nil {
			return err
		}
	}
	return s.answer(days, allWell, func() {
		if output != "" {
			s.line("Salida: %s", terminal.Printable(output))
			return
		}
		s.line("Tipo de cambio de la SUNAT, %s de %d, en soles por dólar", months[month-1], year)
		s.line("  Día             Compra   Venta   Cierre")
		missing := ""
		for i, day := range days {
			cells := file.rows[i].cells
			s.line("  %-10s %3d  %7s %7s   %s", dayNames[day.Para.Weekday()], day.Para.Day(), cells[1], cells[2], cells[3])
			if missing != cells[4] && cells[4] != "" {
				s.field("", cells[4])
			}
			missing = cells[4]
		}
	})
}

// rucSUNAT is the tax authority's own RUC: it always exists.
const rucSUNAT = "20131312955"

func showQuota(ctx context.Context, s *session, args string) error {
	if args != "" {
		return s.wrong("cuota no lleva argumentos")
	}
	_, err := s.client.Contribuyentes.Consultar(ctx, rucSUNAT)
	q := s.quota()
	summary, exit := map[string]any{"quedan": q.left, "cuota": q.limit}, allWell
	switch spent := q.left == 0 && errors.Is(err, fiscope.ErrQuotaExceeded); {
	case err != nil && !spent:
		return err
	case q.left < 0:
		return errors.New("el servicio no dice cuántas consultas quedan")
	case q.left == 0:
		exit = problem
	}
	if !q.reset.IsZero() {
		summary["seRenueva"] = q.reset
	}
	return s.answer(summary, exit, func() {
		s.line("Quedan %s de %s consultas.", terminal.Thousands(q.left), terminal.Thousands(q.limit))
		if !q.reset.IsZero() {
			s.line("Se renuevan el %s.", inLima(q.reset))
		}
	})
}
