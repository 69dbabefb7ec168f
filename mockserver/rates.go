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
)

// rate is one day's rate, as the digits that go on the wire.
type rate struct{ compra, venta json.Number }

// rates are the exchange rates of one server: those put on it, over the synthetic series.
type rates struct {
	mu     sync.RWMutex
	over   map[fiscope.Fecha]rate // the zero rate: a day left without one
	series bool
}

// firstRate is where the synthetic series begins.
var firstRate = fiscope.NewFecha(2020, time.January, 2)

// synthetic is the default series: 3.000, plus 0.100 for each year since 2020, plus 0.001 for each day
// of the year; venta is 0.010 above. Anybody can check it by hand, and nobody takes it for a real rate.
func synthetic(fecha fiscope.Fecha) rate {
	thousandths := 3000 + 100*(fecha.Year()-2020) + fecha.En(time.UTC).YearDay()
	decimal := func(n int) json.Number { return json.Number(fmt.Sprintf("%d.%03d", n/1000, n%1000)) }
	return rate{decimal(thousandths), decimal(thousandths + 10)}
}

// of returns the rate stored for a business day, published or not.
func (s *rates) of(fecha fiscope.Fecha) (rate, bool) {
	s.mu.RLock()
	r, put := s.over[fecha]
	s.mu.RUnlock()
	if put {
		return r, r != rate{}
	}
	if !s.series || fecha.Compare(firstRate) < 0 {
		return rate{}, false
	}
	return synthetic(fecha), true
}

// jsonDecimal is a decimal that is a JSON number as it stands.
var jsonDecimal = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?$`)

func positiveDecimal(n json.Number) bool {
	return jsonDecimal.MatchString(string(n)) && strings.Trim(string(n), "0.") != ""
}

func (s *rates) put(ts ...TipoCambio) error {
	if err := firstError(ts, TipoCambio.check); err != nil {
		return err
	}
	for _, t := range ts {
		_ = s.set(t.Fecha, rate{t.Compra, t.Venta}) // the date was checked
	}
	return nil
}

// remove leaves days without a rate.
func (s *rates) remove(fechas ...string) error {
	for _, fecha := range fechas {
		if err := s.set(fecha, rate{}); err != nil {
			return err
		}
	}
	return nil
}

func (s *rates) set(text string, r rate) error {
	fecha, err := diaDeTipoCambio(text)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		s.over = map[fiscope.Fecha]rate{}
	}
	if (r == rate{}) && !s.series {
		delete(s.over, fecha)
		return nil
	}
	s.over[fecha] = r
	return nil
}

// all returns the rates that were put and the days that were left without one, by date.
func (s *rates) all() (put []TipoCambio, gone []string) {
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
