package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/assumption"
	"github.com/fiscope/fiscope/mockserver"
)

func text(field func(*settings) *string) func(*settings, string) error {
	return func(s *settings, value string) error {
		*field(s) = value
		return nil
	}
}

func appended(field func(*settings) *[]string) func(*settings, string) error {
	return func(s *settings, value string) error {
		if value == "" {
			return errors.New("it is empty")
		}
		*field(s) = append(*field(s), value)
		return nil
	}
}

func boolean(field func(*settings) *bool) func(*settings, string) error {
	return func(s *settings, value string) error {
		on, err := strconv.ParseBool(value)
		if err != nil {
			return errors.New("want true or false")
		}
		*field(s) = on
		return nil
	}
}

func duration(field func(*settings) *time.Duration) func(*settings, string) error {
	return func(s *settings, value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return errors.New("want a duration such as 5s")
		}
		*field(s) = d
		return nil
	}
}

func readQuota(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < mockserver.Unlimited {
		return 0, errors.New("want a number of calls, 0 or more, or -1 for unlimited")
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

// setPadron takes an index. Many taxpayers of the registry have no ubigeo, and none has dates: none are made up.
func (s *settings) setPadron(index string) error {
	if index == "" {
		return errors.New("want the file of an index")
	}
	s.padron, s.assume.Unknown = index, mockserver.UnknownEmpty
	return nil
}

// setAssumption takes NAME=VALUE, or @ and the name of a file with many of them.
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
	report, err := os.Open(file) //nolint:gosec // the files of who runs the program
	if err != nil {
		return err
	}
	defer report.Close()
	texts, err := assumption.ReadReport(report)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, text := range texts {
		if err := s.setAssumption(text); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func (s *settings) setJournal(value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return errors.New("want a number of calls, 0 or more")
	}
	s.journal = n
	return nil
}

func (s *settings) setNow(value string) error {
	t, err := time.Parse(time.RFC3339, value)
	if err != nil || t.IsZero() {
		return errors.New("want a time as RFC 3339 has it, such as 2026-11-20T16:59:00-05:00")
	}
	s.now = t
	return nil
}

// setAdminToken refuses what no Authorization header carries: nobody would ever be let in. An empty one,
// of a variable that is not set, would let in everybody.
func (s *settings) setAdminToken(value string) error {
	if value == "" {
		return errors.New("it is empty")
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("want printable ASCII without spaces")
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
	return fmt.Errorf("want %s, %s or %s", logText, logJSON, logOff)
}

// apiKey is one accepted key.
type apiKey struct {
	key   string
	quota *int // nil: that of -quota
}

// addKey reads KEY[=QUOTA]. A key may hold and end with "=", as base64 does; only a number after the last
// one is a quota. Its errors never repeat the key.
func (s *settings) addKey(value string) error {
	k := apiKey{key: value}
	if at := strings.LastIndexByte(value, '='); at >= 0 && at < len(value)-1 {
		quota, err := readQuota(value[at+1:])
		if err != nil {
			return fmt.Errorf("after the last = of KEY=QUOTA: %w (a key that holds a = needs its quota after it)", err)
		}
		k = apiKey{value[:at], &quota}
	}
	for _, other := range s.keys {
		if other.key == k.key {
			return errors.New("the same key twice")
		}
	}
	s.keys = append(s.keys, k)
	return nil
}
