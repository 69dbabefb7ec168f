package mockserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/shopspring/decimal"
)

// TipoCambio is the rate of one day. It keeps its digits: 3.750 stays 3.750.
type TipoCambio struct {
	Fecha  string      `json:"fecha"` // YYYY-MM-DD, a business day
	Compra json.Number `json:"compra"`
	Venta  json.Number `json:"venta"`
}

func (t TipoCambio) id() string { return t.Fecha }

func (t TipoCambio) check() error {
	for i, n := range []json.Number{t.Compra, t.Venta} {
		if !jsonDecimal.MatchString(string(n)) || strings.Trim(string(n), "0.") == "" {
			return fmt.Errorf("tipo de cambio de %s: %q no es un decimal positivo como 3.750, en %s",
				t.Fecha, string(n), []string{"compra", "venta"}[i])
		}
	}
	if compra, venta := decimal.RequireFromString(string(t.Compra)), decimal.RequireFromString(string(t.Venta)); compra.GreaterThan(venta) {
		return fmt.Errorf("tipo de cambio de %s: la compra %s es mayor que la venta %s", t.Fecha, t.Compra, t.Venta)
	}
	_, err := diaDeTipoCambio(t.Fecha)
	return err
}

// diaDeTipoCambio parses a date that can have a rate.
func diaDeTipoCambio(text string) (fiscope.Fecha, error) {
	fecha, err := fiscope.ParseFecha(text)
	switch {
	case err != nil:
		err = fmt.Errorf("la fecha %q no es un día que exista, en la forma AAAA-MM-DD, como 2026-11-20", text)
	case !fecha.DiaHabil():
		err = fmt.Errorf("%s es fin de semana o feriado nacional: no tiene tipo de cambio (docs/contract.md, 4.4)", fecha)
	}
	return fecha, err
}

// jsonDecimal matches a decimal that is a valid JSON number.
var jsonDecimal = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?$`)

// tiposCambio are the exchange rates of one server: those set on it, over the synthetic series.
type tiposCambio struct {
	mu     sync.RWMutex
	over   map[fiscope.Fecha]TipoCambio // without a Compra for a day without a rate
	series bool
}

// firstRate is where the synthetic series begins.
var firstRate = fiscope.NewFecha(2020, time.January, 2)

// synthetic is the default series: 3.000, plus 0.100 for each year since 2020, plus 0.001 for each day of the year; venta is
// 0.010 above. It is easy to check by hand, and obviously not real.
func synthetic(fecha fiscope.Fecha) TipoCambio {
	thousandths := 3000 + 100*(fecha.Year()-2020) + fecha.En(time.UTC).YearDay()
	digits := func(n int) json.Number { return json.Number(fmt.Sprintf("%d.%03d", n/1000, n%1000)) }
	return TipoCambio{fecha.String(), digits(thousandths), digits(thousandths + 10)}
}

// restore removes the setting of a day.
func (s *tiposCambio) restore(fecha fiscope.Fecha) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.over, fecha)
}

// change removes the rates of days, then sets rates, both valid, in one step.
func (s *tiposCambio) change(removed []string, put []TipoCambio) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fecha := range removed {
		s.set(TipoCambio{Fecha: fecha})
	}
	for _, t := range put {
		s.set(t)
	}
}

// set sets a day's rate, one without a Compra for none. The lock is held.
func (s *tiposCambio) set(t TipoCambio) {
	fecha, _ := diaDeTipoCambio(t.Fecha) // it was checked
	if s.over[fecha] = t; t.Compra == "" && !s.series {
		delete(s.over, fecha)
	}
}

// all returns the rates that were set and the days whose rate was removed, sorted by date.
func (s *tiposCambio) all() (put []TipoCambio, gone []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, fecha := range slices.SortedFunc(maps.Keys(s.over), fiscope.Fecha.Compare) {
		if t := s.over[fecha]; t.Compra == "" {
			gone = append(gone, t.Fecha)
		} else {
			put = append(put, t)
		}
	}
	return put, gone
}

// TipoCambioDelDia is a server's present answer for a day.
type TipoCambioDelDia struct {
	TipoCambio        // Compra and Venta are "" if it has no rate
	Why        string // in Spanish, the reason of the 404 (docs/contract.md, 4.4); "" if it has a rate
	Put        bool   // the day's rate was set, or removed from the default series
}

// delDia returns the answer for a day at an instant.
func (s *tiposCambio) delDia(fecha fiscope.Fecha, now time.Time) TipoCambioDelDia {
	s.mu.RLock()
	t, put := s.over[fecha]
	s.mu.RUnlock()
	if !put && s.series && fecha.Compare(firstRate) >= 0 {
		t = synthetic(fecha)
	}
	why := withoutRate(fecha, now)
	const none, advice = "este servidor de pruebas no tiene ese día", "; use otro día hábil"
	switch {
	case why != "" || t.Compra != "":
	case put:
		why = none + ": se le quitó" + advice
	case s.series:
		why = none + ": los suyos empiezan el " + firstRate.String() + advice
	default:
		why = none + advice
	}
	if why != "" {
		t = TipoCambio{}
	}
	t.Fecha = fecha.String()
	return TipoCambioDelDia{t, why, put}
}

// withoutRate returns the reason, in Spanish, why no server has a rate of a date now, or "".
func withoutRate(fecha fiscope.Fecha, now time.Time) string {
	const advice = "; use el último día hábil anterior"
	today := fiscope.FechaEnLima(now)
	switch feriado, ok := fecha.Feriado(); {
	case ok:
		return "es feriado nacional, " + feriado.Nombre + advice
	case fecha.Weekday() == time.Saturday:
		return "es sábado" + advice
	case fecha.Weekday() == time.Sunday:
		return "es domingo" + advice
	case fecha.Compare(today) > 0:
		return "es una fecha futura; hoy en Lima es " + today.String()
	case now.Before(fecha.Publicacion()):
		return "todavía no se publica; consulte desde el " + enLima(fecha.Publicacion())
	}
	return ""
}
