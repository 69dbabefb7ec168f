package scrub_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/scrub"
)

// What is not searched of a page is not shown, and what is shown ends with no part of a secret.
func TestAPageIsSearchedAsFarAsItIsShown(t *testing.T) {
	long := strings.Repeat("<p>uno dos tres</p>\n", 5000)
	for name, test := range map[string]struct{ secret, body, want string }{
		"a title before a long text":        {"clave-24", "<title>La clave-24 es errada</title>" + long + "clave-24", "La [secreto] es errada"},
		"a secret at the end of the search": {"clave-24", "<p>" + strings.Repeat(" ", 64<<10-8) + "clave-24", ""},
		"a title far behind":                {"clave-24", "<style>" + strings.Repeat("p{}\n", 5000) + "</style><title>clave-24</title>", "[secreto]"},
		"a secret that goes on behind it":   {"uno</title>dos", "<title>uno</title>dos</p>", "[secreto]"},
		"... of which the beginning is all": {"uno</title>dos", "<title>uno</title>tres", "uno"},
		"the tag seems to begin one":        {"e-clave", "<title>La clave es errada</title>" + long, "La clave es errada"},
		"a secret in two tags":              {"uno dos-24", "<p>uno</p><p>dos-24</p>", "uno dos-24"}, // for Line to find
	} {
		t.Run(name, func(t *testing.T) {
			s := scrub.Secrets{}.With(test.secret)
			assert.Equal(t, test.want, scrub.Visible(s.Page([]byte(test.body))))
		})
	}
	s := scrub.Secrets{}.With("uno dos-24")
	assert.Equal(t, "[secreto]", s.Line(s.Page([]byte("<p>uno</p><p>dos-24</p>"))))
	for cut := range 200 {
		shown := s.Line(s.Page([]byte(strings.Repeat(" ", 2300+cut) + "x uno dos-24 y")))
		assert.NotContains(t, shown, "uno")
		assert.NotContains(t, shown, "dos")
	}
}

// A RUC at the end of what is searched is not shown, since it is not abridged unless it is whole.
func TestALineEndsWithNoPartOfARUC(t *testing.T) {
	s := scrub.Secrets{}.With("clave-24")
	for cut := range 200 {
		for _, shown := range []string{
			s.Line("a" + strings.Repeat(" ", 2300+cut) + "20123456789 b"),
			s.Line(s.Page([]byte("a" + strings.Repeat(" ", 2300+cut) + "20123456789 b"))),
		} {
			assert.Contains(t, []string{"a", "a 20…789", "a 20…789 b"}, shown)
		}
	}
}
