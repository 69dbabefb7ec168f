package main

import (
	"fmt"
	"os"
	"time"
)

// progress tells who waits what is done now.
func progress(what string) {
	fmt.Fprintln(os.Stderr, time.Now().Format(time.TimeOnly), what)
}
