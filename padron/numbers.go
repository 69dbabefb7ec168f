package padron

import "encoding/binary"

// numbers is a list of 32-bit numbers as it lies in the file.
type numbers []byte

func (n numbers) len() int { return len(n) / 4 }

func (n numbers) at(i int) uint32 { return binary.LittleEndian.Uint32(n[4*i:]) }
