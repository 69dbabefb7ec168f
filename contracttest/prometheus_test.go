package contracttest

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/otelfiscope"
)

// readByPrometheus is /metrics after calls that end in every way, as docs/observability.md sets it up.
func readByPrometheus(t *testing.T) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry),
		otelprometheus.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
	require.NoError(t, err)
	provider := metric.NewMeterProvider(metric.WithReader(exporter))
	telemetry, err := otelfiscope.New(otelfiscope.WithMeterProvider(provider))
	require.NoError(t, err)
	srv := mockserver.New(t)
	srv.Fault(mockserver.Match{Times: 1}, mockserver.Status(503)) // a retry answers it
	client := srv.Client(fiscope.WithHook(telemetry.Hook), fiscope.WithObserver(telemetry.Observe))
	defer func() { assert.NoError(t, client.Close(context.Background())) }()
	_, err = telemetry.ObserveQuota(client)
	require.NoError(t, err)
	for _, ruc := range []string{"20131312955", "2013131295", "20999999990"} {
		_, _ = client.Contribuyentes.Consultar(t.Context(), ruc) // the errors are made on purpose
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.NoError(t, provider.Shutdown(context.Background()))
	return w.Body.String()
}

var (
	metricType   = regexp.MustCompile(`(?m)^# TYPE (\w+) (\w+)$`)
	metricSample = regexp.MustCompile(`(?m)^(\w+)\{(.*)\} \S+$`)
	metricLabel  = regexp.MustCompile(`(\w+)="`)
	metricRow    = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| (.*?) \\|")
	metricQuery  = regexp.MustCompile(`\b(?:fiscope|http_client)_\w+`)
	metricSuffix = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// The table of docs/observability.md has what Prometheus reads, neither more nor less: names, types and labels.
func TestTheDocumentHasWhatPrometheusReads(t *testing.T) {
	text := readByPrometheus(t)
	read := map[string]string{}
	for _, m := range metricType.FindAllStringSubmatch(text, -1) {
		if m[1] == "target_info" { // of the program, not of fiscope
			continue
		}
		var labels []string
		for _, line := range metricSample.FindAllStringSubmatch(text, -1) {
			name := line[1]
			if m[2] == "histogram" {
				name = metricSuffix.ReplaceAllString(name, "")
			}
			for _, label := range metricLabel.FindAllStringSubmatch(line[2], -1) {
				if name == m[1] && label[1] != "le" && !strings.HasPrefix(label[1], "otel_scope_") {
					labels = append(labels, "`"+label[1]+"`")
				}
			}
		}
		slices.Sort(labels)
		read[m[1]] = m[2] + ": " + strings.Join(slices.Compact(labels), ", ")
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "observability.md"))
	require.NoError(t, err)
	written := map[string]string{}
	for _, m := range metricRow.FindAllStringSubmatch(string(page), -1) {
		written[m[1]] = m[2] + ": " + m[3]
	}
	require.NotEmpty(t, read)
	assert.Empty(t, cmp.Diff(read, written))

	names := append(metricLabel.FindAllString(text, -1), slices.Collect(maps.Keys(read))...)
	for _, used := range metricQuery.FindAllString(string(page), -1) {
		assert.True(t, slices.Contains(names, metricSuffix.ReplaceAllString(used, "")) || slices.Contains(names, used+`="`), used)
	}
}
