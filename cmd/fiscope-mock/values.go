package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/assumption"
	"github.com/fiscope/fiscope/mockserver"
)

func textOf(field func(*settings) *string) func(*settings, string) error {
	return func(s *settings, value string) error {
		*field(s) = value
		return nil
	}
}

func appended(field func(*settings) *[]string) func(*settings, string) error {
	return func(s *settings, value string) error {
		if value == "" {
			return errors.New("está vacío")
		}
		*field(s) = append(*field(s), value)
		return nil
	}
}

func boolean(field func(*settings) *bool) func(*settings, string) error {
	return func(s *settings, value string) error {
		on, err := strconv.ParseBool(value)
		if err != nil {
			return errors.New("se espera true o false")
		}
		*field(s) = on
		return nil
	}
}

func readQuota(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < mockserver.Unlimited {
		return 0, errors.New("se espera un número de consultas desde 0, o -1, sin límite")
	}
	return n, nil
}

func (s *settings) setQuota(value string) error {
	n, err := readQuota(value)
	if err != nil {
		return err
	}
	s.quota, s.assume.Quota = &n, n
	return nil
}

func (s *settings) setJournal(value string) (err error) {
	if s.journal, err = strconv.Atoi(value); err != nil || s.journal < 0 {
		return errors.New("se espera un número entero, desde 0")
	}
	return nil
}

// setPadron sets the index. The mock then invents no values: many registry records have no ubigeo, and none has dates.
func (s *settings) setPadron(index string) error {
	if index == "" {
		return errors.New("se espera el archivo de un índice")
	}
	s.padron, s.assume.Unknown = index, mockserver.UnknownEmpty
	return nil
}

// setAssumption sets NAME=VALUE, or with @ the contents of a file.
func (s *settings) setAssumption(value string) error {
	if name, ok := strings.CutPrefix(value, "@"); ok {
		return s.setAssumptions(name)
	}
	if name, _, _ := strings.Cut(value, "="); strings.EqualFold(name, "Quota") {
		s.assumed = true
	}
	return assumption.Set(&s.assume, value)
}

func (s *settings) setAssumptions(file string) error {
	opened, err := os.Open(file) //nolint:gosec // the user's files
	if err != nil {
		return err
	}
	defer opened.Close()
	texts, err := assumption.ReadReport(opened)
	if err != nil {
		return fmt.Errorf("%s: se espera una lista JSON de objetos con name y value, en texto", file)
	}
	for _, text := range texts {
		if err := s.setAssumption(text); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func (s *settings) setUpstream(value string) error {
	if _, err := fiscope.NewClient(value, "x"); err != nil { // it refuses to send a key there
		return errors.New("se espera la URL de un servicio con https, como https://api.ejemplo.pe; con http, solo de esta máquina")
	}
	s.upstream = value
	return nil
}

func (s *settings) setNow(value string) error {
	t, err := time.Parse(time.RFC3339, value)
	if year := t.UTC().Year(); err != nil || year < 1970 || year > 8999 { // the range of the mock's clock
		return errors.New("se espera una hora como 2026-11-20T16:59:00-05:00, de 1970 a 8999")
	}
	s.now = t
	return nil
}

// setAdminToken refuses a token that an Authorization header cannot carry, and an empty one, which would admit everybody.
func (s *settings) setAdminToken(value string) error {
	if value == "" {
		return errors.New("está vacío")
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("se espera ASCII imprimible, sin espacios")
	}
	s.adminToken = value
	return nil
}

func (s *settings) setLog(value string) error {
	switch value {
	case logText, logJSON, logOff:
		s.log = value
		return nil
	}
	return fmt.Errorf("se espera %s, %s u %s", logText, logJSON, logOff)
}

// apiKey is one accepted key.
type apiKey struct {
	key   string
	quota *int // nil: the quota of -quota
}

// addKey parses KEY[=QUOTA]. A key may contain and end with "=", like base64. Errors never contain it.
func (s *settings) addKey(value string) error {
	k := apiKey{key: value}
	if at := strings.LastIndexByte(value, '='); at >= 0 && at < len(value)-1 {
		quota, err := readQuota(value[at+1:])
		if err != nil {
			return fmt.Errorf("tras el último = de CLAVE=N: %w (una clave de API que tiene un = lleva su N detrás)", err)
		}
		k = apiKey{value[:at], &quota}
	}
	for _, other := range s.keys {
		if other.key == k.key {
			return errors.New("está dos veces")
		}
	}
	s.keys = append(s.keys, k)
	return nil
}
