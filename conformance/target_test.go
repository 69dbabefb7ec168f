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
		"no scheme":                 {func(t *Target) { t.BaseURL = "127.0.0.1:8080" }, "-base-url"},
		"another scheme":            {func(t *Target) { t.BaseURL = "ftp://127.0.0.1" }, "-base-url"},
		"a URL with a password":     {func(t *Target) { t.BaseURL = "http://ana:" + theKey + "@127.0.0.1" }, "-base-url"},
		"a URL with a user":         {func(t *Target) { t.BaseURL = "http://ana:secreta@127.0.0.1" }, "-base-url"},
		"a URL with a query":        {func(t *Target) { t.BaseURL = "http://127.0.0.1?x=1" }, "-base-url"},
		"no key":                    {func(t *Target) { t.APIKey = "" }, "FISCOPE_API_KEY"},
		"a key of two lines":        {func(t *Target) { t.APIKey = "a\r\nb" }, "printable ASCII"},
		"a key of other letters":    {func(t *Target) { t.APIKey = "ñ" }, "printable ASCII"},
		"10 digits":                 {func(t *Target) { t.RUC = "2013131295" }, "11 digits each"},
		"letters that do not exist": {func(t *Target) { t.RUCMissing = "2013131295A" }, "11 digits each"},
		"the same RUC":              {func(t *Target) { t.RUCMissing = DefaultRUC }, "the same"},
		"2 characters":              {func(t *Target) { t.Search = " ÑA " }, "3 characters or more"},
		"no UTF-8":                  {func(t *Target) { t.Search = "abc\xff" }, "UTF-8"},
		"no date":                   {func(t *Target) { t.Fecha = "17/01/2024" }, "such as 2024-01-17"},
		"a Saturday":                {func(t *Target) { t.Fecha = "2024-01-20" }, "want a business day"},
		"a budget below 0":          {func(t *Target) { t.Budget = -1 }, "-budget"},
		"no receipts":               {func(t *Target) { t.CPE = &CPE{Usuario: t.CPE.Usuario} }, "-cpe: there are no comprobantes"},
		"a principal user":          {func(t *Target) { t.CPE = &CPE{receipts, UsuarioSOL{solRUC, solUser, theClave, true}} }, "may be no principal one"},
		"no clave":                  {func(t *Target) { t.CPE = &CPE{receipts, UsuarioSOL{solRUC, solUser, "", false}} }, "a clave"},
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
	assert.Equal(t, 64, e.most)
	whole.CPE, whole.WrongClave = nil, false
	e, err = newExamination(whole)
	require.NoError(t, err)
	assert.Equal(t, 42, e.most)
}

func TestTheDaysAreThoseOfTheCalendar(t *testing.T) {
	for fecha, want := range map[string][3]string{
		"2024-01-17": {"2024-01-13", "2024-01-14", "2024-01-01"},
		"2024-01-15": {"2024-01-13", "2024-01-14", "2024-01-01"}, // a Monday
		"2023-03-03": {"2023-02-25", "2023-02-26", "2023-01-01"},
	} {
		plan := Target{BaseURL: "http://x", APIKey: "x", RUC: DefaultRUC, Search: DefaultSearch, Fecha: fecha}.plan()
		got := [3]string{}
		for _, q := range plan {
			for i, name := range []string{"4.4/a Saturday has no rate", "4.4/a Sunday has no rate", "4.4/a national holiday has no rate"} {
				if q.name == name {
					got[i] = q.request.asked
				}
			}
		}
		assert.Equal(t, want, got, fecha)
	}
}
