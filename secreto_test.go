package fiscope_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

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
