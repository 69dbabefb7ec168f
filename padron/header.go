package padron

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/scrub"
)

// The columns, in their order.
const (
	columnRUC = iota
	columnNombre
	columnEstado
	columnCondicion
	columnUbigeo
	columnTipoVia
	columnNombreVia
	columnTipoZona // under the title CÓDIGO DE ZONA
	columnNombreZona
	columnNumero
	columnInterior
	columnLote
	columnDepartamento // the flat
	columnManzana
	columnKilometro
	columns
)

// header is the first line of the file in UTF-8, with the | after its last column.
const header = "RUC|NOMBRE O RAZÓN SOCIAL|ESTADO DEL CONTRIBUYENTE|CONDICIÓN DE DOMICILIO|UBIGEO|TIPO DE VÍA|" +
	"NOMBRE DE VÍA|CÓDIGO DE ZONA|TIPO DE ZONA|NÚMERO|INTERIOR|LOTE|DEPARTAMENTO|MANZANA|KILÓMETRO|"

// checkHeader refuses the beginning of a text whose first line does not name the columns in order. The line may be
// UTF-8 or Windows-1252, with or without accents.
func checkHeader(beginning []byte) error {
	content := bytes.TrimSpace(bytes.TrimPrefix(beginning, []byte("\uFEFF")))
	switch {
	case len(content) == 0:
		return errors.New("it is blank: the download went wrong, try again")
	case content[0] == '<':
		return errors.New("it is a web page, and not the registry: the download went wrong, try again")
	case hasAnyPrefix(content, "PK\x03\x04"): // the text inside a zip is itself a zip
		return errors.New("it is a zip in a zip: unpack the outer one before")
	case hasAnyPrefix(content, "\x1f\x8b", "BZh", "7z\xbc\xaf", "\xfd7zXZ", "\x28\xb5\x2f\xfd", "Rar!"):
		return errors.New("it is compressed, and not as a zip: unpack it before")
	case hasAnyPrefix(content, "\xff\xfe", "\xfe\xff"):
		return errors.New("it is in UTF-16: give it as it is downloaded, in Windows-1252, or in UTF-8")
	}
	line, _, _ := bytes.Cut(bytes.TrimPrefix(beginning, []byte("\uFEFF")), []byte("\n"))
	if bytes.Contains(bytes.TrimSpace(line), []byte("\r")) {
		return errors.New("its lines end by CR alone: give it as it is downloaded")
	}
	if !utf8.Valid(line) {
		line = appendWindows1252(nil, line)
	}
	got := strings.Split(strings.TrimSuffix(strings.TrimSpace(string(line)), "|"), "|")
	if scrub.Digits(strings.TrimSpace(got[0])) {
		return errors.New("its first line is a row: the beginning of the registry, with its header, is missing: give the file as it is downloaded")
	}
	for i, want := range columnTitles {
		if i == len(got) {
			return fmt.Errorf("its first line is not the header of the registry: column %d, %s, is missing: %s", i+1, want, giveTheRegistry)
		}
		if title := strings.TrimSpace(got[i]); withoutAccents.Replace(title) != withoutAccents.Replace(want) {
			return fmt.Errorf("its first line is not the header of the registry: column %d is %q, and not %q: %s",
				i+1, scrub.Cut(scrub.AbridgeRUCs(title), 40), want, giveTheRegistry)
		}
	}
	if len(got) > len(columnTitles) {
		return fmt.Errorf("its first line is not the header of the registry: it has %d columns, and not %d: %s", len(got), len(columnTitles), giveTheRegistry)
	}
	return nil
}

const giveTheRegistry = "give SUNAT's padron_reducido_ruc.zip, or its text"

var columnTitles = strings.Split(strings.TrimSuffix(header, "|"), "|")

var withoutAccents = strings.NewReplacer("Á", "A", "É", "E", "Í", "I", "Ó", "O", "Ú", "U")

func hasAnyPrefix(text []byte, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return bytes.HasPrefix(text, []byte(p)) })
}
