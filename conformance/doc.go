// Package conformance checks whether a server keeps the contract of the fiscal data service (docs/contract.md), with
// one named subtest for each rule. It uses HTTP and shares nothing with the SDK or the mock server.
//
//	go test ./conformance -count=1 -args -base-url URL -api-key KEY
//
// or from your own test:
//
//	conformance.Run(t, conformance.Target{BaseURL: url, APIKey: key})
//
// docs/conformance.md says what it sends and costs, what it judges, and what it only reports.
package conformance
