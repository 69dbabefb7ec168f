package contracttest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/conformance"
	"github.com/fiscope/fiscope/gateway"
	"github.com/fiscope/fiscope/mockserver"
)

// The answers of the gateway before a mock are those of the document, in every field.
func TestTheGatewayByTheDocument(t *testing.T) {
	mock := mockserver.New(t)
	client := mock.Client()
	defer func() { assert.NoError(t, client.Close(context.Background())) }()
	const key = "clave-de-la-tienda-1"
	g, err := gateway.New(client, gateway.Options{Keys: []gateway.Key{{Name: "tienda", Key: key}}})
	require.NoError(t, err)
	server := httptest.NewServer(g)
	defer server.Close()
	j := &judging{contract: loadContract(t), key: key, next: &http.Transport{DisableKeepAlives: true}}
	conformance.Run(t, conformance.Target{BaseURL: server.URL, APIKey: key, Transport: j, WrongClave: true, CPE: receipts})
	assert.Empty(t, j.wrong)
}
