package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
)

func showRUC(ctx context.Context, cmd *cli.Command, text string) error {
	ruc, wrong := readRUC(text)
	if wrong != "" {
		return terminal.Wrong(errors.New("el RUC no es válido: "+wrong), cmd.Name)
	}
	s, err := connect(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	var resp fiscope.Response
	c, err := s.client.Contribuyentes.Consultar(ctx, ruc, fiscope.WithResponse(&resp))
	if err != nil {
		return err
	}
	if resp.Source == fiscope.SourceRespaldo {
		s.note("El servicio no responde: los datos son del padrón del %s.", fiscope.FechaEnLima(resp.AsOf))
	}
	if s.asJSON {
		err = s.json(c)
	} else {
		s.showContribuyente(c)
	}
	if err == nil && !c.ActivoYHabido() {
		return problem
	}
	return err
}

func (s *session) showContribuyente(c *fiscope.Contribuyente) {
	s.text("%s", c.RazonSocial)
	s.field("RUC", c.RUC)
	s.field("Estado", string(c.Estado))
	s.field("Condición", string(c.Condicion))
	for _, f := range []struct{ name, value string }{
		{"Dirección", c.Direccion}, {"Ubigeo", c.Ubigeo}, {"Distrito", c.Distrito}, {"Provincia", c.Provincia},
		{"Departamento", c.Departamento}, {"Tipo", c.Tipo}, {"Actividad", c.ActividadEconomica},
		{"Inscripción", c.FechaInscripcion.String()}, {"Inicio", c.FechaInicioActividades.String()},
	} {
		if f.value != "" && f.value != "-" {
			s.field(f.name, f.value)
		}
	}
	if c.ActivoYHabido() {
		s.line("  %s", s.paint(allWell, "✓ Activo y habido"))
	} else {
		s.line("  %s", s.paint(problem, "✗ No está activo y habido: puede perder el crédito fiscal"))
	}
}

func searchName(ctx context.Context, cmd *cli.Command) error {
	name := strings.Join(cmd.Args().Slice(), " ")
	if name == "" {
		return terminal.Wrong(errors.New("falta el nombre, o una parte de él"), cmd.Name)
	}
	s, err := connect(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	found, err := s.client.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: name, Limite: cmd.Int("limite")})
	switch {
	case err != nil:
		return err
	case s.asJSON:
		err = s.json(found)
	case len(found) == 0:
		s.line("Ningún contribuyente tiene «%s» en su nombre.", terminal.Printable(name))
	default:
		for _, c := range found {
			for i, line := range fold(fmt.Sprintf("%s (%s, %s)", c.RazonSocial, c.Estado, c.Condicion), terminal.UsualColumns-13) {
				s.line("%-13s%s", [...]string{c.RUC, ""}[min(i, 1)], line)
			}
		}
	}
	if err == nil && len(found) == 0 {
		return problem
	}
	return err
}

func showCPE(ctx context.Context, cmd *cli.Command, text string) error {
	c, err := readComprobante(text)
	if err != nil {
		return terminal.Wrong(errors.New(fiscope.TextoParaUsuario(err)), cmd.Name)
	}
	s, err := connect(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	v, err := s.client.CPE.Validar(ctx, c, fiscope.CredencialesSOL{})
	if err != nil {
		return err
	}
	if s.asJSON {
		err = s.json(v)
	} else {
		s.line("%s %s de %s", kinds[c.Tipo], c.SerieNumero(), c.RUCEmisor)
		s.field("Estado", fmt.Sprintf("%s (código %s)", v.Estado, v.Codigo))
		s.field("Mensaje", v.Mensaje)
		switch {
		case v.EsValido:
			s.line("  %s", s.paint(allWell, "✓ Válido"))
		case v.Codigo.Indeterminado():
			s.line("  %s", s.paint(unfinished, "? Todavía no se sabe: repita más tarde"))
		default:
			s.line("  %s", s.paint(problem, "✗ No es válido"))
		}
		if v.Codigo == fiscope.CodigoNoExiste && c.Advertencia() != "" {
			s.line("  ¿Está bien escrito? Esa serie no es la usual de ese tipo.")
		}
	}
	switch {
	case err != nil || v.EsValido:
		return err
	case v.Codigo.Indeterminado():
		return unfinished
	}
	return problem
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

func showRate(ctx context.Context, cmd *cli.Command) error {
	text := strings.TrimSpace(cmd.Args().First())
	month, notMonth := time.Parse("2006-01", text)
	fecha, err := readDate(text)
	switch wrong := notMonth != nil && err != nil; {
	case wrong && dateLike.MatchString(text):
		return terminal.Wrong(fmt.Errorf("no existe el día %s", text), cmd.Name)
	case wrong || cmd.NArg() > 1:
		return terminal.Wrong(errors.New("va una fecha como 2026-11-20 o 20/11/2026, o un mes como 2026-11"), cmd.Name)
	case notMonth != nil && cmd.String("salida") != "":
		return terminal.Wrong(errors.New("-salida va con un mes, como 2026-11"), cmd.Name)
	}
	s, err := connect(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	if notMonth == nil {
		return s.showMonth(ctx, month.Year(), month.Month(), cmd.String("salida"))
	}
	if text == "" {
		fecha = s.client.Hoy()
	}
	tc, err := s.client.TipoCambio.SUNAT(ctx, fecha)
	if err != nil {
		return rateError(err, text)
	}
	if s.asJSON {
		return s.json(tc)
	}
	s.line("Tipo de cambio de la SUNAT para un comprobante del %s", fecha)
	s.field("Compra", "S/ "+tc.TipoCambio.Compra.StringFixed(3))
	s.field("Venta", "S/ "+tc.TipoCambio.Venta.StringFixed(3))
	s.field("Cierre", tc.TipoCambio.Fecha.String()+" ("+tc.TipoCambio.Origen+")")
	if len(tc.SinTasa) > 0 {
		s.field("Atención", sinTasa(*tc))
	}
	return nil
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
func rateError(err error, text string) error {
	if e := (*fiscope.Error)(nil); errors.As(err, &e) && errors.Is(err, fiscope.ErrInvalidRequest) && e.Field == "fecha" {
		return terminal.Wrong(fmt.Errorf("no hay tipo de cambio de %s: va desde julio de 1991 hasta 31 días después de hoy", text), "tc")
	}
	return err
}

var dateLike = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}/[0-9]{1,2}/[0-9]{4})$`)

// readDate parses a date in the contract's form or as people write it; "" is not a date.
func readDate(text string) (fiscope.Fecha, error) {
	if text == "" {
		return fiscope.Fecha{}, nil
	}
	if t, err := time.Parse("2/1/2006", text); err == nil {
		return fiscope.NewFecha(t.Date()), nil
	}
	return fiscope.ParseFecha(text)
}

// showMonth shows SUNAT's table of a month, as far as it is published, or writes it to a file for a spreadsheet,
// which replaces only one of its own.
func (s *session) showMonth(ctx context.Context, year int, month time.Month, output string) error {
	const titles = "fecha;compra;venta;cierre;atención"
	if text, err := os.ReadFile(output); err == nil && !bytes.HasPrefix(text, []byte("\ufeff"+titles)) { //nolint:gosec // the user's own
		return fmt.Errorf("%s ya existe y no es de este programa: indique otra -salida", output)
	}
	file := &table{sep: ';', header: strings.Split(titles, ";"), width: 5}
	table := []fiscope.TipoCambioVigente{}
	for day, err := range s.client.TipoCambio.Mes(ctx, year, month, fiscope.WithTodosLosDias()) {
		if errors.Is(err, fiscope.ErrNotYetPublished) && len(table) > 0 {
			s.note("Desde el %s todavía no se publica.", day.Para)
			break
		}
		if err != nil {
			return rateError(err, fmt.Sprintf("%04d-%02d", year, month))
		}
		table = append(table, day)
		tc := day.TipoCambio
		file.rows = append(file.rows, row{cells: []string{day.Para.String(), tc.Compra.StringFixed(3), tc.Venta.StringFixed(3), tc.Fecha.String(), sinTasa(day)}})
	}
	if output != "" {
		if err := file.write(output, 0o644, nil, func(int) []string { return nil }); err != nil {
			return err
		}
	}
	switch {
	case s.asJSON:
		return s.json(table)
	case output != "":
		s.line("Salida: %s", terminal.Printable(output))
		return nil
	}
	s.line("Tipo de cambio de la SUNAT, %s de %d, en soles por dólar", months[month-1], year)
	s.line("  Día             Compra   Venta   Cierre")
	for i, day := range table {
		cells := file.rows[i].cells
		s.line("  %-10s %3d  %7s %7s   %s", days[day.Para.Weekday()], day.Para.Day(), cells[1], cells[2], cells[3])
		if cells[4] != "" && (i == 0 || day.TipoCambio.Fecha != table[i-1].TipoCambio.Fecha || len(day.SinTasa) != len(table[i-1].SinTasa)) {
			s.field("", cells[4])
		}
	}
	return nil
}

// rucSUNAT is the tax authority's own RUC: it always exists.
const rucSUNAT = "20131312955"

func showQuota(ctx context.Context, cmd *cli.Command) error {
	if cmd.NArg() > 0 {
		return terminal.Wrong(errors.New("cuota no lleva argumentos"), cmd.Name)
	}
	s, err := connect(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	_, err = s.client.Contribuyentes.Consultar(ctx, rucSUNAT)
	left, limit, reset := quota(s.client)
	switch spent := errors.Is(err, fiscope.ErrQuotaExceeded); {
	case err != nil && !(spent && left == 0):
		return err
	case left < 0:
		return errors.New("el servicio no dice cuántas consultas quedan")
	}
	if s.asJSON {
		summary := map[string]any{"quedan": left, "cuota": limit}
		if !reset.IsZero() {
			summary["seRenueva"] = reset
		}
		err = s.json(summary)
	} else {
		s.line("Quedan %s de %s consultas.", terminal.Thousands(left), terminal.Thousands(limit))
		if !reset.IsZero() {
			s.line("Se renuevan el %s.", inLima(reset))
		}
	}
	if left == 0 {
		return problem
	}
	return err
}
