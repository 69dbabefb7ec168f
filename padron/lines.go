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
	chunks    = 4 // what is read ahead, at most

	// longestLine is the most bytes of a line that is a row: nearly a hundred times the average. A row's texts in
	// UTF-8 are below 32 KiB then.
	longestLine = 8 << 10
)

// eachLine calls do with every line of in, in order, without its end, which is LF or CRLF; the last one may have
// none. Of a line longer than longestLine it gives the beginning, which is longer than that too. The line is
// valid until do returns. read gets how many bytes of in were read.
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

// appendLine appends to a line, to two bytes more than longestLine: without a CR it is still seen to be longer.
func appendLine(line, more []byte) []byte {
	return append(line, more[:min(len(more), longestLine+2-len(line))]...)
}

// readAhead calls take with all that in has, a chunk at a time, while a goroutine of its own reads the next ones: a zip
// takes longer to inflate than its rows take to read. A chunk is valid until take returns. What in had before
// an error is taken; the first error of in or take ends it, and its goroutine is gone when it returns.
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
				ready <- chunk{buffer[:n], err} // there is room: no more buffers than that
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

// fill reads until the buffer is full or in ends. Unlike io.ReadFull it distinguishes the end of in, io.EOF, from that of
// a stream that is cut, io.ErrUnexpectedEOF.
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
