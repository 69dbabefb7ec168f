package padron

import "encoding/binary"

// numbers is a list of 32-bit numbers as in the file.
type numbers []byte

func (n numbers) len() int { return len(n) / 4 }

func (n numbers) at(i int) uint32 { return binary.LittleEndian.Uint32(n[4*i:]) }

// number32 converts a number of an index: no index has more than 4 GB of names or rows.
func number32(n int) uint32 { return uint32(n) } //nolint:gosec // see above
