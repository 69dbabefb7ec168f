// Package conformance checks whether a server keeps the contract of the fiscal data service (docs/contract.md), by one
// named subtest for each rule. It asks by HTTP and shares nothing with the SDK or with the mock server.
//
//	go test ./conformance -count=1 -args -base-url URL -api-key KEY
//
// or from a test of one's own:
//
//	conformance.Run(t, conformance.Target{BaseURL: url, APIKey: key})
//
// docs/conformance.md says what it sends and costs, what it judges, and what it only reports.
package conformance
