package otelfiscope

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/fiscope/fiscope"
)

// Our own names. The others are from OpenTelemetry's conventions.
const (
	operationKey attribute.Key = "fiscope.operation"
	outcomeKey   attribute.Key = "fiscope.outcome"
	sourceKey    attribute.Key = "fiscope.source"
	attemptsKey  attribute.Key = "fiscope.attempts"
	warningsKey  attribute.Key = "fiscope.warnings"
	deliveryKey  attribute.Key = "fiscope.delivery"
	reasonKey    attribute.Key = "fiscope.avoided.reason"
)

// names may not be used for the caller's attributes: they would replace ours.
var names = []attribute.Key{
	operationKey, outcomeKey, sourceKey, attemptsKey, warningsKey, deliveryKey, reasonKey,
	semconv.ErrorTypeKey, semconv.HTTPRequestMethodKey, semconv.HTTPRequestResendCountKey, semconv.HTTPResponseStatusCodeKey,
}

// operationOf returns the attribute of an operation.
func operationOf(op fiscope.Operation) attribute.KeyValue { return operationKey.String(string(op)) }

// outcomeOf returns how a call ended, and the class of its error; "" for none.
func outcomeOf(err error) (outcome, class string) {
	switch class := fiscope.ErrorClass(err); class {
	case "":
		return "result", ""
	case "not_found", "not_yet_published":
		return class, ""
	default:
		return "error", class
	}
}

// sourceOf returns where the outcome of a call came from. class is that of its error.
func sourceOf(resp fiscope.Response, class string) string {
	switch {
	case resp.Source != "":
		return string(resp.Source)
	case resp.Attempts > 0, class == "other": // no answer came, or the call broke off
		return "unknown"
	}
	return "client"
}

// reasonOf returns why a call spent no query.
func reasonOf(a fiscope.Avoided) attribute.KeyValue { return reasonKey.String(word(string(a))) }

// deliveryOf returns whether the service can have received an attempt.
func deliveryOf(d fiscope.Delivery) attribute.KeyValue { return deliveryKey.String(word(d.String())) }

// word joins words with underscores.
func word(words string) string { return strings.ReplaceAll(words, " ", "_") }

// isStatus reports whether a number is a status: three digits. Over HTTP/2, net/http passes on any number that a server
// writes there, even a RUC.
func isStatus(number int) bool { return 100 <= number && number <= 999 }

// methodOf returns the method of an operation's requests.
func methodOf(op fiscope.Operation) string {
	if op == fiscope.OpValidarCPE {
		return http.MethodPost
	}
	return http.MethodGet
}
