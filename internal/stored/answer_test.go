package stored_test

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/stored"
)

const maxBody = 1 << 20

func contract(t testing.TB, file string) []byte {
	body, err := os.ReadFile("../../testdata/" + file)
	require.NoError(t, err)
	return body
}

// answer is one that was asked for at a moment, came half a second later, and serves for twelve hours.
func answer(body []byte) stored.Answer {
	asked := time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC)
	came := asked.Add(500 * time.Millisecond)
	return stored.Answer{Status: 200, Asked: asked, Stored: came, Expires: came.Add(12 * time.Hour), Body: body}
}

func TestWhatIsPackedIsUnpacked(t *testing.T) {
	for name, change := range map[string]func(*stored.Answer){
		"a record":           func(*stored.Answer) {},
		"for good":           func(a *stored.Answer) { a.Expires = time.Time{} },
		"404":                func(a *stored.Answer) { a.Status, a.Body = 404, contract(t, "consultar_404.json") },
		"no body":            func(a *stored.Answer) { a.Body = []byte{} },
		"bytes that are any": func(a *stored.Answer) { a.Body = []byte("\x00\xff\xfe{") },
		"asked for later":    func(a *stored.Answer) { a.Asked = a.Stored.Add(time.Hour) },
		"the largest":        func(a *stored.Answer) { a.Body = bytes.Repeat([]byte("x"), maxBody) },
	} {
		t.Run(name, func(t *testing.T) {
			a := answer(contract(t, "consultar_200.json"))
			change(&a)
			got, ok := stored.Unpack(stored.Pack(a), maxBody)
			require.True(t, ok)
			assert.Equal(t, a, got)
		})
	}
}

func TestWhatExpiredAtOnceServesNotForGood(t *testing.T) {
	a := answer(nil)
	a.Expires = a.Stored
	got, ok := stored.Unpack(stored.Pack(a), maxBody)
	require.True(t, ok)
	assert.True(t, !got.Expires.IsZero() && !got.Expires.After(got.Stored))
}

func TestAnswersAreSmall(t *testing.T) {
	for file, most := range map[string]int{"consultar_200.json": 260, "buscar_200.json": 200, "tipocambio_200.json": 85, "consultar_404.json": 95} {
		assert.LessOrEqual(t, len(stored.Pack(answer(contract(t, file)))), most, file)
	}
}

func TestWhatIsNoAnswerIsNotUnpacked(t *testing.T) {
	good := stored.Pack(answer(contract(t, "consultar_200.json")))
	for name, packed := range map[string][]byte{
		"nothing":                nil,
		"empty":                  {},
		"JSON":                   []byte(`{"v":1,"status":200,"stored":"2026-01-01T00:00:00Z"}`),
		"another version":        append([]byte{good[0] + 1}, good[1:]...),
		"its version alone":      good[:1],
		"without its times":      good[:3],
		"without its body":       good[:25],
		"cut":                    good[:len(good)-1],
		"more than it":           append(bytes.Clone(good), 'x'),
		"a status that is none":  append([]byte{good[0], 0xff, 0xff, 0x7f}, good[3:]...),
		"a body that is larger":  stored.Pack(answer(bytes.Repeat([]byte("x"), maxBody+1))),
		"a body that goes on":    stored.Pack(answer(bytes.Repeat([]byte("x"), 100*maxBody))),
		"a number without end":   append([]byte{good[0]}, bytes.Repeat([]byte{0xff}, 20)...),
		"text that was deflated": append(bytes.Clone(good[:20]), strings.Repeat("x", 50)...),
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := stored.Unpack(packed, maxBody)
			assert.False(t, ok)
			assert.Less(t, cap(got.Body), 4*maxBody)
		})
	}
}

func TestManyPackAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			a := answer(bytes.Repeat([]byte{byte(i)}, 100*i))
			got, ok := stored.Unpack(stored.Pack(a), maxBody)
			assert.True(t, ok && bytes.Equal(a.Body, got.Body))
		})
	}
	wg.Wait()
}

func FuzzUnpack(f *testing.F) {
	for _, file := range []string{"consultar_200.json", "buscar_200.json", "tipocambio_200.json", "consultar_404.json"} {
		f.Add(stored.Pack(answer(contract(f, file))))
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		a, ok := stored.Unpack(packed, 1<<10)
		if !ok {
			return
		}
		require.LessOrEqual(t, len(a.Body), 1<<10)
		again, ok := stored.Unpack(stored.Pack(a), 1<<10)
		require.True(t, ok)
		require.Equal(t, a.Body, again.Body)
	})
}

func BenchmarkPack(b *testing.B) {
	a := answer(contract(b, "consultar_200.json"))
	b.ReportAllocs()
	for b.Loop() {
		stored.Pack(a)
	}
}

func BenchmarkUnpack(b *testing.B) {
	packed := stored.Pack(answer(contract(b, "consultar_200.json")))
	b.ReportAllocs()
	for b.Loop() {
		stored.Unpack(packed, maxBody)
	}
}
