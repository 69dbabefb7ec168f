package padron

import "unicode/utf8"

// composeCalle writes the row's address as SUNAT does, without the district and the names after it: street, number,
// block, lot, flat, interior, kilometre, and then the zone. Empty parts are left out.
func (r *rowReader) composeCalle() {
	r.row.calle = r.row.calle[:0]
	if nombre := r.field(columnNombreVia); len(nombre) > 0 {
		tipo := r.field(columnTipoVia)
		r.addToCalle("", tipo)
		if utf8.RuneCount(tipo) == viaWidth {
			r.row.calle = append(r.row.calle, nombre...)
		} else {
			r.addToCalle("", nombre)
		}
	}
	r.addToCalle("NRO. ", r.field(columnNumero))
	r.addToCalle("MZA. ", r.field(columnManzana))
	r.addToCalle("LOTE. ", r.field(columnLote))
	r.addToCalle("DPTO. ", r.field(columnDepartamento))
	r.addToCalle("INT. ", r.field(columnInterior))
	r.addToCalle("KM. ", r.field(columnKilometro))
	if nombre := r.field(columnNombreZona); len(nombre) > 0 {
		r.addToCalle("", r.field(columnTipoZona))
		r.addToCalle("", nombre)
	}
}

// addToCalle adds a part of the address after its label, unless the part is empty.
func (r *rowReader) addToCalle(label string, part []byte) {
	if len(part) == 0 {
		return
	}
	if len(r.row.calle) > 0 {
		r.row.calle = append(r.row.calle, ' ')
	}
	r.row.calle = append(append(r.row.calle, label...), part...)
}

// viaWidth is the width of SUNAT's column for the type of a street. No blank follows a type that fills it, as in
// "CAL.SANTANDER"; one follows a shorter type, as in "AV. AREQUIPA".
const viaWidth = 4

// direccion returns the whole address: calle and, if they are known, the department, province and district. Without a
// calle there is no address.
func direccion(calle []byte, in lugar) string {
	if len(calle) == 0 || in.departamento == "" {
		return string(calle)
	}
	return string(calle) + " " + in.departamento + " - " + in.provincia + " - " + in.distrito
}
