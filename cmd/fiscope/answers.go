package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
)

// quotaNote is how the file of the answers notes the quota.
const quotaNote = "quedan %d de %d"

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
		q := quota{at: a.AsOf}
		if n, _ := fmt.Sscanf(a.Input, quotaNote, &q.left, &q.limit); n == 2 {
			b.noted = q
		}
	}
	return nil
}

// isAnswer reports whether the service or the registry answered, also that nobody has the RUC.
func isAnswer(a fiscope.SavedResult) bool { return len(a.Answer) > 0 || a.Error != "" && !a.Pending }

// dayOf returns the day of an answer in Lima; "" if that is unknown.
func dayOf(a fiscope.SavedResult) string {
	if a.AsOf.IsZero() {
		return ""
	}
	return fiscope.FechaEnLima(a.AsOf).String()
}

// noDay is the age of an answer without a time, or with one in the future.
const noDay = longest + 1

// age returns the age of an answer in days of Lima.
func (b *batch) age(a fiscope.SavedResult) int {
	age := b.client.Hoy().En(fiscope.Lima).Sub(fiscope.FechaEnLima(a.AsOf).En(fiscope.Lima))
	if age < 0 {
		return noDay
	}
	return min(noDay, int(age/(24*time.Hour))) // without a time it is 292 years
}

// answered reports whether an input needs no query.
func (b *batch) answered(a fiscope.SavedResult) bool { return !a.Pending && b.age(a) <= b.days }

// restOn makes a row pending if an answer that it rests on is too old. It returns the day of the oldest.
func (b *batch) restOn(of *result, waiting *state, answers ...fiscope.SavedResult) string {
	answers = slices.DeleteFunc(answers, func(a fiscope.SavedResult) bool { return !isAnswer(a) })
	oldest := slices.MaxFunc(answers, func(x, y fiscope.SavedResult) int { return b.age(x) - b.age(y) })
	if of.state != waiting && b.age(oldest) > b.days {
		day := cmp.Or(dayOf(oldest), "día que no se sabe")
		of.state, of.detail = waiting, fmt.Sprintf("falta preguntar otra vez: la respuesta es del %s (-dias %d). %s", day, b.days, b.notes[oldest.Input])
	}
	for _, a := range answers {
		if of.state != waiting && b.age(a) > 0 {
			b.others[a.Input] = fiscope.FechaEnLima(a.AsOf)
		}
	}
	return dayOf(oldest)
}

// adviseDays says which -dias the quota allows, if it does not allow this one. If the answers older than A days can be
// renewed in D days, the others are then at most A+D days old. The smallest A+D is the advice.
func (b *batch) adviseDays() {
	perDay := b.noted.limit - b.reserve
	if perDay <= 0 {
		return
	}
	left := perDay
	if fiscope.FechaEnLima(b.noted.at) == b.client.Hoy() {
		left = b.noted.left - b.reserve
	}
	ages, days, n := []int{0}, noDay, 0
	for _, input := range slices.Compact(slices.Sorted(slices.Values(b.needs(true)))) {
		ages = append(ages, b.age(b.known[input]))
	}
	inDays := func(queries int) int { return max(0, queries+perDay-1) / perDay }
	slices.Sort(ages)
	for i, age := range ages {
		days = min(days, age+inDays(len(ages)-1-i-left))
		if age > b.days {
			n++
		}
	}
	if days > b.days {
		b.note("Con %s consultas al día y %s por hacer, use -dias %d o más.", terminal.Thousands(perDay), terminal.Thousands(n), max(days, inDays(n)))
	}
}
