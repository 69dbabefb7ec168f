package mockserver

import "slices"

// cell is a value in a column of allPairs.
type cell struct{ column, value int }

// allPairs returns rows of values, each from 0 to below its column's size, in which every two values of
// different columns meet. A row begins with the first two that have not met yet, and takes in each other column
// the value that meets most that it has not met: not the fewest rows, but nearly.
func allPairs(sizes []int) (rows [][]int) {
	var missing [][2]cell // in order, so that the rows are the same each time
	for j := range sizes {
		for i := range j {
			for v := range sizes[i] {
				for w := range sizes[j] {
					missing = append(missing, [2]cell{{i, v}, {j, w}})
				}
			}
		}
	}
	for len(missing) > 0 {
		row := slices.Repeat([]int{unset}, len(sizes))
		for _, c := range missing[0] {
			row[c.column] = c.value
		}
		for column := range row {
			if row[column] == unset {
				row[column] = mostMissing(missing, row, column, sizes[column])
			}
		}
		missing = slices.DeleteFunc(missing, func(pair [2]cell) bool { return meet(row, pair) })
		rows = append(rows, row)
	}
	return rows
}

// unset is a column of a row that has no value yet.
const unset = -1

// mostMissing returns the value of a column with which a row has the most pairs that are missing.
func mostMissing(missing [][2]cell, row []int, column, size int) int {
	best, most := 0, 0
	for value := range size {
		row[column] = value
		n := 0
		for _, pair := range missing {
			if (pair[0].column == column || pair[1].column == column) && meet(row, pair) {
				n++
			}
		}
		if n > most {
			best, most = value, n
		}
	}
	return best
}

func meet(row []int, pair [2]cell) bool {
	return row[pair[0].column] == pair[0].value && row[pair[1].column] == pair[1].value
}
