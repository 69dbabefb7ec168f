package padron

import (
	"encoding/binary"
	"hash/crc32"
	"strconv"
	"unsafe"

	"github.com/fiscope/fiscope"
)

// A row of the index is the data of a taxpayer: the RUC (5 bytes), the offset of its folded name in the names (4) and
// its length, the numbers of estado, condición and ubigeo among the texts (2 each), and the street after its length,
// doubled. If 1 is added to that, the name follows after its length: it is not the folded name in capitals. Lengths are
// varints. The CRC-32C (4) of all that and of the folded name ends the row: a row with a changed byte is refused.

// rucSize is how many bytes a RUC takes: its 11 digits are below 2^40.
const rucSize = 5

func appendRUC(dst []byte, ruc uint64) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], ruc)
	return append(dst, b[8-rucSize:]...)
}

func rucOf(row []byte) uint64 {
	return uint64(row[0])<<32 | uint64(binary.BigEndian.Uint32(row[1:rucSize]))
}

// formatRUC returns the 11 digits of a RUC.
func formatRUC(ruc uint64) string { return strconv.FormatUint(1e11+ruc, 10)[1:] }

// rowOverhead is how many bytes a row has besides those of appendRest.
const rowOverhead = rucSize + 4 + crc32.Size

// rowIn writes the row of a taxpayer into buffer and returns it. name is the offset of the folded name; rest is from
// appendRest.
func rowIn(buffer []byte, ruc uint64, name uint32, folded, rest []byte) []byte {
	row := appendRUC(buffer[:0], ruc)
	row = binary.LittleEndian.AppendUint32(row, name)
	row = append(row, rest...)
	return binary.LittleEndian.AppendUint32(row, rowChecksum(row, folded))
}

// rowChecksum returns the checksum at the end of a row.
func rowChecksum(row, folded []byte) uint32 {
	return crc32.Update(crc32.Checksum(row, castagnoli), castagnoli, folded)
}

// appendRest appends the part of a row that does not depend on the offset of the folded name.
func appendRest(dst []byte, texts [3]uint16, calle, nombre, folded []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(folded)))
	for _, t := range texts {
		dst = binary.LittleEndian.AppendUint16(dst, t)
	}
	street := uint64(len(calle)) << 1
	if isCapitals(nombre, folded) {
		return append(binary.AppendUvarint(dst, street), calle...)
	}
	dst = append(binary.AppendUvarint(dst, street|1), calle...)
	return append(binary.AppendUvarint(dst, uint64(len(nombre))), nombre...)
}

// isCapitals reports whether a name is its folded name in capitals.
func isCapitals(nombre, folded []byte) bool {
	if len(nombre) != len(folded) {
		return false
	}
	for i, c := range folded {
		if nombre[i] != capital(c) {
			return false
		}
	}
	return true
}

func capital(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

// contribuyente reads the row at an offset of the rows, except the RUC, which rucOf reads. The taxpayer is a copy; the
// folded name is part of the file.
func (x *Index) contribuyente(at uint32) (c fiscope.Contribuyente, folded []byte) {
	whole := x.rows[at:]
	name := binary.LittleEndian.Uint32(whole[rucSize:])
	row := whole[rucSize+4:]
	length := uvarint(&row)
	folded = x.names[name:][:length]
	estado, condicion, ubigeo := binary.LittleEndian.Uint16(row), binary.LittleEndian.Uint16(row[2:]), binary.LittleEndian.Uint16(row[4:])
	row = row[6:]
	c = fiscope.Contribuyente{
		Estado:    fiscope.Estado(x.texts[estado]),
		Condicion: fiscope.Condicion(x.texts[condicion]),
		Ubigeo:    x.texts[ubigeo],
	}
	place := x.lugares[ubigeo]
	c.Departamento, c.Provincia, c.Distrito = place.departamento, place.provincia, place.distrito
	street := uvarint(&row)
	c.Direccion = direccion(row[:street>>1], place)
	row = row[street>>1:]
	if street&1 == 0 {
		c.RazonSocial = capitals(folded)
	} else {
		length = uvarint(&row)
		c.RazonSocial = string(row[:length])
		row = row[length:]
	}
	if rowChecksum(whole[:len(whole)-len(row)], folded) != binary.LittleEndian.Uint32(row) {
		panic(errDamaged)
	}
	return c, folded
}

// capitals returns a text with its ASCII letters in capitals.
func capitals(text []byte) string {
	name := make([]byte, len(text))
	for i, c := range text {
		name[i] = capital(c)
	}
	return unsafe.String(unsafe.SliceData(name), len(name)) //nolint:gosec // no one else holds name
}

// uvarint removes a varint from a row. It panics if the varint is damaged.
func uvarint(row *[]byte) uint64 {
	n, size := binary.Uvarint(*row)
	if size <= 0 {
		panic(errDamaged)
	}
	*row = (*row)[size:]
	return n
}
