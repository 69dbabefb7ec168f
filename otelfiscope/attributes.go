package otelfiscope

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/fiscope/fiscope"
)

// The names of our own. The others are of OpenTelemetry's conventions.
const (
	operationKey attribute.Key = "fiscope.operation"
	outcomeKey   attribute.Key = "fiscope.outcome"
	sourceKey    attribute.Key = "fiscope.source"
	attemptsKey  attribute.Key = "fiscope.attempts"
	warningsKey  attribute.Key = "fiscope.warnings"
	deliveryKey  attribute.Key = "fiscope.delivery"
	reasonKey    attribute.Key = "fiscope.avoided.reason"
)

// names are those that an attribute of the caller's may not have: it would take the place of ours.
var names = []attribute.Key{
	operationKey, outcomeKey, sourceKey, attemptsKey, warningsKey, deliveryKey, reasonKey,
	semconv.ErrorTypeKey, semconv.HTTPRequestMethodKey, semconv.HTTPRequestResendCountKey, semconv.HTTPResponseStatusCodeKey,
}

// operationOf returns the attribute of an operation.
func operationOf(op fiscope.Operation) attribute.KeyValue { return operationKey.String(string(op)) }

// outcomeOf returns how a call ended, and the class of what is an error of it; "" for none.
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

// sourceOf returns where the end of a call came from, which had an error of that class.
func sourceOf(resp fiscope.Response, class string) string {
	switch {
	case resp.FromRespaldo:
		return "respaldo"
	case resp.Stale:
		return "stale"
	case resp.FromCache:
		return "cache"
	case resp.Coalesced:
		return "shared"
	case resp.Attempts == 0 && class == "other": // it was broken off, and nobody knows how far it came
		return "unknown"
	case resp.Attempts == 0:
		return "client"
	}
	return "service"
}

// reasonOf returns why a call spent no query.
func reasonOf(a fiscope.Avoided) attribute.KeyValue { return reasonKey.String(word(string(a))) }

// deliveryOf returns whether the service can have received an attempt.
func deliveryOf(d fiscope.Delivery) attribute.KeyValue { return deliveryKey.String(word(d.String())) }

// word returns a few words as one.
func word(words string) string { return strings.ReplaceAll(words, " ", "_") }

// isStatus reports whether a number is a status: three digits. By HTTP/2, net/http passes on whatever number a server
// writes there, a RUC for one.
func isStatus(number int) bool { return 100 <= number && number <= 999 }

// methodOf returns the method of an operation's requests.
func methodOf(op fiscope.Operation) string {
	if op == fiscope.OpValidarCPE {
		return http.MethodPost
	}
	return http.MethodGet
}
