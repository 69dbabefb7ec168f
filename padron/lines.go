package padron

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

const (
	chunkSize = 1 << 20
	chunks    = 4 // read ahead at most

	// longestLine is the most bytes of a row: nearly a hundred times the average. So a row's texts in UTF-8 are below 32
	// KiB.
	longestLine = 8 << 10
)

// eachLine calls do with every line of in, in order, without its LF or CRLF; the last line may have none. A line longer
// than longestLine is cut, but stays longer than that. The line is valid until do returns. read gets the number of
// bytes read.
func eachLine(ctx context.Context, in io.Reader, read func(bytes int), do func(line []byte) error) error {
	var rest []byte // the beginning of a line that goes on in the next chunk
	err := readAhead(in, func(chunk []byte) error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		defer read(len(chunk))
		for {
			end := bytes.IndexByte(chunk, '\n')
			if end < 0 {
				rest = appendLine(rest, chunk)
				return nil
			}
			line := chunk[:min(end, longestLine+2)]
			if len(rest) > 0 {
				line = appendLine(rest, line)
				rest = rest[:0]
			}
			if err := do(bytes.TrimSuffix(line, []byte("\r"))); err != nil {
				return err
			}
			chunk = chunk[end+1:]
		}
	})
	if err == nil && len(rest) > 0 {
		err = do(bytes.TrimSuffix(rest, []byte("\r")))
	}
	return err
}

// appendLine appends to a line, up to longestLine plus two bytes: even without a CR it is still too long.
func appendLine(line, more []byte) []byte {
	return append(line, more[:min(len(more), longestLine+2-len(line))]...)
}

// readAhead calls take with the content of in, a chunk at a time, while its goroutine reads the next ones: inflating a
// zip takes longer than reading its rows. A chunk is valid until take returns. The first error of in, after the content
// before it was taken, or of take ends it. Its goroutine has ended when it returns.
func readAhead(in io.Reader, take func(chunk []byte) error) error {
	type chunk struct {
		bytes []byte
		err   error
	}
	ready := make(chan chunk, chunks)
	free := make(chan []byte, chunks)
	for range chunks {
		free <- make([]byte, chunkSize)
	}
	stop := make(chan struct{})
	var reader sync.WaitGroup
	defer reader.Wait()
	defer close(stop)
	reader.Go(func() {
		defer close(ready)
		for {
			select {
			case buffer := <-free:
				n, err := fill(in, buffer)
				ready <- chunk{buffer[:n], err} // never blocks: there are only that many buffers
				if err != nil {
					return
				}
			case <-stop:
				return
			}
		}
	})
	for c := range ready {
		if err := take(c.bytes); err != nil {
			return err
		}
		if errors.Is(c.err, io.EOF) {
			return nil
		}
		if c.err != nil {
			return c.err
		}
		free <- c.bytes[:chunkSize]
	}
	return nil
}

// fill reads until the buffer is full or in ends. Unlike io.ReadFull it distinguishes the end of in, io.EOF, from a
// truncated stream, io.ErrUnexpectedEOF.
func fill(in io.Reader, buffer []byte) (n int, err error) {
	for idle := 0; n < len(buffer) && err == nil; {
		var m int
		if m, err = in.Read(buffer[n:]); m > 0 {
			idle = 0
		} else if idle++; idle == 100 && err == nil {
			err = io.ErrNoProgress
		}
		n += m
	}
	return n, err
}
