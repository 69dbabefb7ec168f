package fiscope

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

// pack adds a record to p. Packed, it takes half of its memory.
func (c *Contribuyente) pack(p packing) packing {
	for _, f := range c.fechas() {
		p = p.fecha(*f)
	}
	for _, text := range c.texts() {
		p = p.text(*text)
	}
	return p
}

// unpack fills a record with what pack added.
func (c *Contribuyente) unpack(u *unpacking) {
	for _, f := range c.fechas() {
		*f = u.fecha()
	}
	for _, text := range c.texts() {
		*text = u.text()
	}
}
