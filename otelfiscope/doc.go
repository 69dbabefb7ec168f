// Package otelfiscope shows what a fiscope client does with OpenTelemetry: a span for each operation and for each
// attempt, and metrics.
//
//	telemetry, err := otelfiscope.New() // of the global providers
//	client, err := fiscope.NewClient(baseURL, apiKey,
//		fiscope.WithHook(telemetry.Hook),
//		fiscope.WithObserver(telemetry.Observe))
//	_, err = telemetry.ObserveQuota(client)
//
// Spans and metrics go to other people, and are kept for other times, than the data. So none holds a RUC, a name, a
// user, a clave, a key, a text of an error, a host or a URL: every attribute is a number, or one of a few words that this
// package and [fiscope.ErrorClass] know.
//
// # Spans
//
// An operation is a span of kind INTERNAL, named as the operation is, as in "Contribuyentes.Consultar". Its context
// is the one that the transport and a hook of yours ([WithHook]) see, so that their logs and spans belong to it. Its
// attributes:
//
//   - fiscope.operation: its name again, as the metrics have it
//   - fiscope.outcome: "result", "not_found", "not_yet_published" or "error"
//   - fiscope.source: where that came from: "service"; "cache", or "stale" for what is older than it should be;
//     "shared" for the query of another call; "respaldo"; "client" where it refused or had no time to ask; "unknown"
//     if a panic ended the call before anything was known of it
//   - fiscope.attempts: how many requests it took
//   - fiscope.warnings: how many things were odd in what was accepted; left out for none
//   - error.type: the word of [fiscope.ErrorClass]; left out unless the outcome is "error", and then the status of
//     the span is Error
//
// SUNAT, Mes, Esperar and the like are operations made of operations: a span with a span for each query below it. A
// batch has none of its own: begin one around the loop, and the span of each query is below it.
//
// An attempt is a span of kind CLIENT, below that of its operation and named by its method, with http.request.method,
// http.response.status_code (left out where no answer came; then fiscope.delivery says whether the service can have
// received it: "unknown", or "not_sent"), http.request.resend_count from the second on, error.type, and
// fiscope.operation. It is made when it ends: spans of your transport are beside it, below that of the operation.
//
// Nobody having a RUC, or no rate being out yet, is an answer, and no error of either span.
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
// Names, units, kinds and buckets are those of OpenTelemetry's conventions for HTTP clients. These ask for url.full,
// server.address and server.port too. The first holds the RUC or the name that is searched, and is never shown; a
// template of it says no more than the operation. The others are a part of it that may name a tenant: give them with
// [WithAttributes] if yours may be seen. And error.type is the class of an error: the status stands beside it.
//
// The service is somebody else's: nothing here sends it trace ids or baggage, whichever propagator is set. Package
// otelhttp around your transport would, and shows url.full: an attempt has its span without it.
package otelfiscope
