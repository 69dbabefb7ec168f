package mockserver

import (
	"embed"
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

var embedded = sync.OnceValues(func() (defaults, error) {
	data, err := readFolder(dataFiles, "data")
	if err != nil {
		return defaults{}, fmt.Errorf("default data: %w", err)
	}
	d := defaults{
		registro:     &RegistroEnMemoria{},
		comprobantes: make(map[comprobanteID]Comprobante, len(data.Comprobantes)),
		usuarios:     data.Usuarios,
	}
	for _, c := range data.Comprobantes {
		d.comprobantes[c.id()] = c
	}
	return d, d.registro.Put(data.Contribuyentes...)
})
