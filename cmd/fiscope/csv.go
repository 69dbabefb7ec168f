package main

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fiscope/fiscope/cmd/internal/wholefile"
	"github.com/fiscope/fiscope/internal/charset"
)

// table is a CSV.
type table struct {
	sep    rune
	header []string // nil if there is none
	rows   []row
	width  int // number of cells in the widest row
}

// row is a record, with the line where it begins.
type row struct {
	line  int
	cells []string
}

// String returns the cells on one line.
func (r row) String() string { return strings.Join(strings.Fields(strings.Join(r.cells, " ")), " ") }

// readTable reads a file in UTF-8 or Windows-1252. If sep is "", it detects the separator.
func readTable(path, sep string) (*table, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the user's own file
	if err != nil {
		return nil, err
	}
	text, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t := &table{}
	first, rest, _ := strings.Cut(text, "\n")
	if m := sepLine.FindStringSubmatch(first); m != nil {
		t.sep, text = rune(m[1][0]), "\n"+rest // keep the line numbers
	}
	switch {
	case sep == "tab" || sep == `\t`:
		t.sep = '\t'
	case utf8.RuneCountInString(sep) == 1 && !strings.ContainsAny(sep, "\"\r\n\ufffd"):
		t.sep, _ = utf8.DecodeRuneInString(sep)
	case sep != "":
		return nil, errors.New("-sep es un solo carácter, o tab")
	case t.sep == 0:
		t.sep = separatorOf(text)
	}
	for r := range records(text, t.sep) {
		if strings.TrimSpace(strings.Join(r.cells, "")) != "" { // skip lines of separators, which spreadsheets write
			t.rows = append(t.rows, r)
			t.width = max(t.width, len(r.cells))
		}
	}
	if len(t.rows) == 0 {
		return nil, fmt.Errorf("%s no tiene filas", path)
	}
	return t, nil
}

// takeHeader makes the first row the header.
func (t *table) takeHeader() { t.header, t.rows = t.rows[0].cells, t.rows[1:] }

// decode returns the text of a file. If it is not valid UTF-8, it is Windows-1252, as spreadsheets in Peru write it.
func decode(data []byte) (string, error) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return "", errors.New("está en UTF-16: guárdelo como «CSV UTF-8»")
	}
	if bytes.HasPrefix(data, []byte("PK\x03\x04")) || bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0")) {
		files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err == nil && !slices.ContainsFunc(files.File, func(f *zip.File) bool { return f.Name == "[Content_Types].xml" || f.Name == "content.xml" }) {
			return "", errors.New("es un zip: descomprímalo")
		}
		return "", errors.New("es un libro de Excel: guárdelo como «CSV UTF-8»")
	}
	text := string(charset.UTF8(bytes.TrimRight(data, "\x1a"))) // the end-of-file mark of DOS programs
	if !strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\r", "\n") // old Mac line ends
	}
	return text, nil
}

// sepLine is a first line that Excel interprets and does not show.
var sepLine = regexp.MustCompile(`^(?i)"?sep=([;,\t|])"?[;,\t|]*\r?$`)

// separatorOf returns the separator that most often splits the first lines into equally many cells, and into most cells.
func separatorOf(text string) rune {
	const sampleRows = 20
	best, most := ';', 0
	for _, sep := range ";,\t|" {
		same, cells, seen := 0, 0, 0
		for r := range records(text, sep) {
			if seen++; seen == 1 {
				cells = len(r.cells)
			}
			if cells > 1 && len(r.cells) == cells {
				same++
			}
			if seen == sampleRows {
				break
			}
		}
		if score := same*1000 + cells; same > 0 && score > most {
			best, most = sep, score
		}
	}
	return best
}

// records reads a CSV. A quote that is never closed affects only its own line, where it is an ordinary letter.
func records(text string, sep rune) iter.Seq[row] {
	return func(yield func(row) bool) {
		for line := 1; text != ""; {
			r := newReader(text, sep, false)
			for {
				begins := r.InputOffset()
				cells, err := r.Read()
				if err == nil && !swallowed(cells, sep) {
					at, _ := r.FieldPos(0)
					if !yield(row{line + at - 1, cells}) {
						return
					}
					continue
				}
				blank := len(text[begins:]) - len(strings.TrimLeft(text[begins:], "\r\n"))
				line += strings.Count(text[:int(begins)+blank], "\n")
				var first string
				if first, text, _ = strings.Cut(text[int(begins)+blank:], "\n"); first == "" {
					return // end of file
				}
				if cells, err = newReader(first, sep, true).Read(); err != nil || len(cells) != 1+strings.Count(first, string(sep)) {
					cells = strings.Split(strings.TrimRight(first, "\r"), string(sep)) // the quote hid the separators
				}
				if !yield(row{line, cells}) {
					return
				}
				line++
				break
			}
		}
	}
}

func newReader(text string, sep rune, lazy bool) *csv.Reader {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = sep, lazy, -1
	return r
}

// swallowed reports whether a cell contains a whole row: its quote was never closed, and the closing quote found belongs to
// another row.
func swallowed(cells []string, sep rune) bool {
	return slices.ContainsFunc(cells, func(cell string) bool {
		return strings.Contains(cell, "\n") && slices.ContainsFunc(strings.FieldsFunc(cell, func(r rune) bool {
			return r == '\n' || r == '\r' || r == sep
		}), func(part string) bool { return elevenDigits.MatchString(asWritten(part)) })
	})
}

// write writes the rows, with more cells at the end of each, made harmless. It replaces the file, in UTF-8 with the byte order
// mark that Excel needs.
func (t *table) write(path string, mode os.FileMode, titles []string, more func(i int) []string) error {
	return notWritable(path, wholefile.Write(path, mode, func(out io.Writer) error {
		_, _ = io.WriteString(out, "\ufeff") // a full disk fails below too
		w := csv.NewWriter(out)
		w.Comma, w.UseCRLF = t.sep, true
		own := slices.Clone(t.header)
		for len(own) < t.width {
			own = append(own, fmt.Sprintf("columna_%d", len(own)+1))
		}
		_ = w.Write(append(own, titles...)) // Error has it
		for i, r := range t.rows {
			cells := append(slices.Clone(r.cells), make([]string, t.width-len(r.cells))...)
			for _, cell := range more(i) {
				cells = append(cells, harmless(cell)) // the input's own are copied unchanged
			}
			_ = w.Write(cells)
		}
		w.Flush()
		return w.Error()
	}))
}

var (
	elevenDigits = regexp.MustCompile(`^[0-9]{11}$`)
	onlyDigits   = regexp.MustCompile(`^[0-9]+$`)
	zeroFirst    = regexp.MustCompile(`^0[0-9]+$`)
	decimals     = regexp.MustCompile(`^([0-9]+)[.,](0|00|0{4,})$`) // with three, 1,000 is a thousand
	exponent     = regexp.MustCompile(`^([0-9])[.,]([0-9]{10})[eE]\+?10$`)
	rounded      = regexp.MustCompile(`^[0-9][.,]?[0-9]*[eE]\+?[0-9]+$`)
)

// asWritten removes what spreadsheets and data frames add to a number: blanks, an apostrophe, ="...", a decimal point, an
// exponent after all 11 digits of a RUC. With fewer digits the number was rounded, and stays unchanged. So does an invisible
// letter, which may replace a digit.
func asWritten(cell string) string {
	cell = strings.TrimPrefix(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Zs, unicode.Cf) {
			return -1
		}
		return r
	}, cell), "'")
	if inside, ok := strings.CutPrefix(cell, `="`); ok {
		cell = strings.TrimSuffix(inside, `"`)
	}
	return strings.TrimSpace(exponent.ReplaceAllString(decimals.ReplaceAllString(cell, "$1"), "$1$2"))
}

// harmless keeps a spreadsheet from running a cell as a formula (CSV injection): a business name can be any text. The
// registry's "-" for missing values stays. A code becomes a formula with a text, since 010101 would be the number 10101.
func harmless(cell string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(cell, " "))
	switch {
	case zeroFirst.MatchString(cell):
		return `="` + cell + `"`
	case cell != "-" && strings.ContainsRune("=+-@\t\r＝＋－＠", first):
		return "'" + cell
	}
	return cell
}

// unaccented maps accented letters for plain.
var unaccented = strings.NewReplacer("á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ü", "u", "ñ", "n")

// plain returns only the letters and digits of a text, in lower case and without accents: "Serie-Número" and "SERIE NUMERO"
// are the same title.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, unaccented.Replace(strings.ToLower(s)))
}
