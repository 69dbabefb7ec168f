package padron

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// taken is a row that outlives the next one.
type taken struct {
	Line                                     int
	RUC                                      uint64
	Nombre, Estado, Condicion, Ubigeo, Calle string
}

// readText reads a text with a header.
func readText(text string, isUTF8 bool) (rows []taken, report Report, err error) {
	err = readRows(context.Background(), strings.NewReader(text), isUTF8, &report, func(int) {}, func(r *taxpayerRow) error {
		rows = append(rows, taken{r.line, r.ruc, string(r.nombre), string(r.estado), string(r.condicion), string(r.ubigeo), string(r.calle)})
		return nil
	})
	return rows, report, err
}

// windows1252 is a text of characters below 0x100 in Windows-1252.
func windows1252(text string) string {
	var encoded []byte
	for _, r := range text {
		encoded = append(encoded, byte(r))
	}
	return string(encoded)
}

func TestRows(t *testing.T) {
	const rest = "ACTIVO|HABIDO|150101|AV.|UNO|URB.|DOS|10|-|-|-|-|-|"
	of := func(name string) taken {
		return taken{2, 20000000001, name, "ACTIVO", "HABIDO", "150101", "AV. UNO NRO. 10 URB. DOS"}
	}
	estado := func(estado, condicion string) taken {
		r := of("A")
		r.Estado, r.Condicion = estado, condicion
		return r
	}
	for name, test := range map[string]struct {
		line string
		want []taken
		odd  Report // its counts, except Rows
	}{
		"plain":                   {line: "20000000001|A|" + rest, want: []taken{of("A")}},
		"CRLF":                    {line: "20000000001|A|" + rest + "\r\n", want: []taken{of("A")}},
		"LF":                      {line: "20000000001|A|" + rest + "\n", want: []taken{of("A")}},
		"blank lines":             {line: "20000000001|A|" + rest + "\n\n\r\n  \n", want: []taken{of("A")}},
		"a CR inside":             {line: "20000000001|A\rB|" + rest, want: []taken{of("A\rB")}},
		"trimmed":                 {line: " 20000000001\t| \t A  B |" + rest, want: []taken{of("A  B")}},
		"a no-break space":        {line: "20000000001|\xa0A\xa0|" + rest, want: []taken{of("A")}},
		"Ñ and accents":           {line: "20000000001|" + windows1252("PEÑA NÚÑEZ") + "|" + rest, want: []taken{of("PEÑA NÚÑEZ")}},
		"0x80 to 0x9F":            {line: "20000000001|\x80 \x93A\x94 \x99|" + rest, want: []taken{of("€ “A” ™")}},
		"what stands for nothing": {line: "20000000001|A\x81|" + rest, want: []taken{of("A\uFFFD")}},
		"UTF-8 in one of many":    {line: "20000000001|PEÑA|" + rest, want: []taken{of("PEÃ‘A")}},
		"quotes":                  {line: `20000000001|"A" B's "C|` + rest, want: []taken{of(`"A" B's "C`)}},
		"NUL":                     {line: "20000000001|A\x00B|" + rest, want: []taken{of("A\x00B")}},
		"control bytes":           {line: "20000000001|A\x01\x1b[2J|" + rest, want: []taken{of("A\x01\x1b[2J")}},
		"dashes within":           {line: "20000000001|- EN LIQUIDACION -|" + rest, want: []taken{of("- EN LIQUIDACION -")}},
		"estado stays as written": {line: "20000000001|A|-|----|" + strings.TrimPrefix(rest, "ACTIVO|HABIDO|"), want: []taken{estado("-", "----")}},
		"estado is trimmed":       {line: "20000000001|A| BAJA DE OFICIO |  |" + strings.TrimPrefix(rest, "ACTIVO|HABIDO|"), want: []taken{estado("BAJA DE OFICIO", "")}},
		"a RUC of another prefix": {line: "00000000001|A|-|-|-|-|-|-|-|-|-|-|-|-|-|", want: []taken{{Line: 2, RUC: 1, Nombre: "A", Estado: "-", Condicion: "-"}}},
		"an unknown ubigeo":       {line: "20000000001|A|ACTIVO|-| 999999 |-|-|-|-|-|-|-|-|-|-|", want: []taken{{2, 20000000001, "A", "ACTIVO", "-", "999999", ""}}},
		"no end of the last":      {line: "20000000001|A|-|-|-|-|-|-|-|-|-|-|-|-|4", want: []taken{{2, 20000000001, "A", "-", "-", "", "KM. 4"}}},

		"no name":           {line: "20000000001||" + rest, want: []taken{of("")}, odd: Report{WithoutName: 1}},
		"a dash for it":     {line: "20000000001|-|" + rest, want: []taken{of("")}, odd: Report{WithoutName: 1}},
		"dashes and dots":   {line: "20000000001| -. - |" + rest, want: []taken{of("")}, odd: Report{WithoutName: 1}},
		"no-break spaces":   {line: "20000000001|-\xa0-\xa0|" + rest, want: []taken{of("")}, odd: Report{WithoutName: 1}},
		"14 fields":         {line: "20000000001|A|-|-|-|-|-|-|-|-|-|-|-|-|", odd: Report{TooFewFields: 1}},
		"14 and a blank":    {line: "20000000001|A|-|-|-|-|-|-|-|-|-|-|-|-| \r\n", odd: Report{TooFewFields: 1}},
		"one field":         {line: "20000000001", odd: Report{TooFewFields: 1}},
		"16 fields":         {line: "20000000001|A|B|" + rest, odd: Report{TooLong: 1}},
		"16, the last open": {line: "20000000001|A|" + rest + "B", odd: Report{TooLong: 1}},
		"8 KiB": {line: "20000000001|" + strings.Repeat("A", longestLine-12-len(rest)-1) + "|" + rest + "\r\n",
			want: []taken{of(strings.Repeat("A", longestLine-12-len(rest)-1))}},
		"more than 8 KiB":   {line: "20000000001|" + strings.Repeat("A", longestLine-12-len(rest)) + "|" + rest, odd: Report{TooLong: 1}},
		"cut after a CR":    {line: strings.Repeat("A", longestLine) + "\rB", odd: Report{TooLong: 1}},
		"3 MiB":             {line: "20000000001|" + strings.Repeat("A", 3<<20) + "|" + rest, odd: Report{TooLong: 1}},
		"10 digits":         {line: "2000000001|A|" + rest, odd: Report{BadRUC: 1}},
		"12 digits":         {line: "200000000012|A|" + rest, odd: Report{BadRUC: 1}},
		"30 digits":         {line: strings.Repeat("1", 30) + "|A|" + rest, odd: Report{BadRUC: 1}},
		"a letter":          {line: "2000000000A|A|" + rest, odd: Report{BadRUC: 1}},
		"a blank within":    {line: "20000 00001|A|" + rest, odd: Report{BadRUC: 1}},
		"no RUC":            {line: "-|A|" + rest, odd: Report{BadRUC: 1}},
		"a superscript":     {line: "2000000000\xb2|A|" + rest, odd: Report{BadRUC: 1}},
		"a header again":    {line: windows1252(header), odd: Report{BadRUC: 1}},
		"a mark of the end": {line: "\x1a", odd: Report{TooFewFields: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			rows, report, err := readText(windows1252(header)+"\n"+test.line, false)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(test.want, rows))
			first := report.First
			report.First = nil
			test.odd.Rows = 1
			assert.Equal(t, test.odd, report)
			if assert.Len(t, first, report.Odd()) && len(first) == 1 {
				assert.Equal(t, 2, first[0].Line)
				for _, shown := range []string{"20000000001", "2000000001", "AAAA", "1111"} {
					assert.NotContains(t, first[0].Why, shown)
				}
			}
		})
	}
}

func TestRowsInUTF8(t *testing.T) {
	rows, _, err := readText(header+"\n20000000001|\u00a0PEÑA €\u2003|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n", true)
	require.NoError(t, err)
	assert.Equal(t, []taken{{Line: 2, RUC: 20000000001, Nombre: "PEÑA €", Estado: "ACTIVO", Condicion: "HABIDO"}}, rows)
}

func TestFirstOddRowsAreNamed(t *testing.T) {
	text := windows1252(header) + "\n" + strings.Repeat("1|A|\n", firstShown+3) + "2|-|-|-|-|-|-|-|-|-|-|-|-|-|-|\n" +
		"20000000001||-|-|-|-|-|-|-|-|-|-|-|-|-|\n"
	_, report, err := readText(text, false)
	require.NoError(t, err)
	assert.Equal(t, []OddRow{
		{2, "2 of 15 fields"}, {3, "2 of 15 fields"}, {4, "2 of 15 fields"}, {5, "2 of 15 fields"}, {6, "2 of 15 fields"},
		{10, "a RUC of 1 characters that is not 11 digits"},
		{11, "20…001 has no name"},
	}, report.First)
	assert.Equal(t, firstShown+3, report.TooFewFields)
	assert.Equal(t, firstShown+5, report.Odd())
}

func TestReadingEndsWithTheFirstError(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	text := windows1252(header) + "\n" + strings.Repeat("20000000001|A|-|-|-|-|-|-|-|-|-|-|-|-|-|\n", 100_000)
	boom := errors.New("boom")
	read := func(ctx context.Context, each func(*taxpayerRow) error) (n int, err error) {
		err = readRows(ctx, strings.NewReader(text), false, &Report{}, func(int) {}, func(r *taxpayerRow) error {
			n++
			return each(r)
		})
		return n, err
	}
	t.Run("of each", func(t *testing.T) {
		n, err := read(t.Context(), func(*taxpayerRow) error { return boom })
		assert.Equal(t, boom, err)
		assert.Equal(t, 1, n)
	})
	t.Run("of the text", func(t *testing.T) {
		in := iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(text)))
		assert.ErrorIs(t, readRows(t.Context(), in, false, &Report{}, func(int) {}, func(*taxpayerRow) error { return nil }), iotest.ErrTimeout)
	})
	t.Run("of the context", func(t *testing.T) {
		n, err := read(ctx, func(*taxpayerRow) error { cancel(boom); return nil })
		assert.Equal(t, boom, err)
		assert.Less(t, n, 100_000)
	})
	t.Run("a panic", func(t *testing.T) {
		assert.Panics(t, func() { _, _ = read(t.Context(), func(*taxpayerRow) error { panic(boom) }) })
	})
	t.Run("a reader that does nothing", func(t *testing.T) {
		assert.ErrorContains(t, readRows(t.Context(), idle{}, false, &Report{}, func(int) {}, nil), "no data or error")
	})
}

// idle reads nothing, for ever.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// A row has no memory of its own.
func TestRowsCostNoAllocation(t *testing.T) {
	text := windows1252(header) + "\n" + strings.Repeat(windows1252("20000000001|PEÑA|ACTIVO|HABIDO|150101|AV.|UNO|URB.|DOS|10|-|-|-|-|-|\n"), 10_000)
	allocs := testing.AllocsPerRun(3, func() {
		_ = readRows(context.Background(), strings.NewReader(text), false, &Report{}, func(int) {}, func(*taxpayerRow) error { return nil })
	})
	assert.Less(t, allocs, 100.0)
}

func FuzzRows(f *testing.F) {
	f.Add([]byte(windows1252(header) + "\r\n20000000001|PE\xd1A|ACTIVO|HABIDO|150101|CAL.|UNO|URB.|DOS|10|-|-|-|-|-|\n"))
	f.Add([]byte(header + "\n20000000001|PEÑA|ACTIVO|HABIDO|150101|AV.|UNO|URB.|DOS|10|A|B|C|D|E"))
	f.Add([]byte("\n|||||||||||||||\n20000000001|||||||||||||||\n-|.|\x00\r\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		isUTF8 := utf8.Valid(text)
		rows, report, err := readText(string(text), isUTF8)
		require.NoError(t, err)
		assert.Equal(t, report.Rows, len(rows)+report.TooFewFields+report.TooLong+report.BadRUC)
		without := 0
		for _, r := range rows {
			assert.Less(t, r.RUC, uint64(1e11))
			assert.LessOrEqual(t, len(r.Nombre), 3*longestLine)
			for _, s := range []string{r.Nombre, r.Estado, r.Condicion, r.Ubigeo, r.Calle} {
				assert.True(t, utf8.ValidString(s))
				assert.NotContains(t, s, "\n")
				assert.NotContains(t, s, "|")
				assert.Equal(t, strings.TrimSpace(s), s)
			}
			if r.Nombre == "" {
				without++
			}
		}
		assert.Equal(t, report.WithoutName, without)
		lines := bytes.Split(text, []byte("\n"))
		n := 0
		for _, line := range lines[1:] {
			if len(bytes.TrimSpace(line)) > 0 {
				n++
			}
		}
		assert.Equal(t, n, report.Rows)
		_ = checkHeader(text)
	})
}
