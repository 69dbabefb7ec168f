package padron

import (
	"encoding/binary"
	"hash/crc32"
	"strconv"
	"unsafe"

	"github.com/fiscope/fiscope"
)

// A row of the index is the data of a taxpayer: the RUC (5 bytes), the offset of its folded name in the
// names (4), that name's length, the numbers of its estado, condición and ubigeo among the texts (2 each), its
// street with its length, which is doubled, and 1 is added where the name itself follows, with its length:
// that is where it is not the folded name in capitals. Lengths are varints. At the end stands the CRC-32C (4) of all
// that and of the folded name: a row with a changed byte is refused.

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

// besideRest is how many bytes a row has beside those of appendRest.
const besideRest = rucSize + 4 + crc32.Size

// rowIn returns, in a buffer, the row of a taxpayer whose folded name stands at that offset, with the rest, which is of
// appendRest.
func rowIn(buffer []byte, ruc uint64, name uint32, folded, rest []byte) []byte {
	row := appendRUC(buffer[:0], ruc)
	row = binary.LittleEndian.AppendUint32(row, name)
	row = append(row, rest...)
	return binary.LittleEndian.AppendUint32(row, rowChecksum(row, folded))
}

// rowChecksum returns what the end of a row has to be.
func rowChecksum(row, folded []byte) uint32 {
	return crc32.Update(crc32.Checksum(row, castagnoli), castagnoli, folded)
}

// appendRest appends what does not depend on where the folded name is.
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

// isCapitals reports whether a name is its folded one in capitals.
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

// contribuyente reads the row at an offset of the rows, as it was written, except the RUC, which rucOf reads. The
// taxpayer is a copy, the folded name the file's.
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
	lugar := x.lugares[ubigeo]
	c.Departamento, c.Provincia, c.Distrito = lugar.departamento, lugar.provincia, lugar.distrito
	street := uvarint(&row)
	c.Direccion = direccion(row[:street>>1], lugar)
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

// capitals returns a text in capitals, those of ASCII.
func capitals(text []byte) string {
	name := make([]byte, len(text))
	for i, c := range text {
		name[i] = capital(c)
	}
	return unsafe.String(unsafe.SliceData(name), len(name)) //nolint:gosec // nobody else has it
}

// uvarint takes a varint off a row. One that is damaged is too long for what follows.
func uvarint(row *[]byte) uint64 {
	n, size := binary.Uvarint(*row)
	if size <= 0 {
		panic(errDamaged)
	}
	*row = (*row)[size:]
	return n
}
