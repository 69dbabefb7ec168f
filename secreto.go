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

// Secreto is a text that is never shown: it is printed, logged and marshalled as "[secreto]". Unmarshalling refuses
// "[secreto]", so that a stored configuration never becomes a wrong clave. Two Secretos with the same text are equal
// for ==, [reflect.DeepEqual] and go-cmp.
type Secreto struct {
	hidden *hidden // nil for no text; one for each text, see NewSecreto
}

// hidden holds a text in a func: dumpers follow pointers, and fmt calls no method on unexported fields.
type hidden struct{ reveal func() string }

// texts holds the texts of Secretos in use; unused ones are garbage-collected.
var texts = struct {
	sync.Mutex
	hidden map[string]weak.Pointer[hidden]
}{hidden: map[string]weak.Pointer[hidden]{}}

// NewSecreto returns s as a Secreto; the zero Secreto for "".
func NewSecreto(s string) Secreto {
	if s == "" {
		return Secreto{}
	}
	texts.Lock()
	defer texts.Unlock()
	if there := texts.hidden[s].Value(); there != nil {
		return Secreto{there}
	}
	s = strings.Clone(s) // s may be part of a long text
	h := &hidden{reveal: func() string { return s }}
	texts.hidden[s] = weak.Make(h)
	runtime.AddCleanup(h, forgetText, s)
	return Secreto{h}
}

// forgetText runs when the last Secreto of a text is gone. There may be a new one by then.
func forgetText(s string) {
	texts.Lock()
	defer texts.Unlock()
	if texts.hidden[s].Value() == nil {
		delete(texts.hidden, s)
	}
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
	if s.hidden == nil {
		return ""
	}
	return s.hidden.reveal()
}
