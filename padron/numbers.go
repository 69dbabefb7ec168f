package padron

import "encoding/binary"

// numbers is a list of 32-bit numbers as it lies in the file.
type numbers []byte

func (n numbers) len() int { return len(n) / 4 }

func (n numbers) at(i int) uint32 { return binary.LittleEndian.Uint32(n[4*i:]) }

// number32 returns a number of an index: its builder takes no more than 4 GB of names or rows, and its file has no more.
func number32(n int) uint32 { return uint32(n) } //nolint:gosec // see above
