package fiscope

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/fiscope/fiscope/internal/scrub"
)

// Secreto is a text that is used and never shown: whatever prints, logs or marshals it writes the
// marker "[secreto]" in its place. It reads from JSON and from text, and refuses its own marker, so
// that a configuration that was printed and stored never becomes a wrong clave.
type Secreto struct {
	// A func, since fmt calls no method on unexported fields and dumpers follow pointers.
	reveal func() string
}

// NewSecreto returns s as a Secreto.
func NewSecreto(s string) Secreto { return Secreto{reveal: func() string { return s }} }

// IsZero reports whether s holds no text.
func (s Secreto) IsZero() bool { return s.text() == "" }

// Equal reports whether s and t hold the same text. It takes a time that does not depend on where
// they differ.
func (s Secreto) Equal(t Secreto) bool {
	return subtle.ConstantTimeCompare([]byte(s.text()), []byte(t.text())) == 1
}

// String returns the marker.
func (s Secreto) String() string { return scrub.Marker }

// GoString returns the marker.
func (s Secreto) GoString() string { return scrub.Marker }

// Format writes the marker for every verb.
func (s Secreto) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, scrub.Marker) }

// LogValue returns the marker.
func (s Secreto) LogValue() slog.Value { return slog.StringValue(scrub.Marker) }

// MarshalText returns the marker; encoding/json uses it too.
func (s Secreto) MarshalText() ([]byte, error) { return []byte(scrub.Marker), nil }

// UnmarshalText takes the text, and refuses the marker.
func (s *Secreto) UnmarshalText(text []byte) error {
	if string(text) == scrub.Marker {
		return errors.New("fiscope: this text is the marker that stands for a secret, not the secret: read it from where the real one is kept")
	}
	*s = NewSecreto(string(text))
	return nil
}

func (s Secreto) text() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}
