package padron

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/fiscope/fiscope"
)

// An index is one file: a header and then the sections. All numbers are little-endian; a list has 4 bytes for each
// number.
//
// Taxpayers are numbered by rank: active ones first, then shorter folded names, then lower RUCs. The section of names
// has their folded names in that order, so the smaller of two offsets in it belongs to the better taxpayer, or to the
// same. A search needs only the smallest offsets of its text, and ranks only for its results.
//
// Three lists of offsets are sorted by the text that begins there: the beginnings of names, the beginnings of the other
// words, and the offsets inside words. The offsets of a text are then a range of a list, found by binary search. Each
// list has the minima of its blocks of 64 offsets, of 64 of these, and of 64 of those: they find the smallest offsets
// of a range of any length without walking it.
//
// Inside words there would be as many offsets as the names have bytes. So the list has only the offsets inside the
// first occurrence of each different word, and each word has the ranges of its occurrences in the other two lists.
const (
	sectionNames  = iota // the folded names, each ended by LF
	sectionNameAt        // where the name of each rank begins, and the end of the last one
	sectionRowAt         // where the row of each rank begins in sectionRows
	sectionRows          // the data of each taxpayer: see record.go
	sectionRUCs          // a hash table: 1 + the offset of a row in sectionRows, 0 for none

	sectionBeginnings // the beginnings of names that are not empty, and their minima

	sectionWords      = sectionBeginnings + sectionLevels // the beginnings of the other words, and their minima
	sectionInner      = sectionWords + sectionLevels      // the offsets inside words, and their minima
	sectionWordAt     = sectionInner + sectionLevels      // the first occurrence of each word with an offset inside, in order
	sectionWordRanges = sectionWordAt + 1                 // four numbers for each: from, to in sectionBeginnings; from, to in sectionWords
	sectionTexts      = sectionWordRanges + 1             // the values of estado, condición and ubigeo, each once, ended by LF
	sectionCount      = sectionTexts + 1
)

// sectionLevels is how many sections a sorted list has, with its minima.
const sectionLevels = 4

// sortedBytes is how many bytes of a text decide the order of the lists: some long names are repetitive. A longer text
// is searched in the few names that are as long.
const sortedBytes = 256

// formatMagic begins every index of any version.
const formatMagic = "fiscope padron\r\n"

// formatVersion changes with the layout, and with the folding of names or their order.
const formatVersion = 2

// indexHeader is the beginning of the file. Its checksum covers it and the section of texts, so that opening is fast;
// only Verify uses that of the content.
type indexHeader struct {
	Magic          [len(formatMagic)]byte
	Version        uint32
	Checksum       uint32 // CRC-32C, with 0 here
	Content        uint32 // CRC-32C of all that follows the header
	Size           uint64 // of the file
	Contribuyentes uint32
	Activos        uint32 // those with estado ACTIVO: the first ranks
	SHA256         [32]byte
	Fecha          [16]byte // YYYY-MM-DD, padded with NUL; empty for none
	Sections       [sectionCount]section
}

// section says where a section is in the file.
type section struct{ At, Size uint64 }

// headerSize is the offset of the first section.
var headerSize = binary.Size(indexHeader{})

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode returns the header as it is written, with its checksum.
func (h indexHeader) encode(texts []byte) ([]byte, error) {
	h.Checksum = 0
	plain, err := binary.Append(nil, binary.LittleEndian, h)
	if err != nil {
		return nil, err
	}
	h.Checksum = crc32.Update(crc32.Checksum(plain, castagnoli), castagnoli, texts)
	return binary.Append(nil, binary.LittleEndian, h)
}

// Why a file cannot be read as an index.
var (
	errForeign     = errors.New("not an index of the registry")
	errDamaged     = errors.New("damaged: import the registry again")
	errWrittenOver = errors.New("somebody wrote over the open file: import the registry again")
)

// readHeader returns the header of a file, or why it is not an intact index of this version.
func readHeader(file []byte) (indexHeader, error) {
	var h indexHeader
	if !bytes.HasPrefix(file, []byte(formatMagic)) {
		return h, errForeign
	}
	if len(file) < headerSize {
		return h, fmt.Errorf("cut after %d bytes: import the registry again", len(file))
	}
	if _, err := binary.Decode(file, binary.LittleEndian, &h); err != nil {
		return h, err
	}
	if h.Version != formatVersion {
		return h, fmt.Errorf("an index of version %d, and this program reads version %d: import the registry again", h.Version, formatVersion)
	}
	size := uint64(len(file))
	for _, s := range h.Sections {
		if s.At > h.Size || s.Size > h.Size-s.At {
			return h, errDamaged
		}
	}
	if h.Size != size {
		return h, fmt.Errorf("%d bytes, and its header says %d: it is cut or damaged, import the registry again", size, h.Size)
	}
	again, err := h.encode(h.section(file, sectionTexts))
	if err != nil {
		return h, err
	}
	if !bytes.Equal(again, file[:headerSize]) {
		return h, errDamaged
	}
	return h, nil
}

func (h *indexHeader) section(file []byte, number int) []byte {
	s := h.Sections[number]
	return file[s.At : s.At+s.Size : s.At+s.Size]
}

// Info says what an index was made from.
type Info struct {
	Contribuyentes int           // taxpayers
	SHA256         string        // of the registry's file; 64 hexadecimal digits
	Fecha          fiscope.Fecha // the day of the data; zero if unknown
}

// info and setInfo convert between the header and an Info.
func (h *indexHeader) info() (Info, error) {
	info := Info{Contribuyentes: int(h.Contribuyentes), SHA256: hex.EncodeToString(h.SHA256[:])}
	if fecha := strings.TrimRight(string(h.Fecha[:]), "\x00"); fecha != "" {
		var err error
		if info.Fecha, err = fiscope.ParseFecha(fecha); err != nil {
			return info, errDamaged
		}
	}
	return info, nil
}

func (h *indexHeader) setInfo(sha256 string, fecha fiscope.Fecha) error {
	if _, err := hex.Decode(h.SHA256[:], []byte(sha256)); err != nil {
		return fmt.Errorf("padron: SHA-256 of the registry: %w", err)
	}
	copy(h.Fecha[:], fecha.String())
	return nil
}
