package padron

import (
	"encoding/binary"
	"strconv"
	"unsafe"

	"github.com/fiscope/fiscope"
)

// A row of the index is what is told of a taxpayer: the RUC (5 bytes), the place of its folded name in the
// names (4), that name's length, the numbers of its estado, condición and ubigeo among the texts (2 each), its
// street with its length, which is doubled, and 1 is added where the name itself follows, with its length:
// that is where it is not the folded name in capitals. Lengths are varints.

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

// appendRow appends the row of a taxpayer whose folded name has that place and length, with the rest, which is
// of appendRest.
func appendRow(dst []byte, ruc uint64, name uint32, length int, rest []byte) []byte {
	dst = appendRUC(dst, ruc)
	dst = binary.LittleEndian.AppendUint32(dst, name)
	dst = binary.AppendUvarint(dst, uint64(length)) //nolint:gosec // no length is negative
	return append(dst, rest...)
}

// appendRest appends what does not depend on where the folded name is.
func appendRest(dst []byte, texts [3]uint16, calle, nombre, folded []byte) []byte {
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

// contribuyente reads the row at a place of the rows. What it returns is a copy.
func (x *Index) contribuyente(at uint32) fiscope.Contribuyente {
	row := x.rows[at:]
	ruc := rucOf(row)
	name := binary.LittleEndian.Uint32(row[rucSize:])
	row = row[rucSize+4:]
	length := uvarint(&row)
	text := func() string {
		n := binary.LittleEndian.Uint16(row)
		row = row[2:]
		return x.texts[n]
	}
	c := fiscope.Contribuyente{
		RUC:       strconv.FormatUint(1e11+ruc, 10)[1:],
		Estado:    fiscope.Estado(text()),
		Condicion: fiscope.Condicion(text()),
		Ubigeo:    text(),
	}
	c.Departamento, c.Provincia, c.Distrito = lugares(c.Ubigeo)
	street := uvarint(&row)
	c.Direccion = direccion(string(row[:street>>1]), c.Departamento, c.Provincia, c.Distrito)
	if street&1 == 0 {
		c.RazonSocial = capitals(x.names[name:][:length])
		return c
	}
	row = row[street>>1:]
	length = uvarint(&row)
	c.RazonSocial = string(row[:length])
	return c
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
