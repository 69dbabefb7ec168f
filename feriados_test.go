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
	for _, want := range []string{"2019-04-18", "2021-04-01", "2024-03-28", "2025-04-17", "2026-04-02", "2027-03-25", "2028-04-13"} {
		f, err := fiscope.ParseFecha(want)
		assert.NoError(t, err)
		feriado, ok := f.Feriado()
		assert.True(t, ok, want)
		assert.Equal(t, "Jueves Santo", feriado.Nombre)
		viernes, ok := f.AddDays(1).Feriado()
		assert.True(t, ok, want)
		assert.Equal(t, "Viernes Santo", viernes.Nombre)
		assert.True(t, f.AddDays(-1).DiaHabil(), "the Wednesday before is a business day")
	}
}

func TestALawBringsAHolidayFromItsYearOn(t *testing.T) {
	for _, test := range []struct {
		month time.Month
		day   int
		since int
		norma string
	}{
		{time.December, 9, 2022, "Ley 31381"}, {time.August, 6, 2022, "Ley 31530"},
		{time.July, 23, 2023, "Ley 31822"}, {time.June, 7, 2024, "Ley 31788"},
	} {
		f, ok := fiscope.NewFecha(test.since, test.month, test.day).Feriado()
		assert.True(t, ok)
		assert.Equal(t, test.norma, f.Norma)
		_, ok = fiscope.NewFecha(test.since-1, test.month, test.day).Feriado()
		assert.False(t, ok)
	}
}

// SUNAT's table of July 2021 lists the days after a business day: {1,2,3,6-10,13-17,20-24,27,28,31}.
func TestBusinessDaysOfJuly2021(t *testing.T) {
	var after []int
	for day := 1; day <= 31; day++ {
		if fiscope.NewFecha(2021, time.July, day).AddDays(-1).DiaHabil() {
			after = append(after, day)
		}
	}
	assert.Equal(t, []int{1, 2, 3, 6, 7, 8, 9, 10, 13, 14, 15, 16, 17, 20, 21, 22, 23, 24, 27, 28, 31}, after)
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

// A holiday was kept before the law that declares it today; no law is named that was not there yet.
func TestNoLawIsNamedBeforeIt(t *testing.T) {
	for day, norma := range map[string]string{
		"1950-07-28": "", "1990-12-25": "", "1991-03-29": "", "1991-11-01": "",
		"1991-12-08": "Decreto Legislativo 713", "1992-01-01": "Decreto Legislativo 713", "2022-12-09": "Ley 31381",
	} {
		f, ok := fecha(t, day).Feriado()
		assert.True(t, ok, day)
		assert.Equal(t, norma, f.Norma, day)
		assert.NotEmpty(t, f.Nombre)
		assert.Contains(t, fiscope.FeriadosNacionales(f.Fecha.Year()), f, day)
	}
	for year := 1985; year <= 2040; year++ {
		for _, f := range fiscope.FeriadosNacionales(year) {
			if f.Fecha.Compare(fiscope.NewFecha(1991, time.November, 8)) < 0 {
				assert.Empty(t, f.Norma, f)
			} else {
				assert.NotEmpty(t, f.Norma, f)
			}
		}
	}
}

func TestADayThatDoesNotExistIsNoBusinessDay(t *testing.T) {
	for _, f := range []fiscope.Fecha{
		{}, fiscope.NewFecha(2026, time.February, 30), fiscope.NewFecha(2026, 13, 2), fiscope.NewFecha(2026, 0, 5),
		fiscope.NewFecha(2026, time.November, 0), fiscope.NewFecha(2027, time.February, 29), fiscope.NewFecha(0, time.May, 3), fiscope.NewFecha(10_000, time.May, 3),
	} {
		assert.False(t, f.DiaHabil(), "%q", f)
	}
}

func TestPublicacion(t *testing.T) {
	assert.Equal(t, "2026-11-20T22:00:00Z", viernes.Publicacion().UTC().Format(time.RFC3339))
}

func ExampleFecha_DiaHabil() {
	fmt.Println(fiscope.NewFecha(2026, time.November, 20).DiaHabil())
	fmt.Println(fiscope.NewFecha(2026, time.November, 21).DiaHabil()) // a Saturday
	feriado, _ := fiscope.NewFecha(2026, time.December, 9).Feriado()
	fmt.Println(feriado, "-", feriado.Norma)
	// Output:
	// true
	// false
	// 2026-12-09 Batalla de Ayacucho - Ley 31381
}
