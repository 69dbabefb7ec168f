package conformance

import (
	"net/http"
	"time"
)

// rateChecks are those of docs/contrato.md, 4.4.
func rateChecks() []check {
	refusal := func(name, says, question string, status int, code string) check {
		return check{"4.4", name, says, func(v *verdict) { v.refusal(question, status, code) }}
	}
	const (
		form = "a fecha that is not YYYY-MM-DD is a 400"
		none = "a date without a rate is a 404 with code NOT_FOUND"
	)
	return []check{
		{"4.4", "a rate is an object of the date asked for", "success is a JSON object, the rate of the date that was asked for",
			func(v *verdict) {
				if x, rate, ok := v.object(askRate); ok && rate["fecha"] != x.fecha() {
					v.wrong(x, "fecha is %s: want the one that was asked for", member(rate, "fecha"))
				}
			}},
		{"4.4", "without fecha it is of today", "fecha is today where it is not given, and today may have no rate yet", judgeToday},
		refusal("DD-MM-YYYY with slashes is a 400", form, askDayFirst, http.StatusBadRequest, ""),
		refusal("YYYY-M-D is a 400", form, askUnpadded, http.StatusBadRequest, ""),
		refusal("YYYYMMDD is a 400", form, askNoDashes, http.StatusBadRequest, ""),
		refusal("a Saturday has no rate", none, askSaturday, http.StatusNotFound, "NOT_FOUND"),
		refusal("a Sunday has no rate", none, askSunday, http.StatusNotFound, "NOT_FOUND"),
		refusal("a national holiday has no rate", none, askHoliday, http.StatusNotFound, "NOT_FOUND"),
		{"4.4", "30 February has no rate", "a date that no calendar has has no rate: whether as such or for its form is open",
			func(v *verdict) {
				if x, ok := v.answered(askImpossible); ok && x.succeeded() {
					v.wrong(x, "the status is %d: want an error, of whatever status", x.answer.status)
				}
			}},
	}
}

// lima is the country's time, the same all year.
var lima = time.FixedZone("America/Lima", -5*60*60)

// judgeToday takes the rate of today, or a 404 with NOT_FOUND. Today is that of the server's clock, where its
// answer has a Date, or that of this machine; in Lima or in UTC, since the contract does not say where.
func judgeToday(v *verdict) {
	x, ok := v.answered(askToday)
	if !ok {
		return
	}
	if x.answer.status == http.StatusNotFound {
		v.refusal(askToday, http.StatusNotFound, "NOT_FOUND")
		return
	}
	x, rate, ok := v.object(askToday)
	if !ok {
		return
	}
	const underway = 5 * time.Second // midnight may pass meanwhile
	for _, now := range []time.Time{x.clock(), x.answer.came} {
		for _, at := range []time.Time{now, now.Add(-underway)} {
			if fecha := rate["fecha"]; fecha == at.In(lima).Format(time.DateOnly) || fecha == at.UTC().Format(time.DateOnly) {
				return
			}
		}
	}
	v.wrong(x, "fecha is %s: want today, in Lima %s", member(rate, "fecha"), x.clock().In(lima).Format(time.DateOnly))
}
