//go:build !race

package otelfiscope_test

const raceEnabled = false
