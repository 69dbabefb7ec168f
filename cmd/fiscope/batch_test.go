package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/padrongen"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/padron"
)

// suppliers is a file as accounting programs write them: semicolons, Windows-1252 and a few mistakes.
const suppliers = "Proveedor;RUC;Monto\r\n" +
	"Supermercado;20100070970;1250,50\r\n" +
	"\"Pe\xf1a & N\xfa\xf1ez; asociados\";20999990011;380,00\r\n" +
	"El \xd1and\xfa;20999990020;99,90\r\n" +
	"Tubos de 3/4\" del Norte;'20331898008;15,00\r\n" +
	"RUC que no existe;20999999990;10,00\r\n" +
	"Un d\xedgito mal;20123456789;75,00\r\n" +
	"Redondeado;2,01E+10;75,00\r\n" +
	"Otra vez;20100070970;640,00\r\n" +
	"Sin RUC\r\n"

// column returns the cells of a column of a file that was written.
func columnOf(t *testing.T, file, title string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(text), "\ufeff")))
	r.Comma = ';'
	rows, err := r.ReadAll()
	require.NoError(t, err)
	var cells []string
	for _, row := range rows[1:] {
		for i, cell := range row {
			if rows[0][i] == title {
				cells = append(cells, cell)
			}
		}
	}
	return cells
}

func TestLote(t *testing.T) {
	srv := mockserver.New(t)
	environment(t, srv)
	write(t, "prov.csv", suppliers)
	stdout, stderr, got := execute(t, "lote", "prov.csv")
	assert.Equal(t, int(problem), got, stderr)
	assert.Equal(t, []string{"activo y habido", "activo y habido", "no activo o no habido", "activo y habido", "no existe",
		"fila con error", "fila con error", "activo y habido", "fila con error"}, columnOf(t, "prov.csv.lote.csv", "resultado"))
	assert.Equal(t, "PEÑA & NÚÑEZ ASOCIADOS DE PRUEBA S.A.C.", columnOf(t, "prov.csv.lote.csv", "razon_social")[1])
	assert.Equal(t, "Peña & Núñez; asociados", columnOf(t, "prov.csv.lote.csv", "Proveedor")[1])
	assert.Contains(t, stderr, "9 filas; por consultar: 5; con error: 3.")
	for _, says := range []string{
		"      4  activo y habido\n", "      1  no existe: nadie", "línea 8  Redondeado 2,01E+10 75,00", "la hoja de cálculo redondeó", "no tiene columna 2",
		"Consultas gastadas: 5, ahorradas: 1.", "Quedan hoy 99", "Salida: prov.csv.lote.csv",
	} {
		assert.Contains(t, stdout, says)
	}
	srv.AssertSpent(t, mockserver.Filter{}, 5)

	stdout, _, got = execute(t, "lote", "prov.csv", "-json")
	assert.Equal(t, int(problem), got)
	var printed struct {
		Filas, ConsultasGastadas, ConsultasAhorradas int
		Resultados                                   map[string]int
		Terminado                                    bool
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &printed))
	assert.Equal(t, 9, printed.Filas)
	assert.Zero(t, printed.ConsultasGastadas)
	assert.Equal(t, 6, printed.ConsultasAhorradas)
	assert.Equal(t, 3, printed.Resultados["fila con error"])
	assert.True(t, printed.Terminado)
	srv.AssertSpent(t, mockserver.Filter{}, 5)
}

// What ends a run is said, and another run asks for what is left and nothing else.
func TestLoteGoesOn(t *testing.T) {
	srv := mockserver.New(t)
	environment(t, srv)
	write(t, "prov.csv", "20100070970\n20999990011\n20331898008\n20131312955\n")
	require.NoError(t, srv.PutKey(secretKey, 2))
	stdout, stderr, got := execute(t, "lote", "prov.csv")
	assert.Equal(t, int(unfinished), got)
	assert.Contains(t, stdout, "pendiente: sin respuesta")
	assert.Contains(t, stderr, "Para seguir, repita el mismo comando")
	stdout, _, _ = execute(t, "lote", "prov.csv", "-json")
	assert.Contains(t, stdout, `"consultasQuedan": 0`)
	require.NoError(t, srv.PutKey(secretKey, 1000))

	// The write of an answer was cut by a kill.
	const kept = "prov.csv.lote.csv.jsonl"
	text, err := os.ReadFile(kept)
	require.NoError(t, err)
	write(t, kept, string(text)+`{"input":"20331898008","answ`)
	_, _, got = execute(t, "lote", "prov.csv")
	assert.Equal(t, int(allWell), got)
	srv.AssertCalls(t, mockserver.Filter{Status: 200}, 4)

	write(t, "prov.csv", "20100070970\n20999990020\n") // corrected, and one more
	_, _, got = execute(t, "lote", "prov.csv", "-reserva", "5")
	assert.Equal(t, int(problem), got)
	srv.AssertCalls(t, mockserver.Filter{Status: 200}, 5)
}

func TestLoteThatIsInterrupted(t *testing.T) {
	srv := mockserver.New(t)
	environment(t, srv)
	write(t, "prov.csv", "20100070970\n20999990011\n20331898008\n")
	held := srv.Fault(mockserver.Match{}, mockserver.Hold())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = srv.WaitRequests(ctx, mockserver.Filter{}, 1) // its error is the next assertion's
		cancel()
		held.Release()
	}()
	var stdout, stderr strings.Builder
	assert.Equal(t, int(unfinished), run(ctx, []string{"lote", "prov.csv"}, &stdout, &stderr))
	assert.Contains(t, stderr.String(), "Lo interrumpió una señal")
	assert.Equal(t, []string{"activo y habido", "pendiente", "pendiente"}, columnOf(t, "prov.csv.lote.csv", "resultado"), "what is paid is waited for")
}

func TestLoteRefuses(t *testing.T) {
	srv := mockserver.New(t)
	environment(t, srv)
	write(t, "prov.csv", "RUC\n20100070970\n")
	write(t, "otro.csv", "algo\n")
	write(t, "titulos.csv", "RUC\n")
	write(t, "mala.csv.jsonl", "algo\n")
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"to write over the input":  {[]string{"-salida", "./prov.csv"}, "no puede ser la entrada"},
		"to write over a file":     {[]string{"-salida", "otro.csv"}, "no es de este programa, o ya no están sus respuestas (otro.csv.jsonl)"},
		"a folder that is not":     {[]string{"-salida", "no/x.csv"}, "la carpeta no no existe"},
		"a column that is not":     {[]string{"-columna", "DNI"}, "no hay columna «DNI»; hay: RUC"},
		"a position that is not":   {[]string{"-columna", "2"}, "-columna va de 1 a 1"},
		"answers that are damaged": {[]string{"-salida", "mala.csv"}, "está dañado o es de otro programa. Puede renombrarlo y repetir: entonces todo se consulta y se paga otra vez"},
		"a separator of two signs": {[]string{"-sep", ";;"}, "-sep es un solo carácter"},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, got := execute(t, append([]string{"lote", "prov.csv"}, c.args...)...)
			assert.Equal(t, int(wrongUse), got)
			assert.Contains(t, strings.Join(strings.Fields(stderr), " "), c.says)
		})
	}
	_, stderr, _ := execute(t, "lote", "titulos.csv")
	assert.Contains(t, stderr, "titulos.csv: no tiene filas")
	srv.AssertCalls(t, mockserver.Filter{}, 0)

	// Ten rows with one's own RUC are another column's.
	t.Setenv("FISCOPE_SOL_RUC", "20131312955")
	write(t, "own.csv", "RUC\n"+strings.Repeat("20131312955\n", 10))
	_, stderr, _ = execute(t, "lote", "own.csv")
	assert.Contains(t, strings.Join(strings.Fields(stderr), " "), "es el RUC de usted en todas las filas, y no el de los emisores: indique su columna con -columna N")
	_, stderr, got := execute(t, "lote", "own.csv", "-columna", "1")
	assert.Equal(t, int(allWell), got, stderr)

	// Answers of one service are none of another's.
	_, _, got = execute(t, "lote", "prov.csv")
	assert.Equal(t, int(allWell), got)
	other := mockserver.New(t)
	t.Setenv("FISCOPE_BASE_URL", other.URL)
	_, stderr, got = execute(t, "lote", "prov.csv")
	assert.Equal(t, int(wrongUse), got)
	assert.Contains(t, stderr, "indique otra -salida")
	_, _, got = execute(t, "lote", "prov.csv", "-mock")
	assert.Equal(t, int(allWell), got)
	assert.FileExists(t, "prov.csv.lote-mock.csv")
}

func TestFindRUC(t *testing.T) {
	for name, c := range map[string]struct {
		rows   [][]string
		asked  string
		column int
		rest   int
		says   string
	}{
		"its title":                 {[][]string{{"RUC emisor", "x"}, {"", "20131312955"}}, "", 0, 1, ""},
		"the one with RUCs":         {[][]string{{"a", "b"}, {"12345678901", ""}, {"12345678901", "20131312955"}}, "", 0, 2, ""},
		"without titles":            {[][]string{{"x", "20131312955"}}, "", 1, 1, ""},
		"the only column":           {[][]string{{"2013131295"}}, "", 0, 1, ""},
		"of two titles":             {[][]string{{"RUC", "RUC proveedor"}, {"", "20131312955"}}, "", 1, 1, ""},
		"as asked by title":         {[][]string{{"RUC", "Número"}, {"1", "20131312955"}}, "numero", 1, 1, ""},
		"as asked by position":      {[][]string{{"20100070970", "20131312955"}}, "2", 1, 1, ""},
		"two that could be":         {[][]string{{"20100070970", "20131312955"}}, "", 0, 0, "las columnas 1 y 2 pueden ser"},
		"none":                      {[][]string{{"a", "b"}}, "", 0, 0, "no se ve la columna"},
		"a rounded one is no title": {[][]string{{"2,01E+10"}}, "", 0, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			table := &table{}
			for i, cells := range c.rows {
				table.rows, table.width = append(table.rows, row{i + 1, cells}), max(table.width, len(cells))
			}
			column, err := table.findRUC(c.asked)
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, columns{colIssuer: c.column}, column)
			assert.Len(t, table.rows, c.rest)
		})
	}
}

const purchases = "rucEmisor;tipo;comprobante;importe;proveedor\n" +
	"20100070970;01;F001-00000123;1180.00;SUPERMERCADO\n" +
	"20999990020;factura;F001-7;590.00;EL ÑANDÚ\n" +
	"20100070970;1;f001-123;1180.00;OTRA VEZ\n" +
	"20100070970;01;F001-124;;\n20100070970;01;F001-125;;\n20100070970;01;F001-126;;\n20100070970;01;F001-127;;\n" +
	"2010007097;01;F001-128;;\n20100070970;02;E001-15;;\n20331898008;01;F00100000043;;\n"

func TestCompras(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithComprobantes(mockserver.Factura("20999990020", "F001", 7)))
	environment(t, srv)
	write(t, "compras.csv", purchases)
	stdout, stderr, got := execute(t, "compras", "compras.csv")
	assert.Equal(t, int(unfinished), got, stderr)
	want := []string{"se puede pagar", "aceptado con reparo", "repetido", "anulado", "pendiente", "no existe", "pendiente", "fila con error", "no se valida", "fila con error"}
	assert.Equal(t, want, columnOf(t, "compras.csv.compras.csv", "resultado"))
	assert.Equal(t, "el emisor está ACTIVO, NO HABIDO", columnOf(t, "compras.csv.compras.csv", "detalle")[1])
	for _, says := range []string{"      1  se puede pagar (S/ 1 180.00): aceptado", "línea 5  20100070970 01 F001-00000124", "línea 9  2010007097 01 F001-128\n", "el mismo comprobante de la línea 2", "solo se validan 01, 03, 07 y 08", "Consultas gastadas: 8,"} {
		assert.Contains(t, stdout, says)
	}
	srv.AssertSpent(t, mockserver.Filter{Op: mockserver.OpConsultar}, 2) // each issuer once

	// What may change is asked again, and nothing else.
	require.NoError(t, srv.PutComprobante(mockserver.Factura("20100070970", "F001", 125)))
	_, _, _ = execute(t, "compras", "compras.csv")
	want[4] = "se puede pagar"
	assert.Equal(t, want, columnOf(t, "compras.csv.compras.csv", "resultado"))
	srv.AssertSpent(t, mockserver.Filter{}, 8+3)
}

// Only what is known to be good is good.
func TestComprasWithoutAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		fault  func(*mockserver.Server)
		status status
		want   string
	}{
		"no receipt": {func(s *mockserver.Server) {
			s.Fault(mockserver.Match{Op: mockserver.OpValidar}, mockserver.Status(400))
		}, unfinished, "pendiente"},
		"a lost answer": {func(s *mockserver.Server) {
			s.Fault(mockserver.Match{Op: mockserver.OpValidar}, mockserver.ResetBefore)
		}, unfinished, "pendiente"},
		"no issuer": {func(s *mockserver.Server) {
			s.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(400))
		}, unfinished, "pendiente"},
		"nobody's RUC":    {func(s *mockserver.Server) { _ = s.DeleteContribuyente("20100070970") }, problem, "aceptado con reparo"},
		"a refused clave": {func(s *mockserver.Server) { _ = s.DeleteUsuarioSOL(mockserver.RUCSolicitante, "SECUND01") }, wrongUse, "pendiente"},
		"no quota":        {func(s *mockserver.Server) { _ = s.PutKey(secretKey, 0) }, unfinished, "pendiente"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := mockserver.New(t)
			environment(t, srv)
			write(t, "compras.csv", "20100070970;01;F001-123\n")
			c.fault(srv)
			_, stderr, got := execute(t, "compras", "compras.csv")
			assert.Equal(t, int(c.status), got, stderr)
			assert.Equal(t, []string{c.want}, columnOf(t, "compras.csv.compras.csv", "resultado"))
		})
	}
}

// Each state, with the soles of its rows.
func TestStatesAndSoles(t *testing.T) {
	note := mockserver.Factura("20331898008", "F001", 9)
	note.Tipo = "07"
	debit := mockserver.Factura("20100070970", "F001", 8)
	debit.Tipo = "08"
	srv := mockserver.New(t, mockserver.WithComprobantes(note, debit))
	environment(t, srv)
	write(t, "c.csv", "RUC;Tipo;Serie;Número;Total;Moneda\n20100070970;01;F001;123;28,320.00;PEN\n20100070970;08;F001;8;S/ 118.00;\n20331898008;07;F001;9;-50.00;PEN\n"+
		"20100070970;14;S001;7;80.50;PEN\n;91;;E-55;100;USD\n20100070970;50;;;1,5;PEN\n20100070970;01;F001;125;100;USD\n45678912;01;F001;1;2;PEN\n20-10007097-0;77;F001;1;2;PEN\n")
	stdout, stderr, got := execute(t, "compras", "c.csv")
	assert.Equal(t, int(unfinished), got, stderr)
	assert.Equal(t, []string{"se puede pagar", "se puede pagar", "válida", "no se valida", "no se valida", "no se valida", "pendiente", "fila con error", "fila con error"},
		columnOf(t, "c.csv.compras.csv", "resultado"))
	for _, says := range []string{
		"      2  se puede pagar (S/ 28 438.00): aceptado", "      1  válida (S/ -50.00): nota", "      1  pendiente: no lo pague", "es un DNI; su RUC sería 10456789124", "tipo «77»",
	} {
		assert.Contains(t, stdout, says)
	}
	assert.Regexp(t, `3  no se valida \(S/ 82\.00\): .*\n\nFilas`, stdout, "it is listed last")
	assert.Contains(t, stderr, "RUC: «RUC» (1), tipo: «Tipo» (2), serie: «Serie» (3), número: «Número» (4)")
	assert.Contains(t, stderr, "9 filas; por consultar: 5; con error: 2.")
	srv.AssertSpent(t, mockserver.Filter{Op: mockserver.OpConsultar}, 1) // a credit note needs no issuer
	stdout, _, _ = execute(t, "compras", "c.csv", "-json")
	assert.Contains(t, stdout, `"se puede pagar": 28438.00`)

	write(t, "d.csv", "RUC;Tipo;Comprobante;Total;Moneda\n20100070970;14;S001-7;;\n20100070970;01;F001-123;100;PEN\n20100070970;08;F001-8;100;USD\n20331898008;07;F001-9;;\n")
	stdout, _, got = execute(t, "compras", "d.csv")
	assert.Contains(t, stdout, "se puede pagar (S/ 100.00, y 1 sin importe en soles)")
	assert.Equal(t, int(allWell), got)
}

// Without a Reset, or with one that cannot be, no hour is printed.
func TestNoReset(t *testing.T) {
	for _, reset := range []string{"", "1970-01-01T00:00:00Z", "mañana"} {
		environment(t, nil)
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.Contains(t, r.UserAgent(), "fiscope-cli")
			w.Header().Set("X-RateLimit-Remaining", "45")
			w.Header().Set("X-RateLimit-Limit", "50")
			w.Header().Set("X-RateLimit-Reset", reset)
			_, _ = io.WriteString(w, `{"ruc":"20131312955","razonSocial":"SUNAT","estado":"ACTIVO","condicion":"HABIDO"}`)
		}))
		t.Setenv("FISCOPE_BASE_URL", service.URL)
		write(t, "a.csv", "20131312955\n")
		stdout, _, _ := execute(t, "lote", "a.csv")
		assert.Contains(t, stdout, "\nQuedan hoy 45.\n")
		for _, args := range [][]string{{"cuota"}, {"cuota", "-json"}} {
			more, _, _ := execute(t, args...)
			stdout += more
		}
		assert.NotContains(t, stdout, "renuevan")
		assert.NotContains(t, stdout, "seRenueva")
		service.Close()
	}
}

func TestReadSoles(t *testing.T) {
	for _, c := range []struct{ amount, currency, want string }{
		{"1180", "", "1180"}, {"1,180.00", "PEN", "1180"}, {"S/. 1 180.50", "Soles", "1180.5"}, {"S/1180", "S/", "1180"}, {"1.180,50", "", "1180.5"}, {"1180,5", "", "1180.5"},
		{"12,345,678.90", "", "12345678.9"}, {"-118.00", "PEN", "-118"}, {"1,180", "", "1180"}, {"0.1000", "", "0.1"},
		{"1.180", "", ""}, {"100", "USD", ""}, {"US$ 100", "", ""}, {"$100", "", ""}, {"", "", ""}, {"TOTAL", "", ""}, {"1,18,0", "", ""},
	} {
		got := readSoles(c.amount, c.currency)
		assert.Equal(t, c.want != "", got.Valid, c.amount)
		if got.Valid {
			assert.Equal(t, c.want, got.Decimal.String(), c.amount)
		}
	}
}

// Nothing is asked or written; what the last run noted of the quota is shown.
func TestSimular(t *testing.T) {
	srv := mockserver.New(t)
	environment(t, srv)
	write(t, "c.csv", purchases)
	stdout, _, got := execute(t, "compras", "c.csv", "-simular")
	assert.Equal(t, int(allWell), got)
	for _, says := range []string{
		"RUC: «rucEmisor» (1), tipo: «tipo» (2), comprobante: «comprobante» (3)", "c.csv: 10 filas; por consultar: 8; con error: 2.", "línea 11",
		"a lo más: comprobantes 6, emisores 2. No se hizo ninguna.", "No se sabe cuántas consultas quedan.",
	} {
		assert.Contains(t, strings.Join(strings.Fields(stdout), " "), says)
	}
	assert.NoFileExists(t, "c.csv.compras.csv.jsonl")
	srv.AssertCalls(t, mockserver.Filter{}, 0)

	_, _, _ = execute(t, "compras", "c.csv")
	calls := len(srv.Requests())
	kept, err := os.ReadFile("c.csv.compras.csv.jsonl")
	require.NoError(t, err)
	stdout, _, _ = execute(t, "compras", "c.csv", "-simular")
	assert.Regexp(t, `a lo más: comprobantes 4, emisores 1\.`, stdout)
	assert.Regexp(t, `Quedaban 99\d consultas el \pL+ \d+ de [a-z]+ a las \d\d:\d\d \(Lima\)\.`, stdout)
	stdout, _, _ = execute(t, "compras", "c.csv", "-simular", "-json")
	var printed struct {
		Filas, ConError, ConsultasQuedaban int
		Columnas                           string
		PorConsultar                       map[string]int
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &printed))
	assert.Equal(t, 4, printed.PorConsultar["comprobantes"])
	assert.Contains(t, printed.Columnas, "comprobante: «comprobante» (3)")
	srv.AssertCalls(t, mockserver.Filter{}, calls)
	after, err := os.ReadFile("c.csv.compras.csv.jsonl")
	require.NoError(t, err)
	assert.Equal(t, string(kept), string(after))
}

// While the service is away a copy of the registry answers, and says so.
func TestARegistryAtHand(t *testing.T) {
	srv := mockserver.New(t)
	environment(t, srv)
	var text bytes.Buffer
	_, err := padrongen.Generate(&text, 500, 1)
	require.NoError(t, err)
	write(t, "padron.txt", text.String())
	_, err = padron.Import(t.Context(), "padron.txt", "padron.idx", padron.ImportOptions{})
	require.NoError(t, err)
	ruc := regexp.MustCompile(`(?m)^(20\d{9})\|`).FindStringSubmatch(text.String())[1]
	require.NoError(t, srv.Close())
	stdout, stderr, got := execute(t, "ruc", ruc, "-padron", "padron.idx")
	assert.NotEqual(t, int(unfinished), got, stderr)
	assert.Contains(t, stdout, ruc)
	assert.Contains(t, stderr, "los datos son del padrón del")
}
