package fiscope

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"weak"

	"github.com/fiscope/fiscope/internal/scrub"
)

// Secreto is a text that is used and never shown: whatever prints, logs or marshals it writes the
// marker "[secreto]" in its place. It reads from JSON and from text, and refuses its own marker, so
// that a configuration that was printed and stored never becomes a wrong clave.
//
// Two of the same text are equal for ==, [reflect.DeepEqual] and go-cmp.
type Secreto struct {
	hidden *hidden // nil for no text; one for each text, see NewSecreto
}

// hidden holds a text in a func: dumpers follow pointers, and fmt calls no method on unexported fields.
type hidden struct{ reveal func() string }

// texts are those of the Secretos that are in use: what nobody holds any more is not kept here.
var texts = struct {
	sync.Mutex
	hidden map[string]weak.Pointer[hidden]
}{hidden: map[string]weak.Pointer[hidden]{}}

// NewSecreto returns s as a Secreto. That of an empty text is the zero Secreto.
func NewSecreto(s string) Secreto {
	if s == "" {
		return Secreto{}
	}
	texts.Lock()
	defer texts.Unlock()
	if there := texts.hidden[s].Value(); there != nil {
		return Secreto{there}
	}
	s = strings.Clone(s) // of what may be a long text that it was cut out of
	h := &hidden{reveal: func() string { return s }}
	texts.hidden[s] = weak.Make(h)
	runtime.AddCleanup(h, forgetText, s)
	return Secreto{h}
}

// forgetText is called once nobody holds a Secreto of that text any more, unless there is a new one.
func forgetText(s string) {
	texts.Lock()
	defer texts.Unlock()
	if texts.hidden[s].Value() == nil {
		delete(texts.hidden, s)
	}
}

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
	if s.hidden == nil {
		return ""
	}
	return s.hidden.reveal()
}
