//go:build race || go1.27 || goexperiment.jsonv2

package mockserver_test

const countsAllocations = false
