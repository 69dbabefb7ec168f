package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

func TestNothingOfOursGoesToTheService(t *testing.T) {
	tel, _, _ := enMemoria(t)
	srv := mockserver.New(t)
	var visto http.Header
	front := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visto = r.Header.Clone()
		srv.ServeHTTP(w, r)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	servido := make(chan error, 1)
	go func() { servido <- front.Serve(l) }()
	client, err := conectar(tel, "http://"+l.Addr().String(), srv.APIKey, false)
	require.NoError(t, err)
	ctx, span := tel.spans.Tracer("test").Start(t.Context(), "test")
	_, err = client.Contribuyentes.Consultar(ctx, rucSUNAT)
	span.End()
	require.NoError(t, err)
	client.CloseIdleConnections()
	require.NoError(t, front.Close())
	require.ErrorIs(t, <-servido, http.ErrServerClosed)
	assert.NotContains(t, visto, "Traceparent")
	assert.NotContains(t, visto, "Baggage")
}

func TestAFailureOfTheNetworkQuotesNobody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	terminado := make(chan struct{})
	go func() { // a server that repeats the request, and does not speak HTTP
		defer close(terminado)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			linea, _ := bufio.NewReader(c).ReadString('\n')
			fmt.Fprint(c, linea)
			c.Close()
		}
	}()
	tel, spans, recoger := enMemoria(t)
	client, err := conectar(tel, "http://"+l.Addr().String(), mockserver.DefaultAPIKey, false)
	require.NoError(t, err)
	_, err = client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.ErrorIs(t, err, fiscope.ErrUnavailable)
	var tapado errorTapado
	assert.NotErrorAs(t, err, &tapado, "the caller gets the error itself")
	require.NoError(t, l.Close())
	<-terminado
	texto := todo(spans.GetSpans(), recoger())
	sinNadaAjeno(t, texto)
	assert.Contains(t, texto, "malformed HTTP")

	_, err = client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	var e *fiscope.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery, "fiscope sees the network through both layers")
}

func TestARouteShowsOnlyWhatIsKnown(t *testing.T) {
	for path, quiere := range map[string]string{
		"/api/contribuyentes/20131312955":        "/api/contribuyentes/:ruc",
		"/fiscal/api/contribuyentes/20131312955": "/api/contribuyentes/:ruc",
		"/api/contribuyentes/search":             "/api/contribuyentes/search",
		"/api/cpe/validar":                       "/api/cpe/validar",
		"/fiscal/api/tipocambio":                 "/api/tipocambio",
		"/20131312955":                           "/",
		"":                                       "/",
	} {
		assert.Equal(t, quiere, ruta(path), path)
	}
}
