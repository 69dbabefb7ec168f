package relevance_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/relevance"
	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMatch(t *testing.T) {
	for name, c := range map[string]struct {
		razon, comercial, text string
		rank                   relevance.Rank
		found                  bool
	}{
		"the whole name":              {"GLORIA", "", "gloria", relevance.Whole, true},
		"its beginning":               {"GLORIA S.A.", "", "gloria", relevance.Prefix, true},
		"a word's beginning":          {"LECHE GLORIA S.A.", "", "gloria", relevance.Word, true},
		"after a dot":                 {"S.A.GLORIA", "", "gloria", relevance.Word, true},
		"inside a word":               {"VANAGLORIA S.A.", "", "gloria", relevance.Inside, true},
		"inside, then a word":         {"VANAGLORIA GLORIA", "", "gloria", relevance.Word, true},
		"overlapping itself":          {"XANANA ANANA", "", "anana", relevance.Word, true},
		"dots, the second after one":  {"SA...", "", "..", relevance.Word, true},
		"after an accented letter":    {"ÑGLORIA", "", "gloria", relevance.Inside, true},
		"after a digit":               {"3GLORIA", "", "gloria", relevance.Inside, true},
		"accents and case":            {"Compañía  Peruana", "", "compania peru", relevance.Prefix, true},
		"trade name":                  {"LECHE S.A.", "GLORIA", "gloria", relevance.Whole, true},
		"the better of both names":    {"LA GLORIA", "GLORIA", "gloria", relevance.Whole, true},
		"the better, the other way":   {"GLORIA", "LA GLORIA", "gloria", relevance.Whole, true},
		"in neither":                  {"LECHE S.A.", "LECHE", "gloria", 0, false},
		"nothing is found by no text": {"LECHE S.A.", "", "", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := relevance.NewRecord("20000000001", c.razon, c.comercial, "ACTIVO")
			rank, found := r.Match(c.text)
			assert.Equal(t, c.found, found)
			assert.Equal(t, c.rank, rank)
		})
	}
}

// Each record comes before the next one, for one reason more general than the next.
func TestCompare(t *testing.T) {
	type hit struct {
		name string
		relevance.Record
		relevance.Rank
	}
	record := func(ruc, razon, estado string) relevance.Record {
		return relevance.NewRecord(ruc, razon, "", estado)
	}
	want := []hit{
		{"whole, although inactive", record("20000000009", "GLORIA", "BAJA DEFINITIVA"), relevance.Whole},
		{"prefix, although long", record("20000000008", "GLORIA DEL SUR SOCIEDAD ANONIMA", "ACTIVO"), relevance.Prefix},
		{"word, active", record("20000000007", "LA GLORIA DEL SUR", "ACTIVO"), relevance.Word},
		{"word, inactive", record("20000000006", "LA GLORIA", "SUSPENSIÓN TEMPORAL"), relevance.Word},
		{"inside, short", record("20000000005", "LAGLORIA", "ACTIVO"), relevance.Inside},
		{"inside, long, lower RUC", record("20000000003", "VANAGLORIA", "ACTIVO"), relevance.Inside},
		{"inside, long, higher RUC", record("20000000004", "VANAGLORIA", "ACTIVO"), relevance.Inside},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, func(a, b hit) int { return relevance.Compare(&a.Record, a.Rank, &b.Record, b.Rank) })
	assert.Equal(t, want, got)
}

// FuzzFold compares folding, which looks at each character once, with its parts of the standard library.
func FuzzFold(f *testing.F) {
	for _, text := range []string{"", " ", "LA  GLORIA\tS.A.\n", "ÁÉÍÓÚÜÑ àèìòù âêîôû äëïö ãõå ç", "Ñandú", "n\u0303andu\u0301", "a \u0301 b", "\u0301 a", "a \u0301", "\u00a0A\u0085B\u3000C", "\xff\xc3", "Ω\x00\x1f", "AZ\u0080", "ÇİẞK"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var words []string
		for _, word := range strings.Fields(text) {
			word = strings.Map(func(r rune) rune {
				if unicode.Is(unicode.Mn, r) {
					return -1
				}
				r = unicode.ToLower(r)
				if at := strings.IndexRune(accented, r); at >= 0 && r >= utf8.RuneSelf {
					r = rune(plain[utf8.RuneCountInString(accented[:at])])
				}
				return r
			}, word)
			if len(words) > 0 || word != "" {
				words = append(words, word)
			}
		}
		want := strings.Join(words, " ")
		assert.Equal(t, want, relevance.Fold(text))
		assert.Equal(t, "before"+want, string(relevance.AppendFold([]byte("before"), []byte(text))))
	})
}

const (
	accented = "áàâäãåéèêëíìîïóòôöõúùûüñç"
	plain    = "aaaaaaeeeeiiiiooooouuuunc"
)

func TestOfWord(t *testing.T) {
	for r := range unicode.MaxRune + 1 {
		if relevance.OfWord(r) != (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			t.Errorf("%U", r)
		}
	}
}
