package padron

import (
	"bytes"
	"context"
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/scrub"
)

// taxpayerRow is a taxpayer as written in a line of the file. Its texts are UTF-8, trimmed, "" if missing, and valid until the
// next row.
type taxpayerRow struct {
	line              int    // 1 is the header
	ruc               uint64 // 11 digits
	nombre            []byte
	estado, condicion []byte // as written: "-" stays
	ubigeo            []byte // as written, known or not
	calle             []byte // the address without the names of its places
}

// readRows reads the lines below a header and calls each for the rows that are taken. It counts odd rows in the report,
// except Duplicates. read gets the number of bytes read.
func readRows(ctx context.Context, in io.Reader, isUTF8 bool, report *Report, read func(bytes int), each func(*taxpayerRow) error) error {
	r := rowReader{isUTF8: isUTF8, report: report}
	return eachLine(ctx, in, read, func(line []byte) error {
		if r.row.line++; r.row.line == 1 || len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		if report.Rows++; !r.parse(line) {
			return nil
		}
		return each(&r.row)
	})
}

// rowReader reads lines, one after another.
type rowReader struct {
	isUTF8  bool // otherwise Windows-1252
	report  *Report
	row     taxpayerRow
	decoded []byte // the line in UTF-8, unless it is ASCII
	fields  [columns][]byte
}

// parse reads a line into the row, and reports whether it is taken.
func (r *rowReader) parse(line []byte) bool {
	at := r.row.line
	if len(line) > longestLine {
		r.report.odd(&r.report.TooLong, at, "a line of more than %d bytes", longestLine)
		return false
	}
	if !r.isUTF8 && !ascii(line) {
		r.decoded = appendWindows1252(r.decoded[:0], line)
		line = r.decoded
	}
	n, more := r.split(line)
	switch {
	case n < columns:
		r.report.odd(&r.report.TooFewFields, at, "%d of %d fields", n, columns)
		return false
	case more:
		r.report.odd(&r.report.TooLong, at, "more than %d fields", columns)
		return false
	}
	ruc, ok := parseRUC(trim(r.fields[columnRUC]))
	if !ok {
		r.report.odd(&r.report.BadRUC, at, "a RUC of %d characters that is not 11 digits", utf8.RuneCount(trim(r.fields[columnRUC])))
		return false
	}
	r.row.ruc = ruc
	r.row.nombre = r.field(columnNombre)
	r.row.estado = trim(r.fields[columnEstado])
	r.row.condicion = trim(r.fields[columnCondicion])
	r.row.ubigeo = r.field(columnUbigeo)
	r.composeCalle()
	if len(r.row.nombre) == 0 {
		r.report.odd(&r.report.WithoutName, at, "%s has no name", scrub.AbridgeRUC(string(trim(r.fields[columnRUC]))))
	}
	return true
}

// split finds the fields of a line. It returns how many there are, and whether something follows the last one. The last
// | may be missing after a field that is not empty.
func (r *rowReader) split(line []byte) (n int, more bool) {
	for n = range columns {
		end := bytes.IndexByte(line, '|')
		if end < 0 {
			if len(trim(line)) == 0 {
				return n, false
			}
			r.fields[n] = line
			return n + 1, false
		}
		r.fields[n], line = line[:end], line[end+1:]
	}
	return columns, len(trim(line)) > 0
}

// field returns the trimmed value of a column; nothing for "-", "----", "-.-" and the like.
func (r *rowReader) field(column int) []byte {
	f := r.fields[column]
	if len(f) == 1 && f[0] == '-' {
		return nil
	}
	f = trim(f)
	if len(f) > 0 && (f[0] == '-' || f[0] == '.') && bytes.IndexFunc(f, func(c rune) bool { return c != '-' && c != '.' && !unicode.IsSpace(c) }) < 0 {
		return nil
	}
	return f
}

// trim returns a text without leading and trailing blanks.
func trim(text []byte) []byte {
	if n := len(text); n > 0 && (inside(text[0]) && inside(text[n-1])) {
		return text
	}
	return bytes.TrimSpace(text)
}

// inside reports whether a byte is an ASCII character other than a blank.
func inside(c byte) bool { return ' ' < c && c < utf8.RuneSelf }

// parseRUC reads 11 ASCII digits.
func parseRUC(text []byte) (ruc uint64, ok bool) {
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		ruc = 10*ruc + uint64(c-'0')
	}
	return ruc, len(text) == 11
}
