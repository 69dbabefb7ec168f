package mockserver

import (
	"encoding/json"
	"fmt"
	"regexp"
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

func (s *rates) put(fecha, compra, venta string) error {
	for _, n := range []string{compra, venta} {
		if !jsonDecimal.MatchString(n) || strings.Trim(n, "0.") == "" {
			return fmt.Errorf("rate of %s: %q is not a positive decimal such as 3.750", fecha, n)
		}
	}
	return s.set(fecha, rate{json.Number(compra), json.Number(venta)})
}

func (s *rates) remove(fecha string) error { return s.set(fecha, rate{}) }

func (s *rates) set(text string, r rate) error {
	fecha, err := fiscope.ParseFecha(text)
	if err != nil {
		return err
	}
	if !fecha.DiaHabil() {
		return fmt.Errorf("%s is a weekend or a national holiday, which has no rate (service.md, 4.4)", fecha)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		s.over = map[fiscope.Fecha]rate{}
	}
	s.over[fecha] = r
	return nil
}
