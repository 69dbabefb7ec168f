//go:build race

package otelfiscope_test

const raceEnabled = true
