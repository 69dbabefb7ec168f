package padron

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// Fuzzing would try for a minute to make each new input smaller, and do nothing else meanwhile. The
	// flag of that name on the command line still decides.
	_ = flag.Set("test.fuzzminimizetime", "10x")
	goleak.VerifyTestMain(m)
}
