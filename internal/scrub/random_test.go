package scrub_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/internal/scrub"
)

// FuzzRedact draws from what it knows; this draws evenly.
func TestRandomWritings(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	alphabet := []rune(`abcnuxXU0123456789aeiou$%&/\"'<>+= .ñÑéüç€#?{};:,!~^_-😀`)
	around := []string{"", " ", "clave ", "%", "\\", "&", "&#", "%4", "\\u00", "Ã", "a", "4", `"`, ";", "41"}
	for range 20_000 {
		var secret, written strings.Builder
		few := random.IntN(len(writers)) // often one writer for most runes
		for range 6 + random.IntN(14) {
			r := alphabet[random.IntN(len(alphabet))]
			secret.WriteRune(r)
			writer := few
			if random.IntN(2) == 0 {
				writer = random.IntN(len(writers))
			}
			written.WriteString(writers[writer](r))
		}
		s := scrub.Secrets{}.With(secret.String())
		text := around[random.IntN(len(around))] + written.String() + around[random.IntN(len(around))]
		if got := s.Redact(text); !strings.Contains(got, scrub.Marker) && !strings.HasPrefix(got, "[text withheld") {
			t.Fatalf("seed %d: %q was not found in %q", seed, secret.String(), text)
		}
	}
}
