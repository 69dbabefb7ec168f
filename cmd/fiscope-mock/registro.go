package main

import (
	"log/slog"

	"github.com/fiscope/fiscope/padron"
)

// registro is the index of -padron, or the latest one that replaced it.
type registro struct{ *padron.Follower }

// openRegistro opens an index, and logs its replacements until it is closed.
func openRegistro(name string, log *slog.Logger) (*registro, error) {
	index, err := padron.Follow(name, func(info padron.Info, err error) {
		if err != nil {
			log.Warn("lo que hay en -padron no es un índice que se pueda tomar", "error", registryInSpanish(err.Error()))
			return
		}
		log.Info("tomó otro índice de -padron", "contribuyentes", info.Contribuyentes, "fecha", day(info.Fecha))
	})
	if err != nil {
		return nil, err
	}
	return &registro{index}, nil
}

// close closes the index after its last use. A nil registro has none.
func (r *registro) close() error {
	if r == nil {
		return nil
	}
	return r.Close()
}
