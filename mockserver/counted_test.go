//go:build !race && !go1.27 && !goexperiment.jsonv2

package mockserver_test

// The counts of allocations in these tests are those of Go 1.26, which go.mod asks for.
const countsAllocations = true
