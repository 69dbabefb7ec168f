package fiscope_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestASecretoIsNotShown(t *testing.T) {
	type config struct {
		Clave   fiscope.Secreto
		Puntero *fiscope.Secreto
		privada fiscope.Secreto
		Mapa    map[string]any
	}
	s := fiscope.NewSecreto(clave)
	holders := map[string]any{
		"itself": s, "pointer": &s, "credentials": credenciales, "pointer to credentials": &credenciales,
		"struct": config{s, &s, s, map[string]any{"x": s}}, "slice": []any{s, &s}, "map": map[string]fiscope.Secreto{"x": s},
	}
	for name, holder := range holders {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			for _, verb := range "vsqdxXtcpTboOUeEfFgGw" {
				for _, flags := range []string{"", "+", "#", "-", " ", "0", "20", ".3", "+#"} {
					fmt.Fprintf(&out, "%"+flags+string(verb)+"\n", holder)
				}
			}
			fmt.Fprintln(&out, holder)
			for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
				slog.New(h).With("with", holder).WithGroup("g").Info("x", "a", holder, slog.Group("b", "c", holder))
			}
			b, err := json.Marshal(holder)
			require.NoError(t, err)
			out.Write(b)
			if b, err = xml.Marshal(holder); err == nil {
				out.Write(b)
			}
			_ = gob.NewEncoder(&out).Encode(holder)

			assert.False(t, strings.Contains(out.String(), clave), "the clave is shown")
			assert.False(t, strings.Contains(strings.ToLower(out.String()), fmt.Sprintf("%x", clave)), "the clave is shown in hexadecimal")
			assert.Contains(t, out.String(), "[secreto]")
		})
	}
}

func TestATestifyFailureDoesNotShowASecreto(t *testing.T) {
	recorder := new(recorder)
	assert.Equal(recorder, fiscope.CredencialesSOL{Clave: fiscope.NewSecreto("otra-clave")}, credenciales)
	require.NotEmpty(t, recorder.text)
	assert.False(t, strings.Contains(recorder.text, clave) || strings.Contains(recorder.text, "otra-clave"), "the failure shows the clave")
}

type recorder struct{ text string }

func (r *recorder) Errorf(format string, args ...any) { r.text += fmt.Sprintf(format, args...) }

func TestASecretoReadsAndRefusesItsMarker(t *testing.T) {
	var c fiscope.CredencialesSOL
	require.NoError(t, json.Unmarshal([]byte(`{"rucSolicitante":"20131312955","usuarioSol":"MIUSER01","claveSol":"`+clave+`"}`), &c))
	assert.True(t, c.Clave.Equal(fiscope.NewSecreto(clave)))
	assert.Empty(t, cmp.Diff(credenciales, c))

	stored, err := json.Marshal(c)
	require.NoError(t, err)
	require.ErrorContains(t, json.Unmarshal(stored, &c), "marker")
	assert.True(t, c.Clave.Equal(fiscope.NewSecreto(clave)), "a failed read changes nothing")
}

func TestSecretoEqual(t *testing.T) {
	s := fiscope.NewSecreto("uno")
	assert.True(t, s.Equal(fiscope.NewSecreto("uno")))
	assert.False(t, s.Equal(fiscope.NewSecreto("dos")))
	assert.False(t, s.Equal(fiscope.Secreto{}))
	assert.True(t, fiscope.Secreto{}.Equal(fiscope.NewSecreto("")))
	assert.True(t, fiscope.Secreto{}.IsZero())
	assert.False(t, s.IsZero())
}

// What the code under test makes of its configuration is the same to gomock and testify as what the test
// expects.
func TestEqualSecretosAreDeeplyEqual(t *testing.T) {
	one, again, other := fiscope.NewSecreto(clave), fiscope.NewSecreto(string([]byte(clave))), fiscope.NewSecreto("otra")
	copied := one
	var read fiscope.CredencialesSOL
	require.NoError(t, json.Unmarshal([]byte(`{"rucSolicitante":"20131312955","usuarioSol":"MIUSER01","claveSol":"`+clave+`"}`), &read))
	for name, test := range map[string]struct {
		a, b  fiscope.Secreto
		equal bool
	}{
		"a copy":               {one, copied, true},
		"the same text":        {one, again, true},
		"read from JSON":       {one, read.Clave, true},
		"another text":         {one, other, false},
		"none":                 {one, fiscope.Secreto{}, false},
		"an empty one is none": {fiscope.NewSecreto(""), fiscope.Secreto{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.equal, reflect.DeepEqual(test.a, test.b))
			assert.Equal(t, test.equal, reflect.DeepEqual(fiscope.CredencialesSOL{Clave: test.a}, fiscope.CredencialesSOL{Clave: test.b}))
			assert.Equal(t, test.equal, test.a == test.b)
			assert.Equal(t, test.equal, test.a.Equal(test.b))
			assert.Equal(t, test.equal, assert.ObjectsAreEqual(test.a, test.b), "as testify compares the arguments of a mock")
		})
	}
}

func TestSecretosMadeAtOnceAreEqual(t *testing.T) {
	made := make([]fiscope.Secreto, 200)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			made[i] = fiscope.NewSecreto(fmt.Sprint("clave-", i%10))
			if i%20 < 10 {
				runtime.GC()
			}
		})
	}
	all.Wait()
	for i, s := range made {
		assert.Equal(t, made[i%10], s)
		assert.True(t, s.Equal(fiscope.NewSecreto(fmt.Sprint("clave-", i%10))))
	}
}

func TestASecretoIsNotKeptForEver(t *testing.T) {
	const text = "a text of this test alone"
	s := fiscope.NewSecreto(text)
	runtime.GC()
	assert.True(t, fiscope.Interned(text))
	runtime.KeepAlive(s)
	require.Eventually(t, func() bool {
		runtime.GC()
		return !fiscope.Interned(text)
	}, 10*time.Second, time.Millisecond)
}

// reached returns all texts that can be reached by reflection, as a dumper does it.
func reached(v reflect.Value, seen map[uintptr]bool, found func(string)) {
	switch v.Kind() {
	case reflect.String:
		found(v.String())
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			return
		}
		seen[v.Pointer()] = true
		reached(v.Elem(), seen, found)
	case reflect.Interface:
		reached(v.Elem(), seen, found)
	case reflect.Struct:
		for i := range v.NumField() {
			reached(v.Field(i), seen, found)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			reached(v.Index(i), seen, found)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			reached(key, seen, found)
			reached(v.MapIndex(key), seen, found)
		}
	default:
	}
}

func TestADumperReachesNoSecreto(t *testing.T) {
	texts := 0
	reached(reflect.ValueOf(&credenciales), map[uintptr]bool{}, func(s string) {
		texts++
		assert.False(t, strings.Contains(s, clave), "the clave can be reached")
	})
	assert.Equal(t, 2, texts, "the RUC and the user")
}
