package mockserver

import (
	"embed"
	"encoding/json"
	"fmt"
	"sync"
)

// The SOL users of the default data. They are samples, made to be written in tests and examples, and
// open nothing: a secondary user, which is accepted with its clave, and a principal one, which never is.
const (
	RUCSolicitante = "20131312955"
	UsuarioSOL     = "MIUSER01"
	ClaveSOL       = "clave-mock-1"

	UsuarioPrincipal = "PRINCIP1"
	ClavePrincipal   = "clave-mock-2"
)

//go:embed data/*.json
var dataFiles embed.FS

// defaults is the embedded data set, read once in a process. Every server reads it and none writes it:
// what is put on a server lies over it.
type defaults struct {
	registro     *RegistroEnMemoria
	comprobantes map[comprobanteID]Comprobante
	usuarios     []SOL
}

var embedded = sync.OnceValues(func() (d defaults, err error) {
	var contribuyentes []Contribuyente
	var comprobantes []Comprobante
	for name, into := range map[string]any{
		"contribuyentes": &contribuyentes, "comprobantes": &comprobantes, "usuarios": &d.usuarios,
	} {
		raw, err := dataFiles.ReadFile("data/" + name + ".json")
		if err != nil {
			return d, err
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return d, fmt.Errorf("data/%s.json: %w", name, err)
		}
	}
	d.registro = &RegistroEnMemoria{}
	if err := d.registro.Put(contribuyentes...); err != nil {
		return d, fmt.Errorf("data/contribuyentes.json: %w", err)
	}
	d.comprobantes = make(map[comprobanteID]Comprobante, len(comprobantes))
	for _, c := range comprobantes {
		if err := c.check(); err != nil {
			return d, fmt.Errorf("data/comprobantes.json: %w", err)
		}
		d.comprobantes[c.id()] = c
	}
	return d, nil
})

// loadDefaults lays the embedded data under s.
func (s *Server) loadDefaults() error {
	d, err := embedded()
	if err != nil {
		return err
	}
	if s.contribuyentes.base == nil { // WithRegistro takes the place of the default taxpayers
		s.contribuyentes.base = d.registro
	}
	s.comprobantes.base = d.comprobantes
	s.rates.series = true
	return s.sol.put(d.usuarios...)
}
