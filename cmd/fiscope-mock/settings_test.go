package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

func TestEachFlagHasItsVariableAndItsHelp(t *testing.T) {
	for _, f := range allSettings {
		assert.Contains(t, usage, "\n  -"+f.name+" ", "-h tells of the flag")
		assert.Regexp(t, `[(\s]`+f.variable()+`[;,)=\s]`, usage, "-h tells of the variable")
	}
	assert.Equal(t, "FISCOPE_MOCK_TLS_CA_FILE", setting{name: "tls-ca-file"}.variable())
}

func TestSettings(t *testing.T) {
	quota := func(n int) *int { return &n }
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		want func(*settings)
	}{
		"defaults": {},
		"flags": {
			args: []string{
				"-addr", ":1", "-url-file", "u", "-api-key", "a=5", "-api-key", "b", "-quota", "7", "-data", "d", "-data", "e",
				"-now", "2026-11-20T16:59:00-05:00", "-frozen", "-assume", "BlockAfter=9", "-assume", "chargefailures=false", "-journal", "5",
				"-hold-limit", "2s", "-timeout", "3m",
				"-tls", "-tls-ca-file", "c", "-tls-host", "mock", "-admin-token", "t", "-log", "json", "-log-all", "-shutdown-timeout", "1s",
			},
			env: map[string]string{"FISCOPE_MOCK_ADDR": "x", "FISCOPE_MOCK_NOW": "x", "FISCOPE_MOCK_FROZEN": "x", "FISCOPE_MOCK_DATA": "x", "FISCOPE_MOCK_API_KEY": "x"},
			want: func(s *settings) {
				s.addr, s.urlFile, s.quota, s.data, s.frozen, s.journal = ":1", "u", quota(7), []string{"d", "e"}, true, 5
				s.assume.Quota = 7
				s.keys = []apiKey{{"a", quota(5)}, {"b", nil}}
				s.now = time.Date(2026, 11, 20, 21, 59, 0, 0, time.UTC)
				s.assume.BlockAfter, s.assume.ChargeFailures = 9, false
				s.selfSigned, s.caFile, s.hosts, s.adminToken = true, "c", []string{"mock"}, "t"
				s.log, s.logAll, s.drain = "json", true, time.Second
				s.hold, s.timeout = 2*time.Second, 3*time.Minute
			},
		},
		"variables": {
			env: map[string]string{
				"FISCOPE_MOCK_ADDR": ":1", "FISCOPE_MOCK_API_KEY": "a=5  b", "FISCOPE_MOCK_DATA": "d:e", "FISCOPE_MOCK_FROZEN": "true",
				"FISCOPE_MOCK_ASSUME": "BlockAfter=9 Estados=sunat", "FISCOPE_MOCK_TLS_CERT": "c", "FISCOPE_MOCK_TLS_KEY": "k", "FISCOPE_MOCK_LOG": "",
			},
			want: func(s *settings) {
				s.addr, s.data, s.frozen, s.cert, s.key = ":1", []string{"d", "e"}, true, "c", "k"
				s.keys = []apiKey{{"a", quota(5)}, {"b", nil}}
				s.assume.BlockAfter, s.assume.Estados = 9, mockserver.EstadosSUNAT
			},
		},
		"what follows": {
			args: []string{"-frozen=false", "--", "npm", "test", "-addr"},
			env:  map[string]string{"FISCOPE_MOCK_FROZEN": "true"},
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
			got, err := readSettings(defaultSettings(), c.args, func(name string) string { return c.env[name] })
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
		"frozen":            {"-frozen=si", "want true or false"},
		"log":               {"-log yaml", "want text, json or off"},
		"journal":           {"-journal -1", "0 or more"},
		"shutdown":          {"-shutdown-timeout 5", "such as 5s"},
		"key's quota":       {"-api-key " + secret + "=mil", "after the last ="},
		"quota below":       {"-api-key " + secret + "=-2", "after the last ="},
		"key twice":         {"-api-key " + secret + " -api-key " + secret + "=5", "the same key twice"},
		"quota twice":       {"-assume Quota=7 -quota 8", "-quota 8 and -assume Quota=7 contradict each other"},
		"quota's default":   {"-quota 8 -assume Quota=1000", "contradict"},
		"hold":              {"-hold-limit -1s", "such as 5s"},
		"timeout":           {"-timeout 60", "such as 5s"},
		"admin token":       {"-admin-token=", "it is empty"},
		"assumption":        {"-assume Blocks=5", "the names are MissingKey, InvalidKey"},
		"assumption's form": {"-assume BlockAfter", "NAME=VALUE"},
		"half a pair":       {"-tls-cert c", "go together"},
		"pair and own":      {"-tls -tls-cert c -tls-key k", "there is one already"},
		"CA without TLS":    {"-tls-ca-file c", "without -tls"},
		"empty data":        {"-data=", "it is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readSettings(defaultSettings(), strings.Fields(c.args), vars())
			require.ErrorContains(t, err, c.says)
			assert.NotContains(t, err.Error(), secret)
		})
	}
}
