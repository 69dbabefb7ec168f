package conformance

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// question is one request of the plan, with the subtest that judges its answer.
type question struct {
	check   // without a name if other subtests judge it
	request request
	from    func(*record) (r request, why string) // makes the request from earlier answers, or says why it cannot
	never   string                                // why it is not sent to this target

	wrong        bool   // its clave should be refused
	tipo, codigo string // of a receipt: its type, and the expected codigo
}

// The questions that other code refers to, by the names of their subtests.
const (
	askLookup      = "4.1/a taxpayer is an object"
	askSearchOne   = "4.2/limit 1 returns one"
	askSearchTen   = "4.2/limit is 10 by default"
	askSearchFifty = "4.2/limit 50 returns up to fifty"
	askFound       = "4.2/a lookup has the details of a result"
	askRate        = "4.4/a rate is an object of the date asked for"
	askToday       = "4.4/without fecha it is of today"
	askImpossible  = "4.4/30 February has no rate"
	askOtherTipo   = "2.3/another tipoComprobante is not answered with 200"
	askReceipt     = "receipt " // and a number
)

// plan returns the questions in order. Lookups separate groups of one operation and one outcome: from one to the next
// X-RateLimit-Remaining shows the cost of the group (docs/contract.md, 8).
func (t Target) plan() []question {
	p := &planner{target: t}
	p.successes()
	p.receipts()
	p.refusals()
	p.validations()
	p.openPoints()
	p.keys()
	return p.questions
}

type planner struct {
	target    Target
	questions []question
}

// add adds a question, and returns it to be changed.
func (p *planner) add(name string, r request) *question {
	p.questions = append(p.questions, question{check: check{name: name}, request: r})
	return &p.questions[len(p.questions)-1]
}

// ask adds a question whose answer a function judges.
func (p *planner) ask(name string, r request, judge func(*verdict, *exchange)) *question {
	q := p.add(name, r)
	q.judge = func(v *verdict) {
		if x, ok := v.answered(name); ok {
			judge(v, x)
		}
	}
	return q
}

// refuse adds a question whose refusal is a row of docs/contract.md, 7; code "" stands for any that is not empty.
func (p *planner) refuse(name string, r request, status int, code string) *question {
	return p.ask(name, r, func(v *verdict, x *exchange) { v.refusal(x, status, code) })
}

// between looks up the taxpayer once more.
func (p *planner) between() { p.add("", lookupOf(p.target.RUC)) }

func (p *planner) successes() {
	t := p.target
	p.ask(askLookup, lookupOf(t.RUC), answersFor("ruc"))
	p.between()
	p.ask(askSearchOne, searchOf(t.Search, "1"), returns(1, 1))
	p.between()
	p.ask(askSearchTen, searchOf(t.Search, ""), returns(10, 10))
	p.ask(askSearchFifty, searchOf(t.Search, fmt.Sprint(mostResults)), returns(11, mostResults))
	p.ask("4.2/nothing found is an empty array", searchOf(noSuchName, ""), returns(0, 0))
	p.ask("4.2/3 characters are enough", searchOf("SAC", ""), returns(0, mostResults))
	p.ask("4.2/the text may stand anywhere in the name", request{op: search}, (*verdict).finds).from = searchInName(strings.TrimSpace)
	p.ask("4.2/lower case finds", request{op: search}, (*verdict).finds).from = searchInName(strings.ToLower)
	p.ask("4.2/upper case finds", request{op: search}, (*verdict).finds).from = searchInName(strings.ToUpper)
	p.ask(askFound, request{op: lookup}, answersFor("ruc")).from = lookupOfResult
	p.between()
	p.ask(askRate, rateOf(t.Fecha), answersFor("fecha"))
	p.between()
}

func (p *planner) receipts() {
	if p.target.CPE == nil {
		return
	}
	for i, c := range p.target.CPE.sample() {
		q := p.add(fmt.Sprint(askReceipt, i+1), validationOf(c, p.target.CPE.Usuario, ""))
		q.tipo, q.codigo = c.Tipo, c.Codigo
	}
	p.between()
}

func (p *planner) refusals() {
	t := p.target
	notFound := func(name string, r request) { p.refuse(name, r, http.StatusNotFound, "NOT_FOUND") }
	notFound("4.1/a RUC that nobody has is a 404 NOT_FOUND", lookupOf(t.RUCMissing))
	day, _ := time.Parse(time.DateOnly, t.Fecha) // ready checked it
	saturday := day.AddDate(0, 0, -1-int(day.Weekday()))
	notFound("4.4/a Saturday has no rate", rateOf(saturday.Format(time.DateOnly)))
	notFound("4.4/a Sunday has no rate", rateOf(saturday.AddDate(0, 0, 1).Format(time.DateOnly)))
	notFound("4.4/a national holiday has no rate", rateOf(t.Fecha[:4]+"-01-01"))
	p.between()

	bad := func(name string, r request, code string) { p.refuse(name, r, http.StatusBadRequest, code) }
	bad("4.1/10 digits are a 400", lookupOf(t.RUC[:10]), "")
	bad("4.1/12 digits are a 400", lookupOf(t.RUC+"0"), "")
	bad("4.1/a letter is a 400", lookupOf(t.RUC[:10]+"A"), "")
	bad("4.2/2 characters are a 400 SEARCH_TOO_SHORT", searchOf("SA", ""), "SEARCH_TOO_SHORT")
	bad("4.2/characters are counted, not bytes", searchOf("ÑÁ", ""), "SEARCH_TOO_SHORT")
	bad("4.2/razonSocial is required", request{op: search, target: "/api/contribuyentes/search"}, "")
	bad("4.2/limit 0 is a 400", searchOf(t.Search, "0"), "")
	bad("4.2/limit 51 is a 400", searchOf(t.Search, "51"), "")
	bad("4.2/limit -1 is a 400", searchOf(t.Search, "-1"), "")
	bad("4.4/DD-MM-YYYY with slashes is a 400", rateOf("05/01/2024"), "")
	bad("4.4/YYYY-M-D is a 400", rateOf("2024-1-5"), "")
	bad("4.4/YYYYMMDD is a 400", rateOf("20240105"), "")
}

// needsClave is why a question is not asked without CPE.
const needsClave = "it needs the clave of a SOL user: give -cpe FILE"

// withClave marks a question that is not sent without CPE.
func (p *planner) withClave(q *question) {
	if p.target.CPE == nil {
		q.never = needsClave
	}
}

func (p *planner) validations() {
	receipt, user := p.target.receipt()
	required := func(field string, u UsuarioSOL) *question {
		return p.refuse("2.3/"+field+" is required", validationOf(receipt, u, field), http.StatusBadRequest, "")
	}
	for _, field := range cpeFields[:6] {
		p.withClave(required(field, user))
	}
	// A service that treats a missing clave as a wrong one would count it: so the user is invented.
	required("claveSol", UsuarioSOL{RUC: p.target.RUC, Usuario: "NADIE000"})
	issuer, caller := receipt, user
	issuer.RUCEmisor, caller.RUC = issuer.RUCEmisor[:10], caller.RUC[:10]
	p.withClave(p.refuse("4.3/a malformed rucEmisor is a 400", validationOf(issuer, user, ""), http.StatusBadRequest, ""))
	p.withClave(p.refuse("4.3/a malformed rucSolicitante is a 400", validationOf(receipt, caller, ""), http.StatusBadRequest, ""))
	p.between()

	user.Clave = wrongClave
	q := p.refuse("4.3/a wrong clave is a 401 INVALID_SOL_CREDENTIALS", validationOf(receipt, user, ""), http.StatusUnauthorized, "INVALID_SOL_CREDENTIALS")
	q.wrong = true
	if p.target.WrongClave {
		p.between()
	} else {
		q.never = "a wrong clave may be counted: ask for it with -wrong-clave"
	}
}

func (p *planner) openPoints() {
	receipt, user := p.target.receipt()
	receipt.Tipo = "02"
	p.withClave(p.ask(askOtherTipo, validationOf(receipt, user, ""), isError))
	p.ask(askToday, request{op: rate, target: "/api/tipocambio"}, ofToday)
	p.ask(askImpossible, rateOf("2024-02-30"), isError)
}

// keyName returns the subtest of a request without a key, or with a bad one.
func keyName(op operation, key keyKind) string {
	if key == noKey {
		return "5.1/a " + string(op) + " without a key is refused"
	}
	return "5.1/a " + string(op) + " with a bad key is refused"
}

func (p *planner) keys() {
	receipt, user := p.target.receipt()
	for _, key := range []keyKind{noKey, badKey} {
		for _, r := range []request{lookupOf(p.target.RUC), searchOf(p.target.Search, ""), rateOf(p.target.Fecha), validationOf(receipt, user, "")} {
			r.key = key
			if q := p.ask(keyName(r.op, key), r, isError); r.clave {
				p.withClave(q)
			}
		}
	}
}
