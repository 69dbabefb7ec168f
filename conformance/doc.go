// Package conformance tells whether a server keeps the contract of the fiscal data service (docs/contrato.md):
// one named subtest for each sentence that states a behaviour, with its section. It asks by HTTP and reads what
// comes by itself: it shares nothing with the SDK or with the mock server, which are told as any other server is.
//
//	go test ./conformance -count=1 -args -base-url URL -api-key KEY
//
// or from a test of one's own:
//
//	conformance.Run(t, conformance.Target{BaseURL: url, APIKey: key})
//
// # What it sends
//
// The plan is known before the first request: each question is sent once, and its answer judged by all checks
// that need it. Nothing is tried again and no redirect is followed, so the line "budget", which comes first, says
// the most queries that the key can lose. The requests go one after the other: between two lookups the suite
// knows what was asked, and with a key that nobody else uses, by how much X-RateLimit-Remaining must have fallen.
//
// A receipt validation needs a SOL user, and too many wrong claves block one. Without [Target.CPE] no clave is
// sent, and what needs one is skipped. With it, that user's clave is sent as it is, and no more once it is refused;
// a wrong one goes out once, and only with [Target.WrongClave].
//
// # What it judges
//
// A body that is not exactly one JSON value, or that is served as something else, is a failure; so is a field
// that the contract gives and an answer lacks, or that has another type. Further fields are fine. Of a refused
// key only the refusal is judged, whatever its status and body; where the contract shows no code, any will do.
//
// Not judged, since nobody can see it from outside without harm: the answer while the tax authority does not
// respond (4.3), the refusal of a principal user and the block of a user (4.3), what happens at the end of the
// quota (8), the hour of a rate's publication (4.4) and what relevance is (4.2), but that a smaller limit returns
// the first of what a larger one does.
//
// # What it reports
//
// What the contract leaves open is observed, not judged: [Run] returns an [Observation] for each field of
// mockserver.Assumptions, in the notation of the mock's program, so that a mock can answer as the server that was
// seen.
package conformance
