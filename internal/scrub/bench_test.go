package scrub_test

import (
	"strings"
	"testing"

	"github.com/fiscope/fiscope/internal/scrub"
)

// BenchmarkRedact shows what a byte costs of plain texts, and of texts that are made to keep the search
// busy: as a ratio to the first.
func BenchmarkRedact(b *testing.B) {
	s := scrub.Secrets{}.With("llave-de-prueba-7f3a").With(strings.Repeat("a", 30) + `\\%%&&b`)
	const size = 32 << 10
	var plain float64
	for _, text := range []struct{ name, unit string }{
		{"English", "the quick brown fox jumps over it "}, {"Spanish", "El año de inscripción no es válido. "}, {"HTML", `<p class="x">A&ntilde;o &amp; t&eacute;</p> `},
		{"JSON", `{\"ruc\":\"20131312955\",\n\"estado\":\"a\u00f1o\"}, `}, {"a URL", "%C3%B1o%20de%20"},
		{"backslashes", `\`}, {"ampersands", "&"}, {"percents", "%"}, {"names", "&aa"}, {"nested names", "&amp;"}, {"nested percents", "%25"}, {"nested JSON", `\u005c`},
		{"nested, ended", "&amp;amp;amp;amp; "}, {"nearly", strings.Repeat("a", 30) + `\\%%&c `}, {"mojibake", "Ã±"},
	} {
		b.Run(text.name, func(b *testing.B) {
			long := strings.Repeat(text.unit, size/len(text.unit))
			b.SetBytes(int64(len(long)))
			b.ReportAllocs()
			for b.Loop() {
				_ = s.Redact(long)
			}
			each := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			if plain == 0 {
				plain = each
			}
			b.ReportMetric(each/plain, "x-plain")
		})
	}
}
