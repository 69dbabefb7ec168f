package padron

import (
	"context"
	"hash/crc32"
)

// Verify reads the whole file and checks that it is as [Import] wrote it. No other call can know that: each taxpayer
// found is as written, but one may be missing if a byte was changed. At 18 million rows it takes under a second of one
// processor if the file is in the page cache; calls go on meanwhile.
//
// Errors: ctx has ended, the index is closed, or its file was damaged.
func (x *Index) Verify(ctx context.Context) error {
	sum := uint32(0)
	for at, whole := headerSize, false; !whole; {
		err := x.read(func() error {
			end := min(at+chunkSize, len(x.file))
			sum = crc32.Update(sum, castagnoli, x.file[at:end])
			at, whole = end, end == len(x.file)
			if whole && sum != x.content {
				return errDamaged
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}
