package fiscope_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope"
)

func TestHolidaysOfAYear(t *testing.T) {
	for year, want := range map[int]int{2020: 12, 2021: 12, 2022: 14, 2023: 15, 2024: 16, 2025: 16, 2026: 16, 2030: 16} {
		assert.Len(t, fiscope.FeriadosNacionales(year), want, year)
	}
	var days []string
	for _, f := range fiscope.FeriadosNacionales(2026) {
		days = append(days, f.Fecha.String()[5:])
		found, ok := f.Fecha.Feriado()
		assert.True(t, ok)
		assert.Equal(t, f, found)
		assert.Regexp(t, `^(Decreto Legislativo 713|Ley 31\d{3})$`, f.Norma)
		assert.False(t, f.Fecha.DiaHabil())
	}
	assert.Equal(t, []string{"01-01", "04-02", "04-03", "05-01", "06-07", "06-29", "07-23", "07-28", "07-29", "08-06", "08-30", "10-08", "11-01", "12-08", "12-09", "12-25"}, days)
}

func TestHolyThursday(t *testing.T) {
	for _, want := range []string{"1981-04-16", "1996-04-04", "2014-04-17", "2019-04-18", "2021-04-01", "2024-03-28", "2025-04-17", "2026-04-02", "2027-03-25", "2028-04-13"} {
		f, err := fiscope.ParseFecha(want)
		assert.NoError(t, err)
		feriado, ok := f.Feriado()
		assert.True(t, ok, want)
		assert.Equal(t, "Jueves Santo", feriado.Nombre)
		viernes, ok := f.SumarDias(1).Feriado()
		assert.True(t, ok, want)
		assert.Equal(t, "Viernes Santo", viernes.Nombre)
		assert.True(t, f.SumarDias(-1).DiaHabil(), "the Wednesday before is a business day")
	}
}

func TestNoHolidaysOutsideTheCalendar(t *testing.T) {
	for _, year := range []int{-1, 0, 10_000, math.MaxInt} {
		assert.Empty(t, fiscope.FeriadosNacionales(year), year)
		for _, f := range []fiscope.Fecha{fiscope.NewFecha(year, time.January, 1), fiscope.NewFecha(year, time.December, 25)} {
			_, ok := f.Feriado()
			assert.False(t, ok, f)
		}
	}
	assert.NotEmpty(t, fiscope.FeriadosNacionales(1))
	assert.NotEmpty(t, fiscope.FeriadosNacionales(9999))
}

func ExampleFecha_DiaHabil() {
	fmt.Println(fiscope.NewFecha(2026, time.November, 20).DiaHabil())
	fmt.Println(fiscope.NewFecha(2026, time.November, 21).DiaHabil()) // a Saturday
	feriado, _ := fiscope.NewFecha(2026, time.December, 9).Feriado()
	fmt.Println(feriado.Fecha, feriado.Nombre, "-", feriado.Norma)
	// Output:
	// true
	// false
	// 2026-12-09 Batalla de Ayacucho - Ley 31381
}

func TestBusinessDayArithmetic(t *testing.T) {
	navidad := fiscope.NoLaborables{fiscope.NewFecha(2026, time.December, 24), fiscope.NewFecha(2026, time.December, 31)}
	enero := fiscope.NoLaborables{fiscope.NewFecha(2027, time.January, 4)}
	for name, test := range map[string]struct {
		from       string
		n          int
		decretados []fiscope.NoLaborables
		want       string
	}{
		"the next day":                          {"2026-11-18", 1, nil, "2026-11-19"},
		"over a weekend":                        {"2026-11-20", 1, nil, "2026-11-23"},
		"back over a weekend":                   {"2026-11-23", -1, nil, "2026-11-20"},
		"from a Saturday":                       {"2026-11-21", 1, nil, "2026-11-23"},
		"back from a Sunday":                    {"2026-11-22", -1, nil, "2026-11-20"},
		"none is added":                         {"2026-11-18", 0, nil, "2026-11-18"},
		"a week":                                {"2026-11-18", 5, nil, "2026-11-25"},
		"over the new year":                     {"2026-12-31", 1, nil, "2027-01-04"},
		"back over the new year":                {"2027-01-04", -1, nil, "2026-12-31"},
		"over two holidays in a row":            {"2026-12-07", 1, nil, "2026-12-10"},
		"over Holy Week":                        {"2026-04-01", 1, nil, "2026-04-06"},
		"over Fiestas Patrias":                  {"2026-07-27", 1, nil, "2026-07-30"},
		"a holiday that was none yet":           {"2021-12-07", 1, nil, "2021-12-09"},
		"over a decreed day and Christmas":      {"2026-12-23", 1, []fiscope.NoLaborables{navidad}, "2026-12-28"},
		"decreed days of two years":             {"2026-12-30", 1, []fiscope.NoLaborables{navidad, enero}, "2027-01-05"},
		"from a decreed day":                    {"2026-12-24", 1, []fiscope.NoLaborables{navidad}, "2026-12-28"},
		"a decreed day that is a Sunday anyway": {"2026-11-20", 1, []fiscope.NoLaborables{{fiscope.NewFecha(2026, time.November, 22)}}, "2026-11-23"},
		"a decreed day that does not exist":     {"2026-02-27", 1, []fiscope.NoLaborables{{fiscope.NewFecha(2026, time.February, 30)}, nil}, "2026-03-02"},
		"the last business day":                 {"9999-12-30", 1, nil, "9999-12-31"},
		"beyond the calendar":                   {"9999-12-31", 1, nil, ""},
		"before the calendar":                   {"0001-01-02", -1, nil, ""},
		"far beyond the calendar":               {"9998-11-18", math.MaxInt, nil, ""},
		"far before the calendar":               {"0002-11-18", math.MinInt, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			from := fecha(t, test.from)
			assert.Equal(t, test.want, from.SumarDiasHabiles(test.n, test.decretados...).String())
			switch test.n {
			case 1:
				assert.Equal(t, test.want, from.SiguienteDiaHabil(test.decretados...).String())
			case -1:
				assert.Equal(t, test.want, from.AnteriorDiaHabil(test.decretados...).String())
			}
		})
	}
	for _, none := range []fiscope.Fecha{{}, fiscope.NewFecha(2026, time.February, 30)} {
		assert.Zero(t, none.SiguienteDiaHabil())
		assert.Zero(t, none.AnteriorDiaHabil())
		assert.Zero(t, none.SumarDiasHabiles(0))
	}
}

func ExampleFecha_SumarDiasHabiles() {
	emision := fiscope.NewFecha(2026, time.December, 23)
	fmt.Println(emision.SumarDiasHabiles(2))
	puente := fiscope.NoLaborables{fiscope.NewFecha(2026, time.December, 24)}
	fmt.Println(emision.SumarDiasHabiles(2, puente))
	fmt.Println(emision.SiguienteDiaHabil(puente), emision.AnteriorDiaHabil())
	// Output:
	// 2026-12-28
	// 2026-12-29
	// 2026-12-28 2026-12-22
}
