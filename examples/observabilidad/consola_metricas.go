package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// metricasEnConsola is the same for metrics.
type metricasEnConsola struct{ *consola }

func (metricasEnConsola) Temporality(k metric.InstrumentKind) metricdata.Temporality {
	return metric.DefaultTemporalitySelector(k)
}

func (metricasEnConsola) Aggregation(k metric.InstrumentKind) metric.Aggregation {
	return metric.DefaultAggregationSelector(k)
}

func (metricasEnConsola) ForceFlush(context.Context) error { return nil }

// Export writes the metrics: a count or a value, and of durations the count and the mean.
func (c metricasEnConsola) Export(_ context.Context, todas *metricdata.ResourceMetrics) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, alcance := range todas.ScopeMetrics {
		for _, m := range alcance.Metrics {
			fmt.Fprintf(c.out, "%s (%s)\n", m.Name, strings.Trim(m.Unit, "{}"))
			series := seriesDe(m.Data)
			slices.SortFunc(series, func(a, b serie) int {
				return strings.Compare(a.Encoded(attribute.DefaultEncoder()), b.Encoded(attribute.DefaultEncoder()))
			})
			for _, s := range series {
				c.atributos(fmt.Sprintf("%13s ", s.valor), s.ToSlice())
			}
		}
	}
	return nil
}

// serie is what a metric has for one set of attributes.
type serie struct {
	attribute.Set
	valor string
}

func seriesDe(datos metricdata.Aggregation) (series []serie) {
	switch datos := datos.(type) {
	case metricdata.Sum[int64]:
		for _, p := range datos.DataPoints {
			series = append(series, serie{p.Attributes, fmt.Sprint(p.Value)})
		}
	case metricdata.Gauge[int64]:
		for _, p := range datos.DataPoints {
			series = append(series, serie{p.Attributes, fmt.Sprint(p.Value)})
		}
	case metricdata.Histogram[float64]:
		for _, p := range datos.DataPoints {
			series = append(series, serie{p.Attributes, fmt.Sprintf("%d de %.1f ms", p.Count, 1000*p.Sum/float64(p.Count))})
		}
	}
	return series
}
