package otelfiscope

import (
	"fmt"
	"runtime/debug"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/fiscope/fiscope"
)

// scope is OpenTelemetry's name for this package.
const scope = "github.com/fiscope/fiscope/otelfiscope"

// Telemetry makes spans and metrics of the calls of clients. Make one for all clients, or one for each client with its
// own attributes ([WithAttributes]). It is safe for concurrent use.
//
// It never changes a call. A panic of a provider goes to OpenTelemetry's error handler. A nil or zero Telemetry does
// nothing.
type Telemetry struct {
	tracer     trace.Tracer
	meter      metric.Meter
	metrics    instruments
	attributes []attribute.KeyValue // of all spans and metrics
	hook       fiscope.Hook         // called within the span of an operation; nil for none
}

// New returns a Telemetry that uses the global providers, or those of the options. An error is from an option, or from
// the provider of the metrics.
func New(opts ...Option) (*Telemetry, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	info, _ := debug.ReadBuildInfo()
	version := versionIn(info)
	t := &Telemetry{
		tracer:     c.tracers.Tracer(scope, trace.WithInstrumentationVersion(version), trace.WithSchemaURL(semconv.SchemaURL)),
		meter:      c.meters.Meter(scope, metric.WithInstrumentationVersion(version), metric.WithSchemaURL(semconv.SchemaURL)),
		attributes: c.attributes,
		hook:       c.hook,
	}
	if t.metrics, err = newInstruments(t.meter); err != nil {
		return nil, fmt.Errorf("otelfiscope: the metrics cannot be made: %w", err)
	}
	return t, nil
}

// versionIn returns the version of this module in a program; "" if it has none.
func versionIn(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path != scope {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version == "(devel)" {
			return ""
		}
		return m.Version
	}
	return ""
}

// made reports whether New made t.
func (t *Telemetry) made() bool { return t != nil && t.tracer != nil }

// with returns attributes plus the common ones, with room for two more.
func (t *Telemetry) with(attributes ...attribute.KeyValue) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, len(attributes)+len(t.attributes)+2)
	return append(append(all, attributes...), t.attributes...)
}

// survive, deferred, keeps a panic of a provider from the call.
func survive() {
	value := recover()
	if value == nil {
		return
	}
	defer func() { _ = recover() }() // the handler itself may panic
	otel.Handle(fmt.Errorf("otelfiscope: a provider panicked (%T): the call goes on", value))
}
