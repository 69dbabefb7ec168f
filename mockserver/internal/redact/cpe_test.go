package redact_test

import (
	"encoding/json"
	"testing"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCPE(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"a right one": {
			`{"rucEmisor":"20100070970","tipoComprobante":"01","serie":"F001","numero":123,"rucSolicitante":"20131312955","usuarioSol":"MIUSER01","claveSol":"canario"}`,
			`{"rucEmisor":"20100070970","tipoComprobante":"01","serie":"F001","numero":123,"rucSolicitante":"20131312955","usuarioSol":"***01","claveSol":"***"}`,
		},
		"in the contract's order":      {`{"claveSol":"canario","serie":"F001"}`, `{"serie":"F001","claveSol":"***"}`},
		"nothing":                      {`{}`, `{}`},
		"members of no contract":       {`{"clave":"canario","canario":1}`, `{}`},
		"a clave in another field":     {`{"serie":"can","claveSol":"can"}`, `{"serie":"***","claveSol":"***"}`},
		"a clave inside another field": {`{"rucEmisor":"20100070970","claveSol":"0007"}`, `{"rucEmisor":"***","claveSol":"***"}`},
		"a clave with escapes":         {`{"serie":"\u0063an","claveSol":"can"}`, `{"serie":"***","claveSol":"***"}`},
		"a clave that is a number":     {`{"claveSol":90210471,"numero":90210471}`, `{"numero":90210471,"claveSol":"***"}`},
		"a clave as the number":        {`{"numero":90210471,"claveSol":"90210471"}`, `{"numero":"***","claveSol":"***"}`},
		"a clave without its field":    {`{"rucEmisor":"canario","serie":"canario","tipoComprobante":"canario","numero":"canario","rucSolicitante":"canario"}`, `{"rucEmisor":"***","tipoComprobante":"***","serie":"***","numero":"***","rucSolicitante":"***"}`},
		"no texts":                     {`{"rucEmisor":[1],"serie":{"a":1},"tipoComprobante":true,"usuarioSol":12345,"numero":[1]}`, `{"rucEmisor":"***","tipoComprobante":"***","serie":"***","numero":"***","usuarioSol":"***"}`},
		"a malformed RUC":              {`{"rucEmisor":"2010007097","rucSolicitante":"2010007097001"}`, `{"rucEmisor":"***","rucSolicitante":"***"}`},
		"a clave of digits as a RUC":   {`{"rucEmisor":"902104","rucSolicitante":"902104710471","claveSol":"canario"}`, `{"rucEmisor":"***","rucSolicitante":"***","claveSol":"***"}`},
		"eleven digits of elsewhere":   {`{"rucEmisor":"２０１０００７０９７０","rucSolicitante":20131312955}`, `{"rucEmisor":"***","rucSolicitante":"***"}`},
		"a decimal number":             {`{"numero":-1.5}`, `{"numero":-1.5}`},
		"an exponent":                  {`{"numero":1e5}`, `{"numero":"***"}`},
		"a short user":                 {`{"usuarioSol":"ABC"}`, `{"usuarioSol":"***"}`},
		"a user with accents":          {`{"usuarioSol":"ÑÑÑÑ"}`, `{"usuarioSol":"***ÑÑ"}`},
		"nulls":                        {`{"rucEmisor":null,"serie":null,"usuarioSol":null,"claveSol":null}`, `{"rucEmisor":null,"serie":null,"usuarioSol":null,"claveSol":null}`},
		"empty texts":                  {`{"rucEmisor":"","numero":"","usuarioSol":"","claveSol":""}`, `{"rucEmisor":"","numero":"","usuarioSol":"","claveSol":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			var object map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(c.body), &object))
			assert.Equal(t, c.want, redact.CPE(object, redact.Keys{}))
		})
	}
}

// What is a key stands in no field, whatever else it may be.
func TestCPEWithoutKeys(t *testing.T) {
	keys := redact.NewKeys("20777777777", "87654321", "corta")
	for name, c := range map[string]struct{ body, want string }{
		"as the issuer's RUC":    {`{"rucEmisor":"20777777777"}`, `{"rucEmisor":"***"}`},
		"as the caller's RUC":    {`{"rucSolicitante":"20777777777"}`, `{"rucSolicitante":"***"}`},
		"in escapes":             {`{"rucEmisor":"\u00320777777777"}`, `{"rucEmisor":"***"}`},
		"as the number":          {`{"numero":87654321}`, `{"numero":"***"}`},
		"as a part of a RUC":     {`{"rucEmisor":"20876543215"}`, `{"rucEmisor":"***"}`},
		"as the user":            {`{"usuarioSol":"87654321"}`, `{"usuarioSol":"***"}`},
		"a short key is no part": {`{"usuarioSol":"corta"}`, `{"usuarioSol":"***ta"}`},
		"none":                   {`{"rucEmisor":"20100070970","numero":123}`, `{"rucEmisor":"20100070970","numero":123}`},
	} {
		t.Run(name, func(t *testing.T) {
			var object map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(c.body), &object))
			assert.Equal(t, c.want, redact.CPE(object, keys))
		})
	}
}
