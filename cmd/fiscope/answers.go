package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
)

// noted is what was left of the day's quota, and when; a zero time if that is unknown.
type noted struct {
	left, limit int
	at          time.Time
}

// load reads what was answered, and the note of the quota.
func (b *batch) load() error {
	b.known = map[string]fiscope.SavedResult{}
	for a, err := range fiscope.ReadResults(b.keptFile()) {
		if errors.Is(err, fs.ErrNotExist) { // -simular makes none
			return nil
		}
		if err != nil {
			return notKept(b.keptFile(), err)
		}
		b.known[a.Input] = a
		if q := (noted{at: a.AsOf}); q.scan(a.Input) {
			b.quota = q
		}
	}
	return nil
}

func (q noted) String() string { return fmt.Sprintf("quedan %d de %d", q.left, q.limit) }

func (q *noted) scan(text string) bool {
	_, err := fmt.Sscanf(text, "quedan %d de %d", &q.left, &q.limit)
	return err == nil
}

// readAnswer decodes an answer in the contract's form; false if there is none.
func readAnswer(a fiscope.SavedResult, into any) bool { return json.Unmarshal(a.Answer, into) == nil }

// isAnswer reports whether the service or the registry answered, if only that nobody has the RUC.
func isAnswer(a fiscope.SavedResult) bool { return len(a.Answer) > 0 || a.Error != "" && !a.Pending }

// byRegistry says why a taxpayer's answer is not final.
func byRegistry(a fiscope.SavedResult) string {
	return "el servicio no respondió; es del padrón del " + dayOf(a)
}

// dayOf returns the day of an answer in Lima; "" if that is unknown.
func dayOf(a fiscope.SavedResult) string {
	if a.AsOf.IsZero() {
		return ""
	}
	return fiscope.FechaEnLima(a.AsOf).String()
}

// noDay is the age of what has no time, or one of the future.
const noDay = longest + 1

// age returns the age of an answer in days of Lima.
func (b *batch) age(a fiscope.SavedResult) int {
	age := b.client.Hoy().En(fiscope.Lima).Sub(fiscope.FechaEnLima(a.AsOf).En(fiscope.Lima))
	if age < 0 {
		return noDay
	}
	return min(noDay, int(age/(24*time.Hour))) // of no time: 292 years
}

// answered reports whether an input needs no query.
func (b *batch) answered(a fiscope.SavedResult) bool { return !a.Pending && b.age(a) <= b.days }

// restOn makes a row pending if the oldest of the answers that it rests on is too old. It returns the day of that one.
func (b *batch) restOn(of *result, waiting *state, answers ...fiscope.SavedResult) string {
	oldest := slices.MinFunc(answers, func(x, y fiscope.SavedResult) int { return x.AsOf.Compare(y.AsOf) })
	switch {
	case of.state == waiting:
	case b.age(oldest) > b.days:
		of.state, of.detail = waiting, fmt.Sprintf("falta preguntar otra vez: la respuesta es del %s (-dias %d). %s",
			cmp.Or(dayOf(oldest), "día que no se sabe"), b.days, b.notes[oldest.Input])
	default:
		for _, a := range answers {
			if b.age(a) > 0 {
				b.others[a.Input] = a.AsOf
			}
		}
	}
	return dayOf(oldest)
}

// adviseDays says which -dias the quota allows, if it does not allow this one. For each -dias it looks for a day from now on
// by which all that will be too old then can be asked.
func (b *batch) adviseDays() {
	perDay := b.quota.limit - b.reserve
	left := perDay
	if fiscope.FechaEnLima(b.quota.at) == b.client.Hoy() {
		left = b.quota.left - b.reserve
	}
	var ages []int
	for _, input := range slices.Compact(slices.Sorted(slices.Values(b.needs(true)))) {
		if input != "" {
			ages = append(ages, b.age(b.known[input]))
		}
	}
	slices.Sort(ages)
	older := func(than int) int {
		at, _ := slices.BinarySearch(ages, than+1)
		return len(ages) - at
	}
	suffices := func(days int) bool {
		for day := range days + 1 {
			if older(days-day) <= left+day*perDay {
				return true
			}
		}
		return false
	}
	days := b.days
	for perDay > 0 && !suffices(days) {
		days++
	}
	if n := older(b.days); days > b.days {
		b.note("Con %s consultas al día y %s por hacer, use -dias %d o más.", terminal.Thousands(perDay), terminal.Thousands(n), max(days, (n+perDay-1)/perDay))
	}
}
