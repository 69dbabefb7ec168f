package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"
	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
)

// printer prints for people in lines of 80 columns, or JSON.
type printer struct {
	out, err io.Writer
	asJSON   bool
	coloured bool
}

func newPrinter(cmd *cli.Command) printer {
	out := cmd.Root().Writer
	return printer{out, cmd.Root().ErrWriter, cmd.Bool("json"), terminal.Colours(out)}
}

func (p printer) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, format+"\n", args...) // stdout may be closed
}

// note prints a text on stderr, out of the way of programs that read stdout.
func (p printer) note(format string, args ...any) {
	p.out = p.err
	p.behind("", fmt.Sprintf(format, args...))
}

// behind prints a text behind a first column, on several lines if needed.
func (p printer) behind(first, text string) {
	width := utf8.RuneCountInString(first)
	for _, line := range fold(text, terminal.UsualColumns-width) {
		p.line("%s%s", first, line)
		first = strings.Repeat(" ", width)
	}
}

func (p printer) json(v any) error {
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// field prints a name and a value.
func (p printer) field(name, value string) { p.behind(fmt.Sprintf("  %-14s", name), value) }

// paint colours a text by its status.
func (p printer) paint(news status, text string) string {
	if !p.coloured {
		return text
	}
	return terminal.Colour(map[status]string{allWell: terminal.Green, problem: terminal.Red, unfinished: terminal.Yellow}[news], text)
}

// fold breaks a text between words into lines of at most width letters, and replaces control characters.
func fold(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch word = terminal.Printable(word); {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// shorten returns at most width letters of a text.
func shorten(text string, width int) string {
	if letters := []rune(terminal.Printable(text)); len(letters) > width {
		return string(letters[:width-1]) + "…"
	}
	return terminal.Printable(text)
}

// explain returns an error's meaning and remedy, in Spanish.
func explain(err error) string {
	e, stopped, file := (*fiscope.Error)(nil), (*fiscope.LoteDetenidoError)(nil), (*fs.PathError)(nil)
	text := fiscope.TextoParaUsuario(err)
	switch {
	case errors.As(err, &stopped) && errors.As(err, &file): // an answer could not be kept
		return terminal.InSpanish(file)
	case errors.Is(err, context.Canceled):
		return "Lo interrumpió una señal."
	case !errors.As(err, &e):
		return terminal.InSpanish(err)
	case errors.Is(err, fiscope.ErrSOLCredentialsBlocked):
		return text + " Si ahora es la correcta, use -olvidar-clave."
	case errors.Is(err, fiscope.ErrUnauthorized):
		return "El servicio rechaza la clave de API: revise FISCOPE_API_KEY."
	case errors.Is(err, fiscope.ErrMalformedResponse), errors.Is(err, fiscope.ErrRedirect):
		return "La respuesta no es la del servicio: revise FISCOPE_BASE_URL y los proxies."
	case e.RetryAfter > 0:
		return text + " Podrá seguir el " + inLima(time.Now().Add(e.RetryAfter)) + "."
	}
	return text
}

var (
	dayNames = [...]string{"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"}
	months   = [...]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "setiembre", "octubre", "noviembre", "diciembre"}
)

// inLima formats a time as local time in Lima.
func inLima(t time.Time) string {
	t = t.In(fiscope.Lima)
	return fmt.Sprintf("%s %s a las %s (Lima)", dayNames[t.Weekday()], inWords(fiscope.FechaEnLima(t)), t.Format("15:04"))
}

// inWords formats a day as 4 de mayo.
func inWords(day fiscope.Fecha) string {
	return fmt.Sprintf("%d de %s", day.Day(), months[day.Month()-1])
}

// inSoles formats an amount as S/ 28 320.00.
func inSoles(amount decimal.Decimal) string {
	whole, cents, _ := strings.Cut(amount.StringFixed(2), ".")
	digits := strings.TrimPrefix(whole, "-")
	n, _ := strconv.Atoi(digits)
	return "S/ " + strings.TrimSuffix(whole, digits) + terminal.Thousands(n) + "." + cents
}

// quota is what is known of a day's quota: -1 and a zero time for missing values.
type quota struct {
	left, limit int
	reset, at   time.Time
}

// quota returns the quota from the last answer.
func (s *session) quota() quota {
	unknown, q := -1, cmp.Or(s.client.RateLimit(), new(fiscope.RateLimit))
	return quota{*cmp.Or(q.Remaining, &unknown), *cmp.Or(q.Limit, &unknown), q.Reset, time.Now()}
}
