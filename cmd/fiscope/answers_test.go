package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// older makes the answers in a file that match a pattern that many days older.
func older(t *testing.T, file, pattern string, days int) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	asOf := regexp.MustCompile(`(?m)(^.*` + pattern + `.*"asOf":")([^"]+)`)
	write(t, file, asOf.ReplaceAllStringFunc(string(text), func(line string) string {
		parts := asOf.FindStringSubmatch(line)
		at, err := time.Parse(time.RFC3339, parts[2])
		require.NoError(t, err)
		return parts[1] + at.AddDate(0, 0, -days).Format(time.RFC3339)
	}))
}

func daysAgo(n int) string { return fiscope.HoyEnLima().SumarDias(-n).String() }

const threePurchases = "rucEmisor;tipo;comprobante\n20100070970;01;F001-123\n20331898008;01;E001-42\n20331898008;01;E001-43\n"

// A receipt that was voided since, and an issuer that is NO HABIDO since, are not to be paid by what they were.
func TestAnAnswerThatIsTooOld(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithComprobantes(mockserver.Factura("20331898008", "E001", 43)))
	environment(t, srv)
	write(t, "c.csv", threePurchases)
	const kept, output = "c.csv.compras.csv.jsonl", "c.csv.compras.csv"
	_, stderr, got := execute(t, "compras", "c.csv")
	require.Equal(t, int(allWell), got, stderr)
	older(t, kept, "", 8)
	older(t, kept, "E001-00000043", 2) // the oldest
	before, err := os.ReadFile(kept)
	require.NoError(t, err)
	void := mockserver.Factura("20100070970", "F001", 123)
	void.Codigo = mockserver.CodigoAnulado
	require.NoError(t, srv.PutComprobante(void, mockserver.Factura("20999990011", "F001", 7)))
	require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20331898008", RazonSocial: "LUZ", Estado: "ACTIVO", Condicion: "NO HABIDO"}))
	write(t, "c.csv", threePurchases+"20999990011;01;F001-7\n")

	// The quota suffices for what was never asked, and for the oldest answer.
	require.NoError(t, srv.PutKey(secretKey, 5+3))
	stdout, stderr, got := execute(t, "compras", "c.csv", "-memoria", t.TempDir()) // another one knows of a larger quota
	assert.Equal(t, int(unfinished), got)
	assert.Equal(t, []string{"pendiente", "pendiente", "pendiente", "se puede pagar"}, columnOf(t, output, "resultado"))
	assert.Equal(t, []string{daysAgo(8), daysAgo(8), daysAgo(8), daysAgo(0)}, columnOf(t, output, "consultado"))
	assert.Equal(t, "falta preguntar otra vez: la respuesta es del "+daysAgo(8)+" (-dias 7).", columnOf(t, output, "detalle")[0])
	assert.Contains(t, stderr, "c.csv: 4 filas; por consultar: 7; con error: 0.\n")
	assert.NotContains(t, stdout, "Respuestas de otro día")

	// What cannot be asked again for another reason keeps its day, and says why.
	require.NoError(t, srv.PutKey(secretKey, 1000))
	fault := srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(400))
	_, _, got = execute(t, "compras", "c.csv")
	assert.Equal(t, int(unfinished), got)
	assert.Equal(t, []string{"anulado", "pendiente", "pendiente", "se puede pagar"}, columnOf(t, output, "resultado"))
	assert.Equal(t, []string{daysAgo(0), daysAgo(8), daysAgo(8), daysAgo(0)}, columnOf(t, output, "consultado"))
	assert.Regexp(t, `\(-dias 7\)\. .*no es válid`, columnOf(t, output, "detalle")[1])
	fault.Remove()

	_, _, got = execute(t, "compras", "c.csv")
	assert.Equal(t, int(problem), got)
	assert.Equal(t, []string{"anulado", "aceptado con reparo", "aceptado con reparo", "se puede pagar"}, columnOf(t, output, "resultado"))
	after, err := os.ReadFile(kept)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(after), string(before)), "no answer is deleted")
	calls := len(srv.Requests())
	_, _, _ = execute(t, "compras", "c.csv", "-dias", "0")
	assert.Len(t, srv.Requests(), calls, "of today")
}

// What was never asked goes first, receipts and issuers; then come the oldest answers.
func TestWhatIsAskedFirst(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithComprobantes(mockserver.Factura("20331898008", "E001", 43), mockserver.Factura("20999990011", "F001", 7)))
	environment(t, srv)
	write(t, "c.csv", threePurchases)
	_, _, _ = execute(t, "compras", "c.csv")
	older(t, "c.csv.compras.csv.jsonl", "", 8)
	older(t, "c.csv.compras.csv.jsonl", "E001-00000042", 2)
	older(t, "c.csv.compras.csv.jsonl", "E001-00000043", 1)
	write(t, "c.csv", threePurchases+"20999990011;01;F001-7\n")
	asked := len(srv.Requests())
	_, _, _ = execute(t, "compras", "c.csv")
	var order []string
	for _, r := range srv.Requests()[asked:] {
		order = append(order, fmt.Sprint(r.Op, " ", r.RUC))
	}
	assert.Equal(t, []string{"validar 20999990011", "consultar 20999990011"}, order[:2])
	assert.Equal(t, "validar 20331898008", order[2], "the oldest")
	assert.ElementsMatch(t, []string{"validar 20331898008", "validar 20100070970", "consultar 20331898008", "consultar 20100070970"}, order[3:])
}

// A row has the older day of what it rests on, and the report counts the answers of another day.
func TestAnswersOfAnotherDay(t *testing.T) {
	srv := mockserver.New(t)
	environment(t, srv)
	write(t, "c.csv", "20100070970;01;F001-123\n20100070970;01;F001-124\n20331898008;01;E001-42\n")
	_, _, _ = execute(t, "compras", "c.csv")
	const kept = "c.csv.compras.csv.jsonl"
	older(t, kept, `"20100070970"`, 3)
	older(t, kept, "E001-00000042", 5)
	calls := len(srv.Requests())
	stdout, _, _ := execute(t, "compras", "c.csv")
	assert.Equal(t, []string{daysAgo(3), daysAgo(0), daysAgo(5)}, columnOf(t, "c.csv.compras.csv", "consultado"))
	day := fiscope.HoyEnLima().SumarDias(-5)
	assert.Contains(t, stdout, fmt.Sprintf("\nRespuestas de otro día: 2 (la más antigua, del %d de %s)\n", day.Day(), months[day.Month()-1]))
	stdout, _, _ = execute(t, "compras", "c.csv", "-json")
	var printed struct {
		RespuestasDeOtroDia int
		MasAntigua          fiscope.Fecha
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &printed))
	assert.Equal(t, 2, printed.RespuestasDeOtroDia)
	assert.Equal(t, day, printed.MasAntigua)
	assert.Len(t, srv.Requests(), calls)
	_, _, _ = execute(t, "compras", "c.csv", "-dias", "4")
	assert.Len(t, srv.Requests(), calls+1)
}

// A pending row has the day of the answers that it has, and its own reason.
func TestTheDayOfAPendingRow(t *testing.T) {
	srv := mockserver.New(t)
	environment(t, srv)
	write(t, "c.csv", "20100070970;01;F001-125\n20331898008;01;E001-42\n")
	srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(400))
	_, _, _ = execute(t, "compras", "c.csv")
	older(t, "c.csv.compras.csv.jsonl", "F001-00000125", 8)
	require.NoError(t, srv.PutKey(secretKey, 0))
	_, _, _ = execute(t, "compras", "c.csv", "-memoria", t.TempDir())
	assert.Equal(t, []string{"pendiente", "pendiente"}, columnOf(t, "c.csv.compras.csv", "resultado"))
	assert.Equal(t, []string{daysAgo(8), daysAgo(0)}, columnOf(t, "c.csv.compras.csv", "consultado"))
	assert.Equal(t, []string{"El comprobante todavía no ha sido procesado.", "aceptado; falta consultar a su emisor."}, columnOf(t, "c.csv.compras.csv", "detalle"))
}

// A taxpayer that the registry answered for, while the service was away, is to be asked again.
func TestATaxpayerOfTheRegistry(t *testing.T) {
	for _, command := range []string{"lote", "compras"} {
		srv := mockserver.New(t)
		environment(t, srv)
		write(t, "c.csv", "20100070970;01;F001-123\n")
		_, _, _ = execute(t, command, "c.csv")
		output := "c.csv." + command + ".csv"
		text, err := os.ReadFile(output + ".jsonl")
		require.NoError(t, err)
		write(t, output+".jsonl", regexp.MustCompile(`("razonSocial".*)"source":"service"`).ReplaceAllString(string(text), `${1}"pending":true,"source":"registry"`))
		srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(400))
		_, _, got := execute(t, command, "c.csv")
		assert.Equal(t, int(unfinished), got, command)
		assert.Equal(t, []string{"pendiente"}, columnOf(t, output, "resultado"))
		assert.Contains(t, columnOf(t, output, "detalle")[0], byRegistry+daysAgo(0))
	}
}

func TestLoteOfAnotherDay(t *testing.T) {
	for name, c := range map[string]struct {
		age  int
		days string
		want string
	}{
		"old enough":              {7, "7", "activo y habido"},
		"too old":                 {8, "7", "pendiente"},
		"of yesterday":            {1, "0", "pendiente"},
		"of today":                {0, "0", "activo y habido"},
		"of the future":           {-2, "7", "pendiente"},
		"of no day, as of before": {9999 * 365, "9999", "pendiente"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := mockserver.New(t)
			environment(t, srv)
			write(t, "p.csv", "20100070970\n")
			_, _, _ = execute(t, "lote", "p.csv")
			const kept = "p.csv.lote.csv.jsonl"
			older(t, kept, "razonSocial", c.age)
			day := daysAgo(c.age)
			if c.age > 9999 {
				text, err := os.ReadFile(kept)
				require.NoError(t, err)
				write(t, kept, regexp.MustCompile(`,"asOf":"[^"]+"`).ReplaceAllString(string(text), ""))
				day = ""
			}
			require.NoError(t, srv.PutKey(secretKey, 0))
			_, _, got := execute(t, "lote", "p.csv", "-dias", c.days)
			assert.Equal(t, c.want == "pendiente", got == int(unfinished))
			assert.Equal(t, []string{c.want}, columnOf(t, "p.csv.lote.csv", "resultado"))
			assert.Equal(t, []string{day}, columnOf(t, "p.csv.lote.csv", "consultado"))
			require.NoError(t, srv.PutKey(secretKey, 1000))
			_, _, got = execute(t, "lote", "p.csv", "-dias", c.days)
			assert.Equal(t, int(allWell), got)
		})
	}
}

func TestTheDaysThatTheQuotaAllows(t *testing.T) {
	const never = noDay
	many := func(n, age int) (ages []int) {
		for range n {
			ages = append(ages, age)
		}
		return ages
	}
	today := append(many(650, never), append(many(50, 1), append(many(50, 2), many(50, 3)...)...)...)
	for name, c := range map[string]struct {
		ages    []int
		days    int
		perDay  int
		left    int // as noted today; -1 if another day
		reserve int
		says    string
	}{
		"nothing was asked":            {many(800, never), 7, 50, 0, 0, "Con 50 consultas al día y 800 por hacer, use -dias 16 o más."},
		"tomorrow":                     {many(800, never), 7, 50, -1, 0, "Con 50 consultas al día y 800 por hacer, use -dias 16 o más."},
		"it suffices":                  {many(800, never), 16, 50, 0, 0, ""},
		"it does not":                  {many(800, never), 15, 50, 0, 0, "Con 50 consultas al día y 800 por hacer, use -dias 16 o más."},
		"after three days":             {today, 7, 50, -1, 0, "Con 50 consultas al día y 650 por hacer, use -dias 15 o más."},
		"today's quota suffices":       {many(5, never), 0, 50, 50, 0, ""},
		"today's quota does not":       {many(60, never), 0, 50, 50, 0, "Con 50 consultas al día y 60 por hacer, use -dias 2 o más."},
		"a few new ones among many":    {append(many(790, 0), many(10, never)...), 7, 50, 0, 0, ""},
		"what is older, and still may": {append(many(100, 20), many(100, 3)...), 7, 10, 0, 0, "Con 10 consultas al día y 100 por hacer, use -dias 13 o más."},
		"the rest is for others":       {many(800, never), 7, 100, 50, 50, "Con 50 consultas al día y 800 por hacer, use -dias 16 o más."},
		"all is for others":            {many(800, never), 7, 50, 50, 50, ""},
		"the quota is not known":       {many(800, never), 7, -1, -1, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := fiscope.NewClient("https://fiscal.invalid", secretKey)
			require.NoError(t, err)
			var said bytes.Buffer
			b := &batch{session: &session{client: client, printer: printer{err: &said}}, days: c.days, reserve: c.reserve, known: map[string]fiscope.SavedResult{}}
			b.noted = quota{left: c.left, limit: c.perDay, at: time.Now()}
			if c.left < 0 {
				b.noted.at = time.Now().AddDate(0, 0, -1)
			}
			for i, age := range c.ages {
				input := fmt.Sprint(i)
				b.inputs = append(b.inputs, input)
				if age != never {
					b.known[input] = fiscope.SavedResult{Input: input, AsOf: time.Now().AddDate(0, 0, -age)}
				}
			}
			b.adviseDays()
			assert.Equal(t, c.says, strings.TrimSpace(said.String()))
		})
	}
}

// The quota is known from the run before, also if no lookup said it.
func TestADayIsTooShort(t *testing.T) {
	srv := mockserver.New(t)
	environment(t, srv)
	write(t, "c.csv", "20100070970;01;F001-123\n20331898008;01;E001-42\n20100070970;01;F001-124\n")
	require.NoError(t, srv.PutKey(secretKey, 2))
	_, stderr, _ := execute(t, "compras", "c.csv", "-dias", "1")
	assert.Equal(t, 1, strings.Count(stderr, "\nCon 2 consultas al día y 3 por hacer, use -dias 2 o más.\n"), stderr)
	stdout, _, _ := execute(t, "compras", "c.csv", "-dias", "1", "-simular")
	assert.Contains(t, stdout, "\nCon 2 consultas al día y 3 por hacer, use -dias 2 o más.\n")
	_, stderr, _ = execute(t, "compras", "c.csv", "-dias", "2")
	assert.NotContains(t, stderr, "-dias")
	for _, days := range []string{"-1", "10000", "x"} {
		_, stderr, got := execute(t, "compras", "c.csv", "-dias="+days)
		assert.Equal(t, int(wrongUse), got)
		assert.Contains(t, stderr, "-dias")
	}
}
