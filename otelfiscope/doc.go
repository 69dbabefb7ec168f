// Package otelfiscope makes OpenTelemetry data of what a fiscope client does: a span for each operation and for each
// attempt, and metrics.
//
//	telemetry, err := otelfiscope.New() // of the global providers
//	client, err := fiscope.NewClient(baseURL, apiKey,
//		fiscope.WithHook(telemetry.Hook),
//		fiscope.WithObserver(telemetry.Observe))
//	_, err = telemetry.ObserveQuota(client)
//
// Other people read spans and metrics, and they are kept for other times than the data. So none holds a RUC, a name, a
// user, a clave, a key, an error text, a host or a URL: every attribute is a number, or one of a few words that this
// package and [fiscope.ErrorClass] define.
//
// # Spans
//
// An operation is a span of kind INTERNAL with the name of the operation, such as "Contribuyentes.Consultar". The
// transport and your own hook ([WithHook]) see its context, so that their logs and spans belong to it. Its attributes:
//
//   - fiscope.operation: its name again, as in the metrics
//   - fiscope.outcome: "result", "not_found", "not_yet_published" or "error"
//   - fiscope.source: where the outcome came from: "service"; "cache", or "stale" if it is older than its lifetime;
//     "shared" for another call's query; "registry" for a Respaldo; "client" if it refused or had no time to ask;
//     "unknown" if no answer came, or a panic ended the call
//   - fiscope.attempts: how many requests it took
//   - fiscope.warnings: how many things were odd in an accepted answer; left out for none
//   - error.type: the word of [fiscope.ErrorClass]; only if the outcome is "error", and then the status of
//     the span is Error
//
// SUNAT, Mes, Esperar and the like make several queries: a span with a span for each query below it. A batch has no
// span of its own: begin one around the loop, and the span of each query is below it.
//
// An attempt is a span of kind CLIENT, below its operation's and named after its method, with http.request.method,
// http.response.status_code (left out if no answer came; then fiscope.delivery says whether the service can have
// received it: "unknown" or "not_sent"), http.request.resend_count from the second on, error.type, and
// fiscope.operation. It is made when the attempt ends: spans of your transport are beside it, below the operation's.
//
// A RUC that no taxpayer has, or a rate not yet published, is an answer: neither span is an error.
//
// # Metrics
//
//   - fiscope.operation.duration, a histogram in seconds: fiscope.operation, fiscope.outcome, fiscope.source, error.type
//   - fiscope.active_operations, those under way: fiscope.operation
//   - http.client.request.duration, a histogram in seconds of attempts: http.request.method,
//     http.response.status_code, error.type, fiscope.operation
//   - fiscope.retries, attempts after an operation's first: fiscope.operation
//   - fiscope.queries.avoided, calls that spent no query: fiscope.operation, fiscope.avoided.reason (the words of
//     [fiscope.Avoided], with underscores)
//   - fiscope.quota.limit, fiscope.quota.remaining and fiscope.quota.reset.timestamp (seconds since 1970): see
//     [Telemetry.ObserveQuota]
//
// # Where the conventions are not followed
//
// Names, units, kinds and buckets are those of OpenTelemetry's conventions for HTTP clients. The conventions also ask
// for url.full, server.address and server.port. url.full holds the RUC or the name that is searched, and is never
// shown; a template of it would say no more than the operation. The others may name a tenant: set them with
// [WithAttributes] if yours may be seen. error.type is the class of an error; the status has its own attribute.
//
// The service belongs to another company: nothing here sends it trace ids or baggage, whichever propagator is set.
// Package otelhttp around your transport would, and shows url.full. You do not need it for a span of each attempt.
package otelfiscope
