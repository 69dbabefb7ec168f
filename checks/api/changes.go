package api

import (
	"maps"
	"slices"
)

// exports are declarations by the file that records them.
type exports map[string][]string

// changes are the lines of each file that are gone, which breaks those who use them, and those that came.
func changes(recorded, now exports) (gone, added []string) {
	return recorded.besides(now), now.besides(recorded)
}

// besides returns what others do not have, sorted, as "file: line".
func (e exports) besides(others exports) (lines []string) {
	for _, file := range slices.Sorted(maps.Keys(e)) {
		for _, line := range e[file] {
			if !slices.Contains(others[file], line) {
				lines = append(lines, file+": "+line)
			}
		}
	}
	return lines
}

// with returns what either has.
func (e exports) with(others exports) exports {
	all := maps.Clone(e)
	for file, lines := range others {
		all[file] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(all[file], lines))))
	}
	return all
}
