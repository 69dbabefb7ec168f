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
		if !positiveDecimal(n) {
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

func positiveDecimal(n json.Number) bool {
	return jsonDecimal.MatchString(string(n)) && strings.Trim(string(n), "0.") != ""
}

// rate is one day's rate, as the digits that are sent.
type rate struct{ compra, venta json.Number }

// tiposCambio are the exchange rates of one server: those set on it, over the synthetic series.
type tiposCambio struct {
	mu     sync.RWMutex
	over   map[fiscope.Fecha]rate // the zero rate means a day without one
	series bool
}

// firstRate is where the synthetic series begins.
var firstRate = fiscope.NewFecha(2020, time.January, 2)

// synthetic is the default series: 3.000, plus 0.100 for each year since 2020, plus 0.001 for each day of the year; venta is
// 0.010 above. It is easy to check by hand, and obviously not real.
func synthetic(fecha fiscope.Fecha) rate {
	thousandths := 3000 + 100*(fecha.Year()-2020) + fecha.En(time.UTC).YearDay()
	number := func(n int) json.Number { return json.Number(fmt.Sprintf("%d.%03d", n/1000, n%1000)) }
	return rate{number(thousandths), number(thousandths + 10)}
}

// of returns the rate stored for a business day, published or not, and whether it was set; or the reason in Spanish for
// having none.
func (s *tiposCambio) of(fecha fiscope.Fecha) (r rate, put bool, why string) {
	s.mu.RLock()
	r, put = s.over[fecha]
	s.mu.RUnlock()
	const none, advice = "este servidor de pruebas no tiene ese día", "; use otro día hábil"
	switch {
	case put && r == rate{}:
		return r, put, none + ": se le quitó" + advice
	case put:
		return r, put, ""
	case !s.series:
		return r, put, none + advice
	case fecha.Compare(firstRate) < 0:
		return r, put, none + ": los suyos empiezan el " + firstRate.String() + advice
	}
	return synthetic(fecha), put, ""
}

// restore removes the setting of a day.
func (s *tiposCambio) restore(fecha fiscope.Fecha) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.over, fecha)
}

// change removes the rates of days, then sets rates, both valid, in one step.
func (s *tiposCambio) change(without []string, put []TipoCambio) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fecha := range without {
		s.set(fecha, rate{})
	}
	for _, t := range put {
		s.set(t.Fecha, rate{t.Compra, t.Venta})
	}
}

// set sets a day's rate, the zero rate for none. The lock is held.
func (s *tiposCambio) set(text string, r rate) {
	fecha, _ := diaDeTipoCambio(text) // it was checked
	if s.over == nil {
		s.over = map[fiscope.Fecha]rate{}
	}
	if (r == rate{}) && !s.series {
		delete(s.over, fecha)
		return
	}
	s.over[fecha] = r
}

// all returns the rates that were set and the days whose rate was removed, sorted by date.
func (s *tiposCambio) all() (put []TipoCambio, gone []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, fecha := range slices.SortedFunc(maps.Keys(s.over), fiscope.Fecha.Compare) {
		if r := s.over[fecha]; r == (rate{}) {
			gone = append(gone, fecha.String())
		} else {
			put = append(put, TipoCambio{fecha.String(), r.compra, r.venta})
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
	r, put, why := s.of(fecha)
	if why = withoutRate(fecha, now, why); why != "" {
		r = rate{}
	}
	return TipoCambioDelDia{TipoCambio{fecha.String(), r.compra, r.venta}, why, put}
}

// withoutRate returns the reason, in Spanish, why a date has no rate now, or "" if it has one; notStored is the reason if
// none is stored.
func withoutRate(fecha fiscope.Fecha, now time.Time, notStored string) string {
	today := fiscope.FechaEnLima(now)
	if why := neverRate(fecha); why != "" {
		return why
	}
	published := fecha.Publicacion()
	switch {
	case fecha.Compare(today) > 0:
		return "es una fecha futura; hoy en Lima es " + today.String()
	case now.Before(published):
		return fmt.Sprintf("todavía no se publica; consulte desde el %s", enLima(published))
	}
	return notStored
}

// neverRate returns the reason why a date can never have a rate, or "".
func neverRate(fecha fiscope.Fecha) string {
	if fecha.DiaHabil() {
		return ""
	}
	const advice = "; use el último día hábil anterior"
	if feriado, ok := fecha.Feriado(); ok {
		return "es feriado nacional, " + feriado.Nombre + advice
	}
	if fecha.Weekday() == time.Saturday {
		return "es sábado" + advice
	}
	return "es domingo" + advice
}
