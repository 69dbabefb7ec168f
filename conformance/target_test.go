package conformance

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTargetsThatCannotBeAsked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Target)
		says   string
	}{
		"no URL":                    {func(t *Target) { t.BaseURL = "" }, "FISCOPE_BASE_URL"},
		"no scheme":                 {func(t *Target) { t.BaseURL = "127.0.0.1:8080" }, "no URL of http"},
		"another scheme":            {func(t *Target) { t.BaseURL = "ftp://127.0.0.1" }, "no URL of http"},
		"a URL with a password":     {func(t *Target) { t.BaseURL = "http://ana:" + theKey + "@127.0.0.1" }, "-base-url"},
		"a URL with a user":         {func(t *Target) { t.BaseURL = "http://ana:secreta@127.0.0.1" }, "has a user"},
		"a URL with a query":        {func(t *Target) { t.BaseURL = "http://127.0.0.1?x=1" }, "a query"},
		"no key":                    {func(t *Target) { t.APIKey = "" }, "FISCOPE_API_KEY"},
		"a key of two lines":        {func(t *Target) { t.APIKey = "a\r\nb" }, "printable ASCII"},
		"a key of other letters":    {func(t *Target) { t.APIKey = "ñ" }, "printable ASCII"},
		"10 digits":                 {func(t *Target) { t.RUC = "2013131295" }, "11 digits each"},
		"letters that do not exist": {func(t *Target) { t.RUCMissing = "2013131295A" }, "11 digits each"},
		"the same RUC":              {func(t *Target) { t.RUCMissing = DefaultRUC }, "the same"},
		"2 characters":              {func(t *Target) { t.Search = " ÑA " }, "3 characters or more"},
		"no UTF-8":                  {func(t *Target) { t.Search = "abc\xff" }, "UTF-8"},
		"no date":                   {func(t *Target) { t.Fecha = "17/01/2024" }, "such as 2024-01-17"},
		"a Saturday":                {func(t *Target) { t.Fecha = "2024-01-20" }, "is a Saturday"},
		"a budget below 0":          {func(t *Target) { t.Budget = -1 }, "-budget"},
		"no receipts":               {func(t *Target) { t.CPE = &CPE{Usuario: t.CPE.Usuario} }, "-cpe: there are no comprobantes"},
		"a principal user":          {func(t *Target) { t.CPE = &CPE{receipts, UsuarioSOL{solRUC, solUser, theClave, true}} }, "principal"},
		"no clave":                  {func(t *Target) { t.CPE = &CPE{receipts, UsuarioSOL{solRUC, solUser, "", false}} }, "clave is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			target := fullTarget("http://127.0.0.1:8080")
			c.change(&target)
			_, err := newExamination(target)
			require.ErrorContains(t, err, c.says)
			assert.NotContains(t, err.Error(), theKey)
			assert.NotContains(t, err.Error(), "secreta")
		})
	}
}

func TestBudget(t *testing.T) {
	whole := fullTarget("http://127.0.0.1:8080/base/")
	e, err := newExamination(whole)
	require.NoError(t, err)
	assert.Equal(t, "http://127.0.0.1:8080/base", e.target.BaseURL)
	assert.Equal(t, "budget: at most 66 queries", e.budget())
	require.NoError(t, e.affordable())
	e.target.Budget = e.most
	require.NoError(t, e.affordable())
	e.target.Budget--
	assert.EqualError(t, e.affordable(), "-budget allows 65 queries and the plan needs 66: give -budget 66, or none")

	whole.CPE, whole.WrongClave = nil, false
	e, err = newExamination(whole)
	require.NoError(t, err)
	assert.Equal(t, "budget: at most 44 queries", e.budget())
}

// Blanks at the ends of a text may not count: three characters have none.
func TestThreeCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"S.A": "S.A", " la  paz ": "paz", "ÑA DE ÑANDÚ": "ÑAN", "EL 3M 🔑🔑🔑🔑": "🔑🔑🔑", "A B C": "",
	} {
		assert.Equal(t, want, firstThree(text), text)
	}
	target := fullTarget("http://mock.invalid")
	target.Search = "A B"
	results, _ := examine(t, newMock(t), target)
	assert.Contains(t, skipping(results)["4.2/3 characters are enough"], "-search has no three characters")
}

func TestTheDaysAreThoseOfTheCalendar(t *testing.T) {
	for fecha, want := range map[string][3]string{
		"2024-01-17": {"2024-01-13", "2024-01-14", "2024-01-01"},
		"2024-01-15": {"2024-01-13", "2024-01-14", "2024-01-01"}, // a Monday
		"2023-03-03": {"2023-02-25", "2023-02-26", "2021-01-01"}, // 1 January of 2023 and 2022 were of a weekend
	} {
		plan := Target{BaseURL: "http://x", APIKey: "x", RUC: DefaultRUC, Search: DefaultSearch, Fecha: fecha}.plan()
		got := [3]string{}
		for _, q := range plan {
			for i, name := range []string{askSaturday, askSunday, askHoliday} {
				if q.name == name {
					got[i] = (&exchange{question: q}).fecha()
				}
			}
		}
		assert.Equal(t, want, got, fecha)
	}
}
