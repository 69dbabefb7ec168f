package fiscope

import (
	"cmp"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/fiscope/fiscope/internal/scrub"
)

// Lima is Peru's time zone: UTC-5 all year, without daylight saving since 1994. It is a fixed zone
// because minimal containers carry no tzdata.
var Lima = time.FixedZone("America/Lima", -5*60*60)

// Fecha is a civil date, without hour or zone: the date of a rate, of a registration, of a receipt.
// Its JSON, text and SQL form is the contract's YYYY-MM-DD; the zero Fecha is written "".
//
// Fechas can be compared with == and used as map keys.
type Fecha struct { // 8 bytes: a record has two
	year       int32
	month, day int16
}

// NewFecha returns the date as given. An impossible one (30 February) is kept as it is and is not
// moved to March: [Fecha.Valid] reports false and every operation refuses it. A month or a day beyond 16 bits,
// and a year beyond 32, is the nearest of those.
func NewFecha(year int, month time.Month, day int) Fecha {
	small := func(n int) int16 { return int16(max(math.MinInt16, min(n, math.MaxInt16))) }
	return Fecha{int32(max(math.MinInt32, min(year, math.MaxInt32))), small(int(month)), small(day)}
}

// ParseFecha reads YYYY-MM-DD and nothing else: four, two and two ASCII digits, of a day that exists
// between the years 0001 and 9999. The error is an ErrInvalidRequest.
func ParseFecha(s string) (Fecha, error) {
	f, ok := dateOf(s)
	switch {
	case ok && f.Valid():
		return f, nil
	case ok:
		return Fecha{}, fmt.Errorf("%w: fecha %q is not a day of the calendar", ErrInvalidRequest, s)
	}
	return Fecha{}, fmt.Errorf("%w: fecha %q is not of the form YYYY-MM-DD", ErrInvalidRequest, scrub.Cut(s, len("2006-01-02")))
}

// dateOf returns the numbers of a text of the form YYYY-MM-DD, which need not be a day.
func dateOf[T string | []byte](s T) (f Fecha, ok bool) {
	if len(s) != len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return f, false
	}
	ok = true
	number := func(digits T) (n int) {
		for i := range len(digits) {
			ok = ok && '0' <= digits[i] && digits[i] <= '9'
			n = 10*n + int(digits[i]-'0')
		}
		return n
	}
	f = NewFecha(number(s[:4]), time.Month(number(s[5:7])), number(s[8:]))
	return f, ok
}

// FechaEnLima returns the date that a calendar on a wall in Lima shows at the instant t.
func FechaEnLima(t time.Time) Fecha {
	return NewFecha(t.In(Lima).Date())
}

// HoyEnLima returns today's date in Lima by this machine's clock.
func HoyEnLima() Fecha { return FechaEnLima(time.Now()) }

// Valid reports whether f is a day of the calendar between the years 0001 and 9999.
func (f Fecha) Valid() bool {
	if f.year < 1 || f.year > 9999 {
		return false
	}
	return f == NewFecha(f.utc().Date())
}

// IsZero reports whether f is the zero Fecha, which stands for "no date".
func (f Fecha) IsZero() bool { return f == Fecha{} }

// Year returns the year of f.
func (f Fecha) Year() int { return int(f.year) }

// Month returns the month of f.
func (f Fecha) Month() time.Month { return time.Month(f.month) }

// Day returns the day of the month of f.
func (f Fecha) Day() int { return int(f.day) }

// Weekday returns the day of the week of f.
func (f Fecha) Weekday() time.Weekday { return f.utc().Weekday() }

// Equal reports whether f and g are the same day, as == does; go-cmp uses it.
func (f Fecha) Equal(g Fecha) bool { return f == g }

// Compare returns -1 if f is before g, 0 if they are the same day, and +1 if f is after g.
func (f Fecha) Compare(g Fecha) int {
	return cmp.Or(cmp.Compare(f.year, g.year), cmp.Compare(f.month, g.month), cmp.Compare(f.day, g.day))
}

// AddDays returns the date n days after f, or before it when n is negative.
func (f Fecha) AddDays(n int) Fecha {
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
	return fmt.Sprintf("%04d-%02d-%02d", f.year, f.month, f.day)
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

// Scan reads a date column: a text of the form YYYY-MM-DD, a time.Time at 00:00:00 (its date in its own
// zone, as drivers give a DATE), or NULL, which is the zero Fecha. Any other time.Time is refused, the zero
// one too: which day an instant is depends on the zone, so turn it into a date with [FechaEnLima]. It
// implements [database/sql.Scanner].
func (f *Fecha) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*f = Fecha{}
		return nil
	case time.Time:
		date := NewFecha(v.Date())
		switch {
		case v.IsZero():
			return errors.New("fiscope: the zero time is not a fecha: NULL is")
		case !v.Equal(date.En(v.Location())):
			return errors.New("fiscope: a time with an hour is not a fecha: read a DATE column, or use FechaEnLima")
		case !date.Valid():
			return fmt.Errorf("fiscope: fecha %s is not a day of the calendar", date)
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

// Value returns YYYY-MM-DD, or nil (NULL) for the zero Fecha. It implements
// [database/sql/driver.Valuer].
func (f Fecha) Value() (driver.Value, error) {
	if f.IsZero() {
		return nil, nil
	}
	text, err := f.MarshalText()
	return string(text), err
}

func (f Fecha) utc() time.Time { return f.En(time.UTC) }
