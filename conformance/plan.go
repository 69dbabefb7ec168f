package conformance

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The questions that checks name. Those of a list have a number or a name after it.
const (
	askLookup       = "lookup"
	askLookupAgain  = "lookup again"
	askSearchOne    = "search, limit 1"
	askSearchTen    = "search, no limit"
	askSearchFifty  = "search, limit 50"
	askSearchNone   = "search of what nobody is called"
	askAnywhere     = "search of a part of the name"
	askLower        = "search in lower case"
	askUpper        = "search in upper case"
	askThree        = "search of 3 characters"
	askFound        = "lookup of a result"
	askRate         = "exchange rate"
	askReceipt      = "receipt "
	askNobody       = "lookup of nobody"
	askSaturday     = "exchange rate of a Saturday"
	askSunday       = "exchange rate of a Sunday"
	askHoliday      = "exchange rate of 1 January"
	askTenDigits    = "lookup of 10 digits"
	askTwelveDigits = "lookup of 12 digits"
	askLetter       = "lookup with a letter"
	askShort        = "search of 2 characters"
	askShortBytes   = "search of 2 characters, 4 bytes"
	askNoText       = "search without razonSocial"
	askLimitZero    = "search, limit 0"
	askLimitOver    = "search, limit 51"
	askLimitBelow   = "search, limit -1"
	askDayFirst     = "exchange rate, DD/MM/YYYY"
	askUnpadded     = "exchange rate, YYYY-M-D"
	askNoDashes     = "exchange rate, YYYYMMDD"
	askWithout      = "validation without "
	askMalformed    = "validation, malformed "
	askOtherTipo    = "validation, tipoComprobante outside the list"
	askWrongClave   = "validation, wrong clave"
	askToday        = "exchange rate of today"
	askImpossible   = "exchange rate of 30 February"
	askBlanks       = "search of a letter and blanks"
	askWords        = "search of words of the name, turned round"
	askNoKey        = "no key: "
	askBadKey       = "bad key: "
	askBetween      = "lookup between "
)

// plan returns what is asked, in this order. Lookups stand between groups of one operation and one outcome: from
// one to the next X-RateLimit-Remaining tells what the group has cost (docs/contrato.md, 8).
func (t Target) plan() []question {
	p := &planner{target: t}
	p.successes()
	p.refusals()
	p.openPoints()
	p.keys()
	return p.questions
}

// planner makes a plan.
type planner struct {
	target    Target
	questions []question
}

func (p *planner) add(q question) { p.questions = append(p.questions, q) }

func (p *planner) ask(name string, ends outcome, r request) {
	p.add(question{name: name, ends: ends, request: r})
}

// between looks up the taxpayer once more.
func (p *planner) between(name string) {
	p.add(question{name: name, ends: succeeds, request: lookupOf(p.target.RUC), again: true})
}

func (p *planner) successes() {
	t := p.target
	p.ask(askLookup, succeeds, lookupOf(t.RUC))
	p.between(askLookupAgain)
	p.ask(askSearchOne, succeeds, searchOf("razonSocial", t.Search, "limit", "1"))
	p.between(askBetween + "searches")
	p.ask(askSearchTen, succeeds, searchOf("razonSocial", t.Search))
	p.ask(askSearchFifty, succeeds, searchOf("razonSocial", t.Search, "limit", fmt.Sprint(mostResults)))
	p.ask(askSearchNone, succeeds, searchOf("razonSocial", noSuchName))
	if three := firstThree(t.Search); three == "" {
		p.add(question{name: askThree, never: because("-search has no three characters without a blank")})
	} else {
		p.ask(askThree, succeeds, searchOf("razonSocial", three))
	}
	asItIs := func(part string) string { return part }
	p.add(question{name: askAnywhere, ends: succeeds, from: searchInName(asItIs)})
	p.add(question{name: askLower, ends: succeeds, from: searchInName(strings.ToLower)})
	p.add(question{name: askUpper, ends: succeeds, from: searchInName(strings.ToUpper)})
	p.add(question{name: askFound, ends: succeeds, from: lookupOfResult})
	p.between(askBetween + "searches and rates")
	p.ask(askRate, succeeds, rateOf("fecha", t.Fecha))
	p.between(askBetween + "rates and the rest")
	if t.CPE == nil {
		return
	}
	for i, c := range t.CPE.sample() {
		p.add(question{
			name: fmt.Sprint(askReceipt, i+1), ends: succeeds, tipo: c.Tipo, codigo: c.Codigo,
			request: validationOf(fieldsOf(c, t.CPE.Usuario), ""),
		})
	}
	p.between(askBetween + "receipts and the rest")
}

func (p *planner) refusals() {
	t := p.target
	p.ask(askNobody, refused, lookupOf(t.RUCMissing))
	saturday := t.day().AddDate(0, 0, -1-int(t.day().Weekday()))
	p.ask(askSaturday, refused, rateOf("fecha", saturday.Format(time.DateOnly)))
	p.ask(askSunday, refused, rateOf("fecha", saturday.AddDate(0, 0, 1).Format(time.DateOnly)))
	p.ask(askHoliday, refused, rateOf("fecha", newYear(t.day()).Format(time.DateOnly)))
	p.between(askBetween + "404s and 400s")

	p.ask(askTenDigits, refused, lookupOf(t.RUC[:10]))
	p.ask(askTwelveDigits, refused, lookupOf(t.RUC+"0"))
	p.ask(askLetter, refused, lookupOf(t.RUC[:10]+"A"))
	p.ask(askShort, refused, searchOf("razonSocial", "SA"))
	p.ask(askShortBytes, refused, searchOf("razonSocial", "ÑÁ"))
	p.ask(askNoText, refused, searchOf())
	p.ask(askLimitZero, refused, searchOf("razonSocial", t.Search, "limit", "0"))
	p.ask(askLimitOver, refused, searchOf("razonSocial", t.Search, "limit", "51"))
	p.ask(askLimitBelow, refused, searchOf("razonSocial", t.Search, "limit", "-1"))
	p.ask(askDayFirst, refused, rateOf("fecha", "05/01/2024"))
	p.ask(askUnpadded, refused, rateOf("fecha", "2024-1-5"))
	p.ask(askNoDashes, refused, rateOf("fecha", "20240105"))
	for _, field := range cpeFields {
		if field == "claveSol" { // a service that took the absent one for a wrong one would count it: nobody's, then
			p.ask(askWithout+field, refused, validationOf(t.ofNobody(), field))
		} else {
			p.validate(askWithout+field, refused, ownKey, field, func(*fields) {})
		}
	}
	p.validate(askMalformed+"rucEmisor", refused, ownKey, "", func(f *fields) { f.rucEmisor = f.rucEmisor[:10] })
	p.validate(askMalformed+"rucSolicitante", refused, ownKey, "", func(f *fields) { f.rucSolicitante = f.rucSolicitante[:10] })
	p.between(askBetween + "400s and the rest")

	if !t.WrongClave {
		p.add(question{name: askWrongClave, never: because("a wrong clave may be counted: ask for it with -wrong-clave")})
		return
	}
	p.add(question{name: askWrongClave, ends: refused, request: validationOf(t.wrongClave(), ""), wrong: true})
	p.between(askBetween + "a wrong clave and the rest")
}

func (p *planner) openPoints() {
	p.validate(askOtherTipo, open, ownKey, "", func(f *fields) { f.tipo = "02" })
	p.ask(askToday, open, rateOf())
	p.ask(askImpossible, open, rateOf("fecha", "2024-02-30"))
	p.ask(askBlanks, open, searchOf("razonSocial", "  A"))
	p.add(question{name: askWords, ends: open, from: searchTurnedRound})
}

func (p *planner) keys() {
	t := p.target
	for _, of := range []struct {
		name string
		key  keyKind
	}{{askNoKey, noKey}, {askBadKey, badKey}} {
		for _, r := range []request{lookupOf(t.RUC), searchOf("razonSocial", t.Search), rateOf("fecha", t.Fecha)} {
			r.key = of.key
			p.ask(of.name+string(r.op), keyless, r)
		}
		p.validate(of.name+string(validation), keyless, of.key, "", func(*fields) {})
	}
}

// needsClave is why a question is not asked without a user.
const needsClave = "it needs the clave of a SOL user: give -cpe FILE"

// validate asks for the first receipt with the right clave, but for a field that is left out or changed.
func (p *planner) validate(name string, ends outcome, key keyKind, without string, change func(*fields)) {
	if p.target.CPE == nil {
		p.add(question{name: name, never: because(needsClave)})
		return
	}
	f := fieldsOf(p.target.CPE.Comprobantes[0], p.target.CPE.Usuario)
	change(&f)
	r := validationOf(f, without)
	r.key = key
	p.ask(name, ends, r)
}

// ofNobody is a validation for a user that is made up.
func (t Target) ofNobody() fields {
	return fields{t.RUC, "01", "F001", 1, t.RUC, "NADIE000", ""}
}

// wrongClave is a complete validation whose clave is not the user's: without CPE that of the mock's own data, whom
// other servers do not know.
func (t Target) wrongClave() fields {
	f := fields{t.RUC, "01", "F001", 1, t.RUC, "MIUSER01", ""}
	if t.CPE != nil {
		f = fieldsOf(t.CPE.Comprobantes[0], t.CPE.Usuario)
	}
	wrong := "no-es-la-clave"
	if f.clave == wrong {
		wrong = "tampoco-lo-es"
	}
	f.clave = wrong
	return f
}

// mostResults is the largest limit of a search (docs/contrato.md, 4.2).
const mostResults = 50

// noSuchName is in no name.
const noSuchName = "ZZQXJWKVZZ"

// firstThree are the first three characters in a row without a blank, which may not count (docs/contrato.md, 4.2);
// "" where there are none.
func firstThree(text string) string {
	for _, word := range strings.Fields(text) {
		if letters := []rune(word); len(letters) >= 3 {
			return string(letters[:3])
		}
	}
	return ""
}

// newYear is the last 1 January, a national holiday, that is no weekend: no rate for its own reason.
func newYear(day time.Time) time.Time {
	for year := day.Year(); ; year-- {
		first := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
		if first.Weekday() != time.Saturday && first.Weekday() != time.Sunday {
			return first
		}
	}
}

// nameOf is the razonSocial that the lookup has returned, or why none is known.
func nameOf(r *record) (string, *reason) {
	taxpayer, _ := r.valueOf(askLookup).(map[string]any)
	name, _ := taxpayer["razonSocial"].(string)
	if name = strings.TrimSpace(name); name == "" {
		return "", because("the lookup of -ruc has returned no razonSocial to search for")
	}
	return name, nil
}

// searchInName searches for the name without its first and last character: a part that begins within a word, and
// that few other names can have.
func searchInName(written func(string) string) func(*record) (request, *reason) {
	return func(r *record) (request, *reason) {
		name, why := nameOf(r)
		if why != nil {
			return request{}, why
		}
		letters := []rune(name)
		part := strings.TrimSpace(string(letters[1:max(1, len(letters)-1)]))
		if utf8.RuneCountInString(part) < 3 {
			return request{}, because("the razonSocial of -ruc is too short to search for a part of it")
		}
		return searchOf("razonSocial", written(part), "limit", fmt.Sprint(mostResults)), nil
	}
}

// searchTurnedRound searches for the name's last word and its first, in this order.
func searchTurnedRound(r *record) (request, *reason) {
	name, why := nameOf(r)
	if why != nil {
		return request{}, why
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	turned := ""
	if len(words) > 1 {
		turned = words[len(words)-1] + " " + words[0]
	}
	if turned == "" || strings.Contains(name, turned) {
		return request{}, because("the razonSocial of -ruc has no two words to turn round")
	}
	return searchOf("razonSocial", turned, "limit", fmt.Sprint(mostResults)), nil
}

// lookupOfResult looks up the first taxpayer that a search has found.
func lookupOfResult(r *record) (request, *reason) {
	found, _ := r.valueOf(askSearchTen).([]any)
	for _, one := range found {
		taxpayer, _ := one.(map[string]any)
		if ruc, _ := taxpayer["ruc"].(string); formOfRUC.MatchString(ruc) {
			return lookupOf(ruc), nil
		}
	}
	return request{}, because("no search has returned a ruc to look up")
}
