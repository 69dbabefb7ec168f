package padron

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/scrub"
)

// source is a registry's file: the published zip, or its text.
type source struct {
	file   *os.File
	info   os.FileInfo // when it was opened
	member *zip.File   // nil if the file is the text itself
	size   int64       // of the text, in bytes
	sha256 string      // of the file as it is; 64 hexadecimal digits
	fecha  fiscope.Fecha
}

// openSource opens the file, and detects from its content whether it is a zip or a text. It reads all of it once, for
// its SHA-256. The errors of a source name the file.
func openSource(ctx context.Context, name string, begin beginPhase) (*source, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for its writer
		return nil, fmt.Errorf("%s: it is not a file: give the registry's zip, or its text", name)
	}
	file, err := os.Open(name) //nolint:gosec // the caller's own file
	if err != nil {
		return nil, err // it names the file
	}
	s := &source{file: file}
	if err := s.inspect(ctx, begin); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// Close closes the file.
func (s *source) Close() error { return s.file.Close() }

// inspect finds the text in the file, its size, its date and the file's SHA-256.
func (s *source) inspect(ctx context.Context, begin beginPhase) error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return errors.New("it is empty: the download went wrong, try again")
	}
	s.info, s.size, s.fecha = info, info.Size(), fiscope.FechaEnLima(info.ModTime())
	if err := s.findMember(); err != nil {
		return err
	}
	hash, read := sha256.New(), begin(PhaseHash, info.Size())
	buffer := make([]byte, chunkSize)
	for at := int64(0); ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := s.file.ReadAt(buffer, at)
		_, _ = hash.Write(buffer[:n]) // a hash never fails
		at += int64(n)
		if n > 0 {
			read(n)
		}
		if errors.Is(err, io.EOF) {
			s.sha256 = hex.EncodeToString(hash.Sum(nil))
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// findMember finds the text in a zip. It does nothing if the file is not a zip.
func (s *source) findMember() error {
	magic := make([]byte, 4)
	if n, _ := s.file.ReadAt(magic, 0); !hasAnyPrefix(magic[:n], "PK\x03\x04", "PK\x05\x06", "PK\x07\x08") {
		return nil
	}
	archive, err := zip.NewReader(s.file, s.size)
	if err != nil {
		return fmt.Errorf("its zip is cut or damaged, the download went wrong: try again: %w", err)
	}
	files := slices.DeleteFunc(archive.File, func(f *zip.File) bool { return f.FileInfo().IsDir() })
	if len(files) == 0 {
		return errors.New("its zip holds no file: the download went wrong, try again")
	}
	m := files[0]
	switch {
	case len(files) > 1:
		return fmt.Errorf("its zip holds %d files, and not the registry alone: unpack it, and give the registry's text", len(files))
	case m.Flags&1 != 0:
		return errors.New("its zip is encrypted: unpack it before")
	case m.UncompressedSize64 == 0:
		return fmt.Errorf("its zip holds an empty file, %q: the download went wrong, try again", scrub.Cut(m.Name, 40))
	case m.Method != zip.Deflate && m.Method != zip.Store:
		return fmt.Errorf("its zip is compressed by method %d: only Deflate (8) can be read: unpack it before", m.Method)
	case m.UncompressedSize64 > 1<<40:
		return fmt.Errorf("its zip is damaged: it claims a text of %d bytes", m.UncompressedSize64)
	case m.CRC32 == 0: // archive/zip would not check it
		return errors.New("its zip is without a checksum: unpack it before, and look whether the text is whole")
	}
	s.member = m
	s.size = int64(m.UncompressedSize64)
	if m.Modified.Year() > 1980 { // otherwise the zip has no date
		year, month, day := m.Modified.Date() // local time where the zip was made
		s.fecha = fiscope.NewFecha(year, month, day)
	}
	return nil
}

// rows checks the header, finds the encoding of the text, and then calls each for the rows that are taken, as readRows
// does. It reads the text twice if the header may be UTF-8.
func (s *source) rows(ctx context.Context, report *Report, begin beginPhase, each func(*taxpayerRow) error) error {
	isUTF8, err := s.isUTF8(ctx, begin)
	if err != nil {
		return err
	}
	in, err := s.text()
	if err != nil {
		return err
	}
	defer in.Close()
	if err := readRows(ctx, in, isUTF8, report, begin(PhaseRead, s.size), each); err != nil {
		return err
	}
	if info, err := s.file.Stat(); err != nil || info.Size() != s.info.Size() || !info.ModTime().Equal(s.info.ModTime()) {
		return fmt.Errorf("%s: it was written while it was read: try again when that is over", s.file.Name())
	}
	if report.Rows == 0 {
		return fmt.Errorf("%s: it has a header, and no row: the download went wrong, try again", s.file.Name())
	}
	return nil
}

// isUTF8 reports whether the whole text is UTF-8; otherwise, even for one invalid byte, it is Windows-1252. The header
// shows that already, unless it has lost its accents.
func (s *source) isUTF8(ctx context.Context, begin beginPhase) (bool, error) {
	in, err := s.text()
	if err != nil {
		return false, err
	}
	defer in.Close()
	text := bufio.NewReaderSize(in, longestLine)
	beginning, err := text.Peek(longestLine)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if wrong := checkHeader(beginning); wrong != nil {
		if s.member != nil { // its checksum, at the end, says whether this is damage
			if err := readAhead(text, func([]byte) error { return context.Cause(ctx) }); err != nil {
				return false, err
			}
		}
		return false, fmt.Errorf("%s: %w", s.file.Name(), wrong)
	}
	if line, _, _ := bytes.Cut(beginning, []byte("\n")); !utf8.Valid(line) {
		return false, nil
	}
	return onlyUTF8(ctx, text, begin(PhaseEncoding, s.size))
}

// text opens the text at its beginning.
func (s *source) text() (io.ReadCloser, error) {
	if s.member == nil {
		return io.NopCloser(io.NewSectionReader(s.file, 0, s.size)), nil
	}
	in, err := s.member.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: its zip is damaged: %w", s.file.Name(), err)
	}
	return struct {
		io.Reader
		io.Closer
	}{&memberReader{in: in, source: s}, in}, nil
}

// memberReader reads the text in a zip. Its errors name the file and say what to do.
type memberReader struct {
	in     io.Reader
	source *source
	done   int64
}

func (r *memberReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.done += int64(n)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return n, fmt.Errorf("%s: its zip ends after %d of the text's %d bytes, the download went wrong: try again: %w",
			r.source.file.Name(), r.done, r.source.size, err)
	}
	return n, fmt.Errorf("%s: its zip is damaged, the download went wrong: try again: %w", r.source.file.Name(), err)
}
