package padron

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
)

// sectionAlign is the alignment of sections: a processor's cache line.
const sectionAlign = 64

// sections writes an index: its sections, and then its header.
type sections struct {
	file   *os.File
	header indexHeader
	end    int64 // of the last section so far
}

func newSections(file *os.File) *sections {
	return &sections{file: file, end: int64(headerSize)}
}

// begin begins a section of at most most bytes. Others may begin before it is finished.
func (s *sections) begin(number int, most int64) *sectionWriter {
	at := (s.end + sectionAlign - 1) / sectionAlign * sectionAlign
	s.end = at + most
	s.header.Sections[number] = section{At: uint64(at)} //nolint:gosec // no offset is negative
	return &sectionWriter{bufio.NewWriterSize(io.NewOffsetWriter(s.file, at), 1<<18), &s.header.Sections[number].Size}
}

// write writes a whole section.
func (s *sections) write(number int, content []byte) error {
	w := s.begin(number, int64(len(content)))
	w.write(content)
	return w.finish()
}

// writeNumbers writes a whole section of numbers.
func (s *sections) writeNumbers(number int, list []uint32) error {
	w := s.begin(number, 4*int64(len(list)))
	for _, n := range list {
		w.number(n)
	}
	return w.finish()
}

// writeSorted writes sorted offsets, with their minima.
func (s *sections) writeSorted(number int, offsets []uint32) error {
	for level := range sectionLevels {
		if level > 0 {
			offsets = minimaOf(offsets)
		}
		if err := s.writeNumbers(number+level, offsets); err != nil {
			return err
		}
	}
	return nil
}

// finish writes the last section, that of texts, and the header.
func (s *sections) finish(texts []byte) error {
	if err := s.write(sectionTexts, texts); err != nil {
		return err
	}
	if err := s.file.Truncate(s.end); err != nil { // in case the last sections are empty
		return err
	}
	content := crc32.New(castagnoli)
	if _, err := io.Copy(content, io.NewSectionReader(s.file, int64(headerSize), s.end-int64(headerSize))); err != nil {
		return err
	}
	h := &s.header
	copy(h.Magic[:], formatMagic)
	h.Version, h.Size, h.Content = formatVersion, uint64(s.end), content.Sum32() //nolint:gosec // no size is negative
	encoded, err := h.encode(texts)
	if err == nil {
		_, err = s.file.WriteAt(encoded, 0)
	}
	return err
}

// sectionWriter writes a section. finish returns its first error.
type sectionWriter struct {
	out  *bufio.Writer
	size *uint64
}

func (w *sectionWriter) write(p []byte) {
	_, _ = w.out.Write(p)
	*w.size += uint64(len(p))
}

func (w *sectionWriter) number(n uint32) {
	_, _ = w.out.Write(binary.LittleEndian.AppendUint32(w.out.AvailableBuffer(), n))
	*w.size += 4
}

func (w *sectionWriter) finish() error { return w.out.Flush() }
