package fiscope

import (
	varint "encoding/binary"
	"time"
)

// texts returns where the texts of a record are.
func (c *Contribuyente) texts() [11]*string {
	return [...]*string{
		&c.RUC, &c.RazonSocial, (*string)(&c.Estado), (*string)(&c.Condicion), &c.Direccion, &c.Ubigeo,
		&c.Departamento, &c.Provincia, &c.Distrito, &c.Tipo, &c.ActividadEconomica,
	}
}

func (c *Contribuyente) fechas() [2]*Fecha {
	return [...]*Fecha{&c.FechaInscripcion, &c.FechaInicioActividades}
}

// pack returns a record in one text, which takes half of its memory: its numbers, which are those of its dates
// and the lengths of its texts, and then its texts.
func (c *Contribuyente) pack() string {
	var room [1024]byte
	packed := room[:0]
	for _, f := range c.fechas() {
		for _, n := range [...]int{f.year, int(f.month), f.day} {
			packed = varint.AppendVarint(packed, int64(n))
		}
	}
	for _, text := range c.texts() {
		packed = varint.AppendVarint(packed, int64(len(*text)))
	}
	for _, text := range c.texts() {
		packed = append(packed, *text...)
	}
	return string(packed)
}

// unpackContribuyente returns the record of a text that pack returned.
func unpackContribuyente(packed string) *Contribuyente {
	rest := []byte(packed)
	number := func() int {
		n, size := varint.Varint(rest)
		rest = rest[size:]
		return int(n)
	}
	c := new(Contribuyente)
	for _, f := range c.fechas() {
		*f = Fecha{year: number(), month: time.Month(number()), day: number()}
	}
	var lengths [11]int
	for i := range lengths {
		lengths[i] = number()
	}
	texts := packed[len(packed)-len(rest):]
	for i, text := range c.texts() {
		*text, texts = texts[:lengths[i]], texts[lengths[i]:]
	}
	return c
}
