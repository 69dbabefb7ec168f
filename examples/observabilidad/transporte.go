package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// clienteHTTP returns the client for fiscope.WithHTTPClient: each attempt is a span, with its retries
// side by side.
//
// A span keeps the URL (url.full), and here the URL holds the RUC, the name that is searched, the date.
// Telemetry goes to other people, for other times, than the data. So otelhttp stands between two layers:
// the outer one (discreto) shows it the route only, and the inner one (veraz) puts the request back as it
// was. What otelhttp never saw cannot be in a span or in a metric, whichever version it is.
//
//	fiscope → discreto → otelhttp → veraz → network
func clienteHTTP(t telemetria) *http.Client {
	// As http.DefaultTransport, and closed with the client: Proxy, HTTP/2, keep-alive.
	red := http.DefaultTransport.(*http.Transport).Clone()
	medido := otelhttp.NewTransport(veraz{red},
		otelhttp.WithTracerProvider(t.spans),
		otelhttp.WithMeterProvider(t.metricas),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return r.Method + " " + r.URL.Path }),
		// The service is somebody else's: it gets neither our trace ids nor our baggage.
		otelhttp.WithPropagators(propagation.NewCompositeTextMapPropagator()),
	)
	return &http.Client{Transport: discreto{medido: medido, red: red}}
}

type discreto struct {
	medido http.RoundTripper
	red    *http.Transport
}

// verdadera is the context's key of the URL that is hidden.
type verdadera struct{}

func (d discreto) RoundTrip(r *http.Request) (*http.Response, error) {
	var etiquetas otelhttp.Labeler // of the metrics
	etiquetas.Add(semconv.URLTemplate(ruta(r.URL.Path)))
	ctx := otelhttp.ContextWithClientLabeler(r.Context(), &etiquetas)
	mostrada := r.Clone(context.WithValue(ctx, verdadera{}, r.URL))
	mostrada.URL = &url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: ruta(r.URL.Path)}
	resp, err := d.medido.RoundTrip(mostrada)
	// For you, the error says all it has to say.
	var tapado errorTapado
	if errors.As(err, &tapado) {
		err = tapado.error
	}
	return resp, err
}

// CloseIdleConnections is found by http.Client, and through it by fiscope's.
func (d discreto) CloseIdleConnections() { d.red.CloseIdleConnections() }

type veraz struct{ red http.RoundTripper }

func (v veraz) RoundTrip(r *http.Request) (*http.Response, error) {
	cierta, ok := r.Context().Value(verdadera{}).(*url.URL)
	if !ok {
		return nil, errors.New("observabilidad: a request that did not come through discreto")
	}
	r = r.Clone(r.Context())
	r.URL = cierta
	resp, err := v.red.RoundTrip(r)
	if err != nil {
		err = errorTapado{err}
	}
	return resp, err
}

// errorTapado hides what an error quotes (net/http quotes an answer that is not HTTP) from the status of
// a span.
type errorTapado struct{ error }

var digitos = regexp.MustCompile(`[0-9]{6,}`)

func (e errorTapado) Error() string {
	texto, _, _ := strings.Cut(e.error.Error(), `"`)
	return digitos.ReplaceAllString(texto, "…")
}

func (e errorTapado) Unwrap() error { return e.error }

// ErrorType is OpenTelemetry's error.type.
func (e errorTapado) ErrorType() string { return fmt.Sprintf("%T", e.error) }

// ruta returns the route of a path: one name for each operation, so that spans and metrics can be grouped.
// It is made of what is known, not of what is left out: an unknown path shows nothing.
func ruta(path string) string {
	for _, fija := range []string{"/api/contribuyentes/search", "/api/cpe/validar", "/api/tipocambio"} {
		if strings.HasSuffix(path, fija) {
			return fija
		}
	}
	if strings.Contains(path, "/api/contribuyentes/") {
		return "/api/contribuyentes/:ruc"
	}
	return "/"
}
