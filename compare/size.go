package main

import "time"

// size is how much of each work is done.
type size struct {
	rounds, calls int           // of what is timed: rounds, and calls of each client in a round
	allocating    int           // calls whose allocations are counted
	outageCalls   int           // to a service that fails
	patience      time.Duration // for a call that is told to come back in a day
	goroutines    int           // with a wrong clave
	quotaCalls    int           // by a quota of a tenth of them
	programs      []contender   // whose programs are built
}

var atFullSize = size{
	rounds: 400, calls: 20, allocating: 1000,
	outageCalls: 1000,
	patience:    5 * time.Second,
	goroutines:  10_000,
	quotaCalls:  1000,
	programs:    contenders,
}
