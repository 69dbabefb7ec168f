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
		"a secret in two tags":              {"uno dos-24", "<p>uno</p><p>dos-24</p>", "[secreto]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := scrub.Secrets{}.With(test.secret)
			assert.Equal(t, test.want, scrub.Visible(s.Page([]byte(test.body))))
		})
	}
	s := scrub.Secrets{}.With("uno dos-24")
	for cut := range 200 {
		blanks := strings.Repeat(" ", 2300+cut)
		for _, body := range []string{
			blanks + "x uno dos-24 y",
			"<p>x" + blanks + "uno</p><p>dos-24</p><p>fin</p>", // in two tags
			"<p>" + blanks + "uno</p><p>dos-24</p><p>fin</p>",
			"<p>x" + strings.Repeat("&nbsp;", 1100+cut) + "uno</p><p>dos-24</p><p>fin</p>",
		} {
			shown := s.Line(s.Page([]byte(body)))
			assert.NotContains(t, shown, "uno")
			assert.NotContains(t, shown, "dos")
		}
	}
}

// A RUC at the end of what is searched is not shown, since it is not abridged unless it is whole.
func TestALineEndsWithNoPartOfARUC(t *testing.T) {
	s := scrub.Secrets{}.With("97 clave-24")
	for name, between := range map[string]string{
		"nothing": "", "a soft hyphen": "\u00ad", "a zero width space": "\u200b", "a byte order mark": "\ufeff", "a NUL": "\x00", "two": "\x00\u200b",
	} {
		t.Run(name, func(t *testing.T) {
			ruc := strings.Join(strings.Split("20123456797", ""), between)
			for cut := range 60 {
				text := strings.Repeat(" ", 2345+cut) + ruc + " b"
				for where, shown := range map[string]string{
					"a line":                 s.Line("a" + text),
					"a text":                 s.Line(s.Page([]byte("a" + text))),
					"a page":                 s.Line(s.Page([]byte("<p>a" + text + "</p>"))),
					"a page, after entities": s.Line(s.Page([]byte("<p>a" + strings.ReplaceAll(text, " ", "&nbsp;") + "</p><p>b</p>"))),
				} {
					assert.Contains(t, []string{"a", "a 20…797", "a 20…797 b", "a 20…797 b b"}, shown, where)
				}
			}
		})
	}
}

// A page is read as far as it is searched: a RUC that ends there may go on, whatever its digits are written as.
func TestAPageEndsWithNoPartOfARUC(t *testing.T) {
	s := scrub.Secrets{}.With("clave-24")
	for name, between := range map[string]string{"nothing": "", "a NUL": "\x00", "an entity": "&#8203;", "a soft hyphen": "&shy;"} {
		t.Run(name, func(t *testing.T) {
			ruc := strings.Join(strings.Split("20123456789", ""), between)
			for cut := range len(ruc) {
				body := "<p>a <i" + strings.Repeat("i", 64<<10-len("<p>a <i>")-cut) + ">" + ruc + " b"
				assert.Equal(t, "a", s.Line(s.Page([]byte(body))), cut)
			}
		})
	}
	body := "<p>a <i" + strings.Repeat("i", 64<<10-50) + ">&#50;&#48;&#49;&#50;&#51;&#52;&#53;&#54;&#55;&#56;&#57; b"
	assert.Equal(t, "a", s.Line(s.Page([]byte(body))), "its digits are entities")
}
