package main

import (
	"os"
	"strings"
)

// processorName and load are what Linux tells, "unknown" elsewhere.
func processorName() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	_, after, _ := strings.Cut(string(info), "model name\t: ")
	name, _, _ := strings.Cut(after, "\n")
	return orUnknown(name)
}

// load returns the load of the last minute.
func load() string {
	info, _ := os.ReadFile("/proc/loadavg")
	minute, _, _ := strings.Cut(string(info), " ")
	return orUnknown(minute)
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}
