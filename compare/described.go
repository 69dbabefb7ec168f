package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// described says what is compared, where and when.
func described() []string {
	lines := []string{fmt.Sprintf("%s, %s, %s/%s, %d processors (%s)",
		time.Now().Format(time.DateOnly), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor())}
	for _, c := range contenders {
		if c.module != "" && c.module != ours.module {
			lines = append(lines, c.name+": "+c.module+" "+version(c.module))
		}
	}
	return lines
}

// version returns the version of a module that this program was built with.
func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return "unknown"
}

// processor is what Linux calls it, "unknown" elsewhere.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	if _, after, found := strings.Cut(string(info), "model name\t: "); found {
		name, _, _ := strings.Cut(after, "\n")
		return name
	}
	return "unknown"
}
