//go:build !linux && !darwin && !freebsd

package main

import "io"

// columns returns the width of a terminal, or 0 for what is none. Here it is not known.
func columns(io.Writer) int { return 0 }
