// Package stored is the form in which a Store keeps an answer of the service: its times, and its body, deflated,
// byte for byte. A taxpayer's record takes a third of what it takes in JSON.
package stored

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"io"
	"sync"
	"time"
)

// Answer is an answer of the service. Its times are real.
type Answer struct {
	Status  int
	Asked   time.Time // when its request left
	Stored  time.Time // when it came
	Expires time.Time // zero for never
	Body    []byte
}

// version is the first byte of what Pack returns. Another one is nothing that Unpack reads.
const version = 2

// vocabulary is what answers consist of (docs/contrato.md, 2), the most frequent last: what stands here costs a
// few bits. Whoever changes it changes the version.
const vocabulary = `{"error":"","code":"NOT_FOUND"}[]{"compra":"venta":,"moneda":"USD","fecha":"2026-,"origen":"SBS"}` +
	`SUSPENSIÓN TEMPORALBAJA PROVISIONALBAJA DEFINITIVANO HABIDONO HALLADOPENDIENTE` +
	`AMAZONASANCASHAPURIMACAREQUIPAAYACUCHOCAJAMARCACALLAOCUSCOHUANCAVELICAHUANUCOICAJUNINLA LIBERTADLAMBAYEQUELORETO` +
	`MADRE DE DIOSMOQUEGUAPASCOPIURAPUNOSAN MARTINTACNATUMBESUCAYALI` +
	`SERVICIOS GENERALES COMERCIALIZADORA INVERSIONES CORPORACION INDUSTRIAL TRANSPORTES CONSTRUCTORA ` +
	`ASOCIACION COOPERATIVA PERSONA NATURAL CON NEGOCIOSOCIEDAD COMERCIAL DE RESPONSABILIDAD LIMITADA` +
	`VENTA AL POR MENOR DE ACTIVIDADES DE OTRAS E.I.R.L. S.R.L. S.A.C. S.A.` +
	`JR. CAL. PJ. CAR. PROL. MZA. LOTE. URB. INT. DPTO. PISO. - NRO. ` +
	`[{"ruc":"10","razonSocial":"","estado":"ACTIVO","condicion":"HABIDO"},` +
	`{"ruc":"20","razonSocial":"","estado":"ACTIVO","condicion":"HABIDO","direccion":"AV. ","ubigeo":"150101",` +
	`"departamento":"LIMA","provincia":"LIMA","distrito":"LIMA","tipo":"SOCIEDAD ANONIMA CERRADA",` +
	`"actividadEconomica":"","fechaInscripcion":"19","fechaInicioActividades":"20-01-01"}`

// Both are large: they are used again.
var (
	writers = sync.Pool{New: func() any {
		w, _ := flate.NewWriterDict(nil, flate.BestCompression, []byte(vocabulary)) // fails for other levels
		return w
	}}
	readers = sync.Pool{New: func() any { return flate.NewReader(nil) }}
)

// Pack returns an answer as Unpack reads it.
func Pack(a Answer) []byte {
	packed := []byte{version}
	packed = binary.AppendUvarint(packed, uint64(a.Status)) //nolint:gosec // it is a status of HTTP
	packed = binary.AppendVarint(packed, a.Stored.UnixNano())
	packed = binary.AppendVarint(packed, int64(a.Stored.Sub(a.Asked)))
	lifetime := time.Duration(0) // for never
	if !a.Expires.IsZero() {
		lifetime = cmp.Or(a.Expires.Sub(a.Stored), -1)
	}
	packed = binary.AppendVarint(packed, int64(lifetime))
	out := bytes.NewBuffer(packed)
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(out)
	_, _ = w.Write(a.Body) // a Buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// Unpack returns the answer that Pack was given, and false for what is none, or has a body of more than maxBody
// bytes.
func Unpack(packed []byte, maxBody int64) (a Answer, ok bool) {
	if len(packed) == 0 || packed[0] != version {
		return Answer{}, false
	}
	in := bytes.NewReader(packed[1:])
	status, err := binary.ReadUvarint(in)
	if err != nil || status > 999 {
		return Answer{}, false
	}
	var times [3]int64 // when it was stored, how long after it was asked for, and for how long
	for i := range times {
		if times[i], err = binary.ReadVarint(in); err != nil {
			return Answer{}, false
		}
	}
	a.Status = int(status)
	a.Stored = time.Unix(0, times[0]).UTC()
	a.Asked = a.Stored.Add(-time.Duration(times[1]))
	if times[2] != 0 {
		a.Expires = a.Stored.Add(time.Duration(times[2]))
	}
	r := readers.Get().(io.ReadCloser)
	defer readers.Put(r)
	if err := r.(flate.Resetter).Reset(in, []byte(vocabulary)); err != nil {
		return Answer{}, false
	}
	a.Body, err = io.ReadAll(io.LimitReader(r, maxBody+1))
	if err != nil || int64(len(a.Body)) > maxBody || in.Len() > 0 {
		return Answer{}, false
	}
	return a, true
}
