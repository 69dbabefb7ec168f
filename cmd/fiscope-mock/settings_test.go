package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope/mockserver"
)

// parsed is what a command makes of arguments and variables.
func parsed(t *testing.T, env []string, command string, args ...string) (s settings, err error) {
	t.Helper()
	for i := 0; i < len(env); i += 2 {
		t.Setenv(env[i], env[i+1])
	}
	cmd := &cli.Command{Name: command, Flags: flagsOf(serveSettings), StopOnNthArg: new(1)}
	cmd.Action = func(_ context.Context, cmd *cli.Command) error {
		s, err = readSettings(defaultSettings(), cmd)
		return nil
	}
	require.NoError(t, cmd.Run(t.Context(), append([]string{command}, args...)))
	return s, err
}

func TestSettings(t *testing.T) {
	quota := func(n int) *int { return &n }
	for name, c := range map[string]struct {
		args []string
		env  []string
		want func(*settings)
	}{
		"defaults": {},
		"flags": {
			args: []string{
				"-addr", ":1", "-api-key", "a=5", "-api-key", "b", "-quota", "7", "-data", "d", "-data", "e",
				"-now", "2026-11-20T16:59:00-05:00", "-frozen", "-assume", "BlockAfter=9", "-assume", "chargefailures=false", "-journal", "5",
				"-tls", "-tls-ca-file", "c", "-tls-host", "mock", "-admin-token", "t", "-log", "json",
			},
			env: vars("FISCOPE_MOCK_ADDR", "x", "FISCOPE_MOCK_NOW", "x", "FISCOPE_MOCK_FROZEN", "x", "FISCOPE_MOCK_DATA", "x", "FISCOPE_MOCK_API_KEY", "x"),
			want: func(s *settings) {
				s.addr, s.quota, s.data, s.frozen, s.journal = ":1", quota(7), []string{"d", "e"}, true, 5
				s.assume.Quota = 7
				s.keys = []apiKey{{"a", quota(5)}, {"b", nil}}
				s.now = time.Date(2026, 11, 20, 21, 59, 0, 0, time.UTC)
				s.assume.BlockAfter, s.assume.ChargeFailures = 9, false
				s.selfSigned, s.caFile, s.hosts, s.adminToken = true, "c", []string{"mock"}, "t"
				s.log = "json"
			},
		},
		"variables": {
			env: vars(
				"FISCOPE_MOCK_ADDR", ":1", "FISCOPE_MOCK_API_KEY", "a=5  b", "FISCOPE_MOCK_DATA", "d:e", "FISCOPE_MOCK_FROZEN", "true",
				"FISCOPE_MOCK_ASSUME", "BlockAfter=9 Estados=sunat", "FISCOPE_MOCK_LOG", "",
			),
			want: func(s *settings) {
				s.addr, s.data, s.frozen = ":1", []string{"d", "e"}, true
				s.keys = []apiKey{{"a", quota(5)}, {"b", nil}}
				s.assume.BlockAfter, s.assume.Estados = 9, mockserver.EstadosSUNAT
			},
		},
		"what follows": {
			args: []string{"-frozen=false", "--", "npm", "test", "-addr"},
			env:  vars("FISCOPE_MOCK_FROZEN", "true"),
			want: func(s *settings) { s.rest = []string{"npm", "test", "-addr"} },
		},
		"keys with an equals sign": {
			args: []string{"-api-key", "YWI=", "-api-key", "YW==", "-api-key", "a=b=-1"},
			want: func(s *settings) { s.keys = []apiKey{{"YWI=", nil}, {"YW==", nil}, {"a=b", quota(-1)}} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := defaultSettings()
			if c.want != nil {
				c.want(&want)
			}
			got, err := parsed(t, c.env, "exec", c.args...)
			require.NoError(t, err)
			if len(got.rest) == 0 {
				got.rest = nil
			}
			assert.True(t, want.now.Equal(got.now))
			want.now = got.now
			assert.Equal(t, want, got)
		})
	}
}

func TestSettingsRefuse(t *testing.T) {
	const secret = "s3creto"
	for name, c := range map[string]struct{ args, says string }{
		"now":               {"-now 2026-11-20", "2026-11-20T16:59:00-05:00"},
		"frozen":            {"-frozen=si", "se espera true o false"},
		"journal":           {"-journal -1", "desde 0"},
		"key's quota":       {"-api-key " + secret + "=mil", "tras el último ="},
		"key twice":         {"-api-key " + secret + " -api-key " + secret + "=5", "está dos veces"},
		"quota twice":       {"-assume Quota=7 -quota 8", "-quota 8 y -assume Quota=7 se contradicen"},
		"admin token":       {"-admin-token=", "está vacío"},
		"a token's letters": {"-admin-token " + secret + "é", "-admin-token"},
		"assumption":        {"-assume Blocks=5", "los nombres son MissingKey, InvalidKey"},
		"assumption's form": {"-assume BlockAfter", "BlockAfter se escribe como un número entero"},
		"CA without TLS":    {"-tls-ca-file c", "sin -tls"},
		"empty data":        {"-data=", "está vacío"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parsed(t, nil, "exec", strings.Fields(c.args)...)
			require.ErrorContains(t, err, c.says)
			assert.NotContains(t, err.Error(), secret)
		})
	}
}
