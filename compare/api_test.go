package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is answered here is the contract's, byte by byte.
func TestTheAnswersAreTheContracts(t *testing.T) {
	for file, body := range map[string]string{
		"consultar_200.json":        fiscopeAPI.found,
		"consultar_404.json":        fiscopeAPI.missing,
		"validar_200_aceptado.json": fiscopeAPI.sent,
		"validar_401.json":          fiscopeAPI.refused,
	} {
		want, err := os.ReadFile(filepath.Join("..", "testdata", file))
		require.NoError(t, err)
		assert.Equal(t, string(want), body, file)
	}
}

// A comparison of bodies of one size: what a client of another API reads is about as long as a taxpayer.
func TestTheObjectsAreOfOneSize(t *testing.T) {
	for _, a := range []api{githubAPI, hcloudAPI} {
		assert.InDelta(t, len(fiscopeAPI.found), len(a.found), 0.1*float64(len(fiscopeAPI.found)), a.id)
	}
}

// Every contender does what is compared: it finds the object, and sends its secret.
func TestEveryContenderDoesTheWork(t *testing.T) {
	for _, c := range contenders {
		t.Run(c.name, func(t *testing.T) {
			client, err := c.open(c.api.finds(), briefly)
			require.NoError(t, err)
			defer client.Close()
			require.NoError(t, finds(t.Context(), client, c.api))

			sender, err := c.open(always(inJSON(200, c.api.sent)), briefly)
			require.NoError(t, err)
			defer sender.Close()
			require.NoError(t, sender.Send(t.Context(), clave))
		})
	}
}
