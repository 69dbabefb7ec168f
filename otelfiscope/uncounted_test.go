//go:build race || go1.27 || goexperiment.jsonv2

package otelfiscope_test

const countsAllocations = false
