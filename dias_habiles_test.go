package fiscope_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope"
)

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
		"none is added to a Sunday":             {"2026-11-22", 0, nil, "2026-11-22"},
		"a week":                                {"2026-11-18", 5, nil, "2026-11-25"},
		"back a week":                           {"2026-11-25", -5, nil, "2026-11-18"},
		"over the new year":                     {"2026-12-31", 1, nil, "2027-01-04"},
		"back over the new year":                {"2027-01-04", -1, nil, "2026-12-31"},
		"over two holidays in a row":            {"2026-12-07", 1, nil, "2026-12-10"},
		"over Holy Week":                        {"2026-04-01", 1, nil, "2026-04-06"},
		"back over Holy Week":                   {"2026-04-06", -1, nil, "2026-04-01"},
		"over Fiestas Patrias":                  {"2026-07-27", 1, nil, "2026-07-30"},
		"over the leap day":                     {"2028-02-28", 2, nil, "2028-03-01"},
		"a holiday that was none yet":           {"2021-12-07", 1, nil, "2021-12-09"},
		"over a decreed day and Christmas":      {"2026-12-23", 1, []fiscope.NoLaborables{navidad}, "2026-12-28"},
		"decreed days of two years":             {"2026-12-30", 1, []fiscope.NoLaborables{navidad, enero}, "2027-01-05"},
		"back over decreed days":                {"2027-01-05", -1, []fiscope.NoLaborables{enero, navidad}, "2026-12-30"},
		"from a decreed day":                    {"2026-12-24", 1, []fiscope.NoLaborables{navidad}, "2026-12-28"},
		"a decreed day that is a Sunday anyway": {"2026-11-20", 1, []fiscope.NoLaborables{{fiscope.NewFecha(2026, time.November, 22)}}, "2026-11-23"},
		"a decreed day that does not exist":     {"2026-02-27", 1, []fiscope.NoLaborables{{fiscope.NewFecha(2026, time.February, 30)}, nil}, "2026-03-02"},
		"the last business day":                 {"9999-12-30", 1, nil, "9999-12-31"},
		"beyond the calendar":                   {"9999-12-31", 1, nil, ""},
		"before the calendar":                   {"0001-01-02", -1, nil, ""},
		"far beyond the calendar":               {"2026-11-18", math.MaxInt, nil, ""},
		"far before the calendar":               {"2026-11-18", math.MinInt, nil, ""},
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

// Back and forth over four years, with decreed days: no business day is passed or counted twice.
func TestBusinessDaysInARow(t *testing.T) {
	decretados := fiscope.NoLaborables{fiscope.NewFecha(2025, time.January, 2), fiscope.NewFecha(2024, time.December, 30)}
	first := fiscope.NewFecha(2023, time.January, 1)
	count := 0
	for f := first; f.Year() < 2027; f = f.AddDays(1) {
		before := f.AddDays(-1).SiguienteDiaHabil(decretados)
		assert.Equal(t, f.DiaHabil(decretados), before == f, f)
		if f.DiaHabil(decretados) {
			count++
			assert.Equal(t, f, first.SumarDiasHabiles(count, decretados))
			assert.Equal(t, f, f.SiguienteDiaHabil(decretados).AnteriorDiaHabil(decretados))
		}
	}
	assert.Greater(t, count, 960)
}

func TestADecreedDayIsNoBusinessDay(t *testing.T) {
	day := fiscope.NewFecha(2026, time.December, 24)
	assert.True(t, day.DiaHabil())
	assert.True(t, day.DiaHabil(nil, fiscope.NoLaborables{}))
	assert.False(t, day.DiaHabil(fiscope.NoLaborables{day}))
	assert.False(t, day.DiaHabil(nil, fiscope.NoLaborables{viernes, day}))
	assert.False(t, viernes.AddDays(1).DiaHabil(fiscope.NoLaborables{day}), "a Saturday stays one")
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
