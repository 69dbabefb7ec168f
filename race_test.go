//go:build race

package fiscope_test

const raceEnabled = true
