package fiscope

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"unique"

	"github.com/fiscope/fiscope/internal/scrub"
)

// Secreto is a text that is never shown: it is printed, logged and marshalled as "[secreto]". Unmarshalling refuses
// "[secreto]", so that a stored configuration never becomes a wrong clave. Two Secretos with the same text are equal
// for ==, [reflect.DeepEqual] and go-cmp.
type Secreto struct {
	masked unique.Handle[string] // zero for no text
}

// pad masks the texts in memory: dumpers follow pointers, and fmt calls no method on unexported fields.
var pad = func() (random [64]byte) {
	_, _ = rand.Read(random[:]) // never fails
	return random
}()

// mask masks a text, or shows a masked one.
func mask(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] ^= pad[i%len(pad)]
	}
	return string(b)
}

// NewSecreto returns s as a Secreto; the zero Secreto for "".
func NewSecreto(s string) Secreto {
	if s == "" {
		return Secreto{}
	}
	return Secreto{unique.Make(mask(s))}
}

// IsZero reports whether s holds no text.
func (s Secreto) IsZero() bool { return s.text() == "" }

// Equal reports whether s and t hold the same text, in constant time.
func (s Secreto) Equal(t Secreto) bool {
	return subtle.ConstantTimeCompare([]byte(s.text()), []byte(t.text())) == 1
}

// String returns "[secreto]".
func (s Secreto) String() string { return scrub.Marker }

// Format writes "[secreto]" for every verb.
func (s Secreto) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, scrub.Marker) }

// LogValue returns "[secreto]".
func (s Secreto) LogValue() slog.Value { return slog.StringValue(scrub.Marker) }

// MarshalText returns "[secreto]"; encoding/json uses it too.
func (s Secreto) MarshalText() ([]byte, error) { return []byte(scrub.Marker), nil }

// UnmarshalText stores the text. It refuses "[secreto]".
func (s *Secreto) UnmarshalText(text []byte) error {
	if string(text) == scrub.Marker {
		return errors.New("fiscope: this text is the marker [secreto], not the secret: read it from where the real one is kept")
	}
	*s = NewSecreto(string(text))
	return nil
}

func (s Secreto) text() string {
	if s == (Secreto{}) {
		return ""
	}
	return mask(s.masked.Value())
}
