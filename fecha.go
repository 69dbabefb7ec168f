package fiscope

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/scrub"
)

// Lima is Peru's time zone: UTC-5 all year. It is a fixed zone because minimal containers carry no tzdata.
var Lima = time.FixedZone("America/Lima", -5*60*60)

// Fecha is a date without hour or zone. Its JSON, text and SQL form is YYYY-MM-DD; the zero Fecha is written "". Fechas
// can be compared with == and used as map keys.
type Fecha struct {
	year  int
	month time.Month
	day   int
}

// NewFecha returns the date as given. 30 February is not moved to March: [Fecha.Valid] reports false and every
// operation refuses it.
func NewFecha(year int, month time.Month, day int) Fecha { return Fecha{year, month, day} }

// ParseFecha reads YYYY-MM-DD, a day of the years 0001 to 9999. The error is an [*Error] of class ErrInvalidRequest
// with the Field "fecha".
func ParseFecha(s string) (Fecha, error) {
	day, err := time.Parse(time.RFC3339, s+"T00:00:00Z") // three times as fast as time.DateOnly
	if err == nil && day.Year() >= 1 {
		return NewFecha(day.Date()), nil
	}
	// A copy, so that s does not escape: a valid date costs no allocation.
	return Fecha{}, invalid("fecha", "%q is not a day of the form YYYY-MM-DD", scrub.Cut(strings.Clone(s), len(time.DateOnly)))
}

// FechaEnLima returns the date in Lima at the instant t.
func FechaEnLima(t time.Time) Fecha {
	return NewFecha(t.In(Lima).Date())
}

// HoyEnLima returns today's date in Lima, using this machine's clock.
func HoyEnLima() Fecha { return FechaEnLima(time.Now()) }

// Valid reports whether f is a day of the calendar, in the years 0001 to 9999.
func (f Fecha) Valid() bool {
	return f.year >= 1 && f.year <= 9999 && f == NewFecha(f.utc().Date())
}

// IsZero reports whether f is the zero Fecha, "no date".
func (f Fecha) IsZero() bool { return f == Fecha{} }

// Year returns the year of f.
func (f Fecha) Year() int { return f.year }

// Month returns the month of f.
func (f Fecha) Month() time.Month { return f.month }

// Day returns the day of the month of f.
func (f Fecha) Day() int { return f.day }

// Weekday returns the day of the week of f.
func (f Fecha) Weekday() time.Weekday { return f.utc().Weekday() }

// Equal reports whether f and g are the same day, as == does; go-cmp uses it.
func (f Fecha) Equal(g Fecha) bool { return f == g }

// Compare returns -1 if f is before g, 0 if they are equal, and +1 if f is after g.
func (f Fecha) Compare(g Fecha) int {
	return cmp.Or(cmp.Compare(f.year, g.year), cmp.Compare(f.month, g.month), cmp.Compare(f.day, g.day))
}

// SumarDias returns the date n days after f; before f if n is negative.
func (f Fecha) SumarDias(n int) Fecha {
	return NewFecha(time.Date(f.Year(), f.Month(), f.Day()+n, 0, 0, 0, 0, time.UTC).Date())
}

// En returns the instant at which f begins in the zone loc, usually [Lima].
func (f Fecha) En(loc *time.Location) time.Time {
	return time.Date(f.Year(), f.Month(), f.Day(), 0, 0, 0, 0, loc)
}

// String returns f as YYYY-MM-DD, and "" for the zero Fecha.
func (f Fecha) String() string {
	if f.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", f.year, int(f.month), f.day)
}

// MarshalText returns YYYY-MM-DD, "" for the zero Fecha, and an error for a day that does not exist.
func (f Fecha) MarshalText() ([]byte, error) {
	if !f.IsZero() && !f.Valid() {
		return nil, fmt.Errorf("fiscope: fecha %s is not a day of the calendar", f)
	}
	return []byte(f.String()), nil
}

// UnmarshalText reads what MarshalText writes. The error is an ErrInvalidRequest.
func (f *Fecha) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*f = Fecha{}
		return nil
	}
	read, err := ParseFecha(string(text))
	if err == nil {
		*f = read
	}
	return err
}

// Scan reads a date column: a text YYYY-MM-DD, a time.Time at 00:00:00 (its date in its own zone), or NULL (the zero
// Fecha). It refuses any other time.Time, because the day of an instant depends on the zone. It implements
// [database/sql.Scanner].
func (f *Fecha) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		return f.UnmarshalText(nil)
	case time.Time:
		date := NewFecha(v.Date())
		if v.IsZero() || !date.Valid() || !v.Equal(date.En(v.Location())) {
			return fmt.Errorf("fiscope: %s is not a fecha: read a DATE column, or convert the instant with FechaEnLima", v)
		}
		*f = date
		return nil
	case string:
		return f.UnmarshalText([]byte(v))
	case []byte:
		return f.UnmarshalText(v)
	}
	return fmt.Errorf("fiscope: cannot read a fecha from a %T", src)
}

// Value returns YYYY-MM-DD, or nil (NULL) for the zero Fecha. It implements [database/sql/driver.Valuer].
func (f Fecha) Value() (driver.Value, error) {
	if f.IsZero() {
		return nil, nil
	}
	text, err := f.MarshalText()
	return string(text), err
}

func (f Fecha) utc() time.Time { return f.En(time.UTC) }

// Publicacion returns the usual publication time of the rate of f: 17:00 of that day in Lima (docs/contract.md, 4.4).
func (f Fecha) Publicacion() time.Time { return f.En(Lima).Add(17 * time.Hour) }
