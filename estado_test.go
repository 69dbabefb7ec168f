package fiscope_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope"
)

func TestEstado(t *testing.T) {
	type is struct{ activo, baja, suspendido bool }
	for value, want := range map[fiscope.Estado]is{
		fiscope.EstadoActivo:             {activo: true},
		fiscope.EstadoBaja:               {baja: true},
		fiscope.EstadoBajaProvisional:    {baja: true},
		fiscope.EstadoBajaDefinitiva:     {baja: true},
		fiscope.EstadoSuspension:         {suspendido: true},
		fiscope.EstadoSuspensionTemporal: {suspendido: true},
		" activo ":                       {activo: true},
		"SUSPENSION TEMPORAL":            {suspendido: true},
		"suspensio\u0301n  temporal":     {suspendido: true},
		"BAJA PROV. POR OFICI":           {baja: true},
		"BAJA MULT.INSCR. Y O":           {baja: true},
		"BAJA DE OFICIO":                 {baja: true},
		"ANULACION - ERROR SU":           {},
		"INACTIVO":                       {},
		"ACTIVOS":                        {},
		"BAJADA":                         {},
		"":                               {},
	} {
		t.Run(string(value), func(t *testing.T) {
			assert.Equal(t, want, is{value.Activo(), value.Baja(), value.Suspendido()})
		})
	}
}

func TestCondicion(t *testing.T) {
	type is struct{ habido, noHabido, noHallado bool }
	for value, want := range map[fiscope.Condicion]is{
		fiscope.CondicionHabido:    {habido: true},
		fiscope.CondicionNoHabido:  {noHabido: true},
		fiscope.CondicionNoHallado: {noHallado: true},
		fiscope.CondicionPendiente: {},
		"habido":                   {habido: true},
		"NO  HABIDO":               {noHabido: true},
		"NO HALLADO SE MUDO D":     {noHallado: true},
		"NO HALLADO NRO.PUERT":     {noHallado: true},
		"NO APLICABLE":             {},
		"-":                        {},
	} {
		t.Run(string(value), func(t *testing.T) {
			assert.Equal(t, want, is{value.Habido(), value.NoHabido(), value.NoHallado()})
		})
	}
}
