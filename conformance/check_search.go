package conformance

import (
	"net/http"
	"slices"
)

// searchChecks are those of docs/contrato.md, 4.2.
func searchChecks() []check {
	refusal := func(name, says, question, code string) check {
		return check{"4.2", name, says, func(v *verdict) { v.refusal(question, http.StatusBadRequest, code) }}
	}
	const (
		short = "a text of fewer than 3 characters is a 400 with code SEARCH_TOO_SHORT"
		limit = "a limit outside 1 to 50 is a 400"
		any   = "upper and lower case are the same"
	)
	return []check{
		{"4.2", "results are an array", "success is a JSON array of summaries", func(v *verdict) {
			for _, x := range v.succeeding(search) {
				v.list(x.name)
			}
		}},
		{"4.2", "nothing found is an empty array", "where nothing matches, the response is []", func(v *verdict) {
			if x, list, ok := v.list(askSearchNone); ok && len(list) > 0 {
				v.wrong(x, "there are %d results: want none, nobody is called so", len(list))
			}
		}},
		{"4.2", "the text may stand anywhere in the name", "the match is partial: the text may stand anywhere in the name",
			func(v *verdict) { v.finds(askAnywhere) }},
		{"4.2", "lower case finds", any, func(v *verdict) { v.finds(askLower) }},
		{"4.2", "upper case finds", any, func(v *verdict) { v.finds(askUpper) }},
		{"4.2", "3 characters are enough", "the text has 3 characters or more", func(v *verdict) { v.list(askThree) }},
		refusal("2 characters are a 400 SEARCH_TOO_SHORT", short, askShort, "SEARCH_TOO_SHORT"),
		refusal("characters are counted, not bytes", short, askShortBytes, "SEARCH_TOO_SHORT"),
		refusal("razonSocial is required", "razonSocial is required", askNoText, ""),
		{"4.2", "limit 1 returns one", "limit is the most results to return, from 1 on",
			func(v *verdict) { v.returns(askSearchOne, 1, 1) }},
		{"4.2", "limit is 10 by default", "limit is 10 where it is not given",
			func(v *verdict) { v.returns(askSearchTen, 10, 10) }},
		{"4.2", "limit 50 returns up to fifty", "limit is the most results to return, up to 50",
			func(v *verdict) { v.returns(askSearchFifty, 11, mostResults) }},
		refusal("limit 0 is a 400", limit, askLimitZero, ""),
		refusal("limit 51 is a 400", limit, askLimitOver, ""),
		refusal("limit -1 is a 400", limit, askLimitBelow, ""),
		{"4.2", "a smaller limit returns the first of a larger one", "results are ordered by relevance", func(v *verdict) {
			v.begins(askSearchTen, askSearchOne)
			v.begins(askSearchFifty, askSearchTen)
		}},
		{"4.2", "a lookup has the details of a result", "all details of a result come from a lookup of its ruc", func(v *verdict) {
			if x, taxpayer, ok := v.object(askFound); ok && taxpayer["ruc"] != x.ruc() {
				v.wrong(x, "ruc is %s: want the one that the search has returned", member(taxpayer, "ruc"))
			}
		}},
	}
}

// rucs are those of the results of a search, "" where there is none.
func rucs(list []any) (all []string) {
	for _, one := range list {
		object, _ := one.(map[string]any)
		ruc, _ := object["ruc"].(string)
		all = append(all, ruc)
	}
	return all
}

// finds judges whether a search has found the taxpayer of the lookup. Where as many results came as may, it can be
// the one after them.
func (v *verdict) finds(name string) {
	switch x, list, ok := v.list(name); {
	case !ok, slices.Contains(rucs(list), v.named[askLookup].ruc()):
	case len(list) >= mostResults:
		v.skip("%d others have the text in their names: give a -ruc with a longer razonSocial", len(list))
	default:
		v.wrong(x, "the taxpayer of -ruc is not among the %d results, and the text stands in its razonSocial", len(list))
	}
}

// returns judges how many results a search has.
func (v *verdict) returns(name string, least, most int) {
	x, list, ok := v.list(name)
	switch {
	case !ok:
	case len(list) < least:
		v.wrong(x, "there are %d results: want %d at least, since -search is to have more than ten matches", len(list), least)
	case len(list) > most:
		v.wrong(x, "there are %d results: want %d at most", len(list), most)
	}
}

// begins judges whether the results of one search begin with those of another.
func (v *verdict) begins(longer, shorter string) {
	x, list, ok := v.list(longer)
	_, first, also := v.list(shorter)
	if !ok || !also {
		return
	}
	all, some := rucs(list), rucs(first)
	if !slices.Equal(all[:min(len(all), len(some))], some) {
		v.wrong(x, "its results do not begin with the %d of the smaller limit", len(some))
	}
}
