package otelfiscope

import (
	"errors"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/fiscope/fiscope"
)

// Option configures a [Telemetry]. [New] fails if its value is invalid.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

// config is what the options decide.
type config struct {
	tracers    trace.TracerProvider
	meters     metric.MeterProvider
	attributes []attribute.KeyValue // of all spans and metrics
	hook       fiscope.Hook         // nil for none
}

func newConfig(opts []Option) (config, error) {
	c := config{tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider()}
	for i, opt := range opts {
		if opt == nil {
			return c, fmt.Errorf("otelfiscope: option %d is nil", i)
		}
		if err := opt.apply(&c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// WithTracerProvider sets the provider of the spans instead of the global one.
func WithTracerProvider(p trace.TracerProvider) Option {
	return option(func(c *config) error {
		if p == nil {
			return errors.New("otelfiscope: WithTracerProvider: the provider is nil")
		}
		c.tracers = p
		return nil
	})
}

// WithMeterProvider sets the provider of the metrics instead of the global one.
func WithMeterProvider(p metric.MeterProvider) Option {
	return option(func(c *config) error {
		if p == nil {
			return errors.New("otelfiscope: WithMeterProvider: the provider is nil")
		}
		c.meters = p
		return nil
	})
}

// WithAttributes adds attributes to all spans and metrics, such as server.address, or a name of your own if a process
// has several clients. They are shown as they are: give none that is secret or has many values. A name that this
// package uses itself is refused; of two attributes with the same name the last one wins.
func WithAttributes(attributes ...attribute.KeyValue) Option {
	return option(func(c *config) error {
		for _, a := range attributes {
			if !a.Valid() {
				return errors.New("otelfiscope: WithAttributes: an attribute has no name")
			}
			if slices.Contains(names, a.Key) {
				return fmt.Errorf("otelfiscope: WithAttributes: %s is an attribute of this package's own: give yours another name", a.Key)
			}
		}
		c.attributes = append(c.attributes, attributes...)
		return nil
	})
}

// WithHook calls h within the span of each operation.
func WithHook(h fiscope.Hook) Option {
	return option(func(c *config) error {
		if h == nil {
			return errors.New("otelfiscope: WithHook: the function is nil")
		}
		c.hook = h
		return nil
	})
}
