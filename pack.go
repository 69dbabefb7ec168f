package fiscope

import (
	varint "encoding/binary"
	"time"
)

// packing is a value in little memory: its numbers and texts, one after the other.
type packing []byte

func (p packing) number(n int64) packing { return varint.AppendVarint(p, n) }

func (p packing) text(s string) packing {
	if i, ok := usual[s]; ok {
		return p.number(-i)
	}
	return append(p.number(int64(len(s))), s...)
}

// usually are texts that stand in many records (states, regions, kinds of taxpayer as the registry writes them), and
// their numbers are usual, from 1 on.
var (
	usually = [...]string{
		"ACTIVO", "HABIDO", "LIMA", "CALLAO", "AREQUIPA", "CUSCO", "LA LIBERTAD", "TRUJILLO", "PIURA", "LAMBAYEQUE", "CHICLAYO",
		"JUNIN", "HUANCAYO", "ANCASH", "CAJAMARCA", "PUNO", "ICA", "LORETO", "SAN MARTIN", "HUANUCO", "AYACUCHO", "UCAYALI",
		"TACNA", "APURIMAC", "AMAZONAS", "MOQUEGUA", "PASCO", "TUMBES", "MADRE DE DIOS", "HUANCAVELICA",
		"BAJA DE OFICIO", "BAJA DEFINITIVA", "SUSPENSIÓN TEMPORAL", "NO HABIDO", "NO HALLADO", "Aceptado",
		"PERSONA NATURAL SIN NEGOCIO", "PERSONA NATURAL CON NEGOCIO", "SOCIEDAD ANONIMA CERRADA", "SOCIEDAD ANONIMA",
		"SOCIEDAD ANONIMA ABIERTA", "SOC.COM.RESPONS. LTDA", "EMPRESA INDIVIDUAL DE RESP. LTDA", "ASOCIACION",
		"INSTITUCIONES PUBLICAS", "GOBIERNO REGIONAL, LOCAL", "COOPERATIVAS, SAIS, CAPS",
	}
	usual = numbers(usually[:])
)

func numbers(texts []string) map[string]int64 {
	of := map[string]int64{}
	for i, text := range texts {
		of[text] = int64(i) + 1
	}
	return of
}

func (p packing) flags(are ...bool) packing {
	var bits int64
	for i, is := range are {
		if is {
			bits |= 1 << i
		}
	}
	return p.number(bits)
}

// Years are counted from 2000, so that one of this life takes a byte.
const packedYear = 2000

func (p packing) fecha(f Fecha) packing {
	return p.number(int64(f.year) - packedYear).number(int64(f.month)).number(int64(f.day))
}

// unpacking is what is left to read of a packing, in the order in which it was written.
type unpacking struct{ rest string }

func (u *unpacking) number() int64 {
	n, size := varint.Varint([]byte(u.rest[:min(len(u.rest), varint.MaxVarintLen64)]))
	u.rest = u.rest[size:]
	return n
}

func (u *unpacking) text() string {
	n := u.number()
	if n < 0 {
		return usually[-n-1]
	}
	text := u.rest[:n]
	u.rest = u.rest[n:]
	return text
}

func (u *unpacking) flags(are ...*bool) {
	bits := u.number()
	for i, is := range are {
		*is = bits&(1<<i) != 0
	}
}

func (u *unpacking) fecha() Fecha {
	return NewFecha(int(u.number()+packedYear), time.Month(u.number()), int(u.number()))
}
