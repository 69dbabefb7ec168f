package fiscope_test

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

var (
	_ sql.Scanner   = (*fiscope.Fecha)(nil)
	_ driver.Valuer = fiscope.Fecha{}
)

func TestParseFecha(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want fiscope.Fecha // zero for none
	}{
		"a day":        {"2026-11-20", viernes},
		"a leap day":   {"2024-02-29", fiscope.NewFecha(2024, 2, 29)},
		"the first":    {"0001-01-01", fiscope.NewFecha(1, 1, 1)},
		"the last":     {"9999-12-31", fiscope.NewFecha(9999, 12, 31)},
		"30 February":  {"2026-02-30", fiscope.Fecha{}},
		"no leap day":  {"2026-02-29", fiscope.Fecha{}},
		"zeros":        {"0000-00-00", fiscope.Fecha{}},
		"month 13":     {"2026-13-01", fiscope.Fecha{}},
		"short":        {"2026-1-2", fiscope.Fecha{}},
		"slashes":      {"2026/11/20", fiscope.Fecha{}},
		"day first":    {"20-11-2026", fiscope.Fecha{}},
		"an hour":      {"2026-11-20T00:00:00Z", fiscope.Fecha{}},
		"a sign":       {"+026-11-20", fiscope.Fecha{}},
		"blanks":       {" 026-11-20", fiscope.Fecha{}},
		"other digits": {"٢٠٢٦-11-20", fiscope.Fecha{}},
		"empty":        {"", fiscope.Fecha{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fiscope.ParseFecha(test.text)
			assert.Equal(t, test.want, got)
			if test.want.IsZero() {
				require.ErrorContains(t, err, "is not a day of the form YYYY-MM-DD")
			} else {
				require.NoError(t, err)
				assert.Equal(t, test.text, got.String())
			}
		})
	}
}

func TestNewFechaKeepsAnImpossibleDayInvalid(t *testing.T) {
	f := fiscope.NewFecha(2026, time.February, 30)
	assert.False(t, f.Valid())
	assert.Equal(t, "2026-02-30", f.String())
	_, err := f.MarshalText()
	require.Error(t, err)
	_, err = f.Value()
	require.Error(t, err)
}

func TestFechaEnLima(t *testing.T) {
	for name, test := range map[string]struct{ at, want string }{
		"just before midnight in Lima": {"2026-11-21T04:59:59Z", "2026-11-20"},
		"midnight in Lima":             {"2026-11-21T05:00:00Z", "2026-11-21"},
		"from the far east":            {"2026-11-21T13:59:59+09:00", "2026-11-20"},
		"the new year":                 {"2027-01-01T04:00:00Z", "2026-12-31"},
	} {
		t.Run(name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, test.at)
			require.NoError(t, err)
			assert.Equal(t, test.want, fiscope.FechaEnLima(at).String())
		})
	}
	synctest.Test(t, func(t *testing.T) { // here it is midnight UTC of 2000-01-01
		assert.Equal(t, "1999-12-31", fiscope.HoyEnLima().String())
	})
}

func TestFechaArithmetic(t *testing.T) {
	assert.Equal(t, "2026-12-01", fiscope.NewFecha(2026, 11, 30).SumarDias(1).String())
	assert.Equal(t, "2024-02-29", fiscope.NewFecha(2024, 3, 1).SumarDias(-1).String())
	assert.Equal(t, time.Friday, viernes.Weekday())
	assert.Zero(t, viernes.Compare(viernes))
	assert.Equal(t, -1, viernes.Compare(viernes.SumarDias(1)))
	assert.Equal(t, 1, viernes.Compare(fiscope.NewFecha(2025, 12, 31)))
	assert.Equal(t, 1, viernes.Compare(fiscope.NewFecha(2026, 10, 31)))
	assert.True(t, fiscope.Fecha{}.IsZero())
	assert.False(t, viernes.IsZero())
	assert.True(t, viernes.Equal(fiscope.NewFecha(2026, 11, 20)))
	assert.Equal(t, 2026, viernes.Year())
	assert.Equal(t, time.November, viernes.Month())
	assert.Equal(t, 20, viernes.Day())
}

func TestFechaInJSON(t *testing.T) {
	type row struct {
		Fecha fiscope.Fecha         `json:"fecha"`
		Por   map[fiscope.Fecha]int `json:"por,omitempty"`
	}
	for name, stored := range map[string]string{
		"a day":    `{"fecha":"2026-11-20"}`,
		"no day":   `{"fecha":""}`,
		"as a key": `{"fecha":"2026-11-20","por":{"2026-11-21":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var r row
			require.NoError(t, json.Unmarshal([]byte(stored), &r))
			got, err := json.Marshal(r)
			require.NoError(t, err)
			assert.Equal(t, stored, string(got))
		})
	}
	f := viernes
	require.Error(t, json.Unmarshal([]byte(`"2026-02-30"`), &f))
	assert.Equal(t, viernes, f, "a failed read changes nothing")
}

func TestFechaInSQL(t *testing.T) {
	for name, test := range map[string]struct {
		src  any
		want fiscope.Fecha
	}{
		"text":                                   {"2026-11-20", viernes},
		"bytes":                                  {[]byte("2026-11-20"), viernes},
		"null":                                   {nil, fiscope.Fecha{}},
		"a DATE that the driver puts in UTC":     {time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), viernes},
		"a DATE that the driver puts in another": {time.Date(2026, 11, 20, 0, 0, 0, 0, time.FixedZone("", 9*3600)), viernes},
	} {
		t.Run(name, func(t *testing.T) {
			f := fiscope.NewFecha(1999, 1, 1)
			require.NoError(t, f.Scan(test.src))
			assert.Equal(t, test.want, f)
		})
	}
	var f fiscope.Fecha
	require.Error(t, f.Scan(20261120))
	require.Error(t, f.Scan("20/11/2026"))
	v, err := viernes.Value()
	require.NoError(t, err)
	assert.Equal(t, "2026-11-20", v)
	v, err = fiscope.Fecha{}.Value()
	require.NoError(t, err)
	assert.Nil(t, v)
}

// Only a DATE is one: of an instant, which day it is depends on where one stands.
func TestAnInstantIsNoFecha(t *testing.T) {
	for name, src := range map[string]any{
		"an hour":                          time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC),
		"a minute":                         time.Date(2026, 11, 20, 0, 1, 0, 0, time.UTC),
		"a nanosecond":                     time.Date(2026, 11, 20, 0, 0, 0, 1, fiscope.Lima),
		"midnight in Lima, as UTC":         viernes.En(fiscope.Lima).UTC(),
		"the zero time":                    time.Time{},
		"the zero time, in Lima":           time.Time{}.In(fiscope.Lima),
		"the zero time, in another zone":   time.Time{}.In(time.FixedZone("", 3600)),
		"a year that no calendar here has": time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		"a year before the first":          time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC),
		"one o'clock in another zone":      time.Date(2026, 11, 20, 1, 0, 0, 0, time.FixedZone("", 3600)),
	} {
		t.Run(name, func(t *testing.T) {
			f := viernes
			require.Error(t, f.Scan(src))
			assert.Equal(t, viernes, f, "a failed read changes nothing")
		})
	}
	var null sql.Null[fiscope.Fecha]
	require.NoError(t, null.Scan(nil))
	assert.False(t, null.Valid)
	require.Error(t, null.Scan(time.Time{}))
}

// The user must correct what was typed.
func TestATextThatIsNoFechaIsAnInvalidRequest(t *testing.T) {
	for _, text := range []string{"20/11/2026", "2026-02-30", "hoy", "2026-11-20 ", "0000-01-01"} {
		var f fiscope.Fecha
		var in struct{ F fiscope.Fecha }
		for _, err := range []error{
			second(fiscope.ParseFecha(text)), f.UnmarshalText([]byte(text)), f.Scan(text), json.Unmarshal([]byte(`{"F":"`+text+`"}`), &in),
		} {
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest, text)
			assert.Equal(t, "La fecha no es válida: escriba un día que exista, como 2026-11-20.", fiscope.TextoParaUsuario(err))
		}
	}
}
