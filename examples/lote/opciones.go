package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// opciones is what the flags and the environment say.
type opciones struct {
	entrada, salida string
	columna         string // name or position, from 1 on; "" to find it
	generar         int    // RUCs to invent
	cuota           int    // of the mock
	mock            bool
	reserva         int
	paralelo        int
	deNuevo         bool

	baseURL, apiKey string
	insecure        bool
}

func leerOpciones(args []string, env func(string) string, out io.Writer) (*opciones, error) {
	o := &opciones{
		baseURL:  env("FISCOPE_BASE_URL"),
		apiKey:   env("FISCOPE_API_KEY"),
		insecure: env("FISCOPE_INSECURE_HTTP") == "1",
	}
	f := flag.NewFlagSet("lote", flag.ContinueOnError)
	f.SetOutput(out)
	f.Usage = func() {
		fmt.Fprint(out, "Uso: lote [opciones] [entrada.csv]\n\nSin entrada usa una muestra, contra un mock en este proceso.\n\n")
		f.PrintDefaults()
	}
	f.StringVar(&o.salida, "salida", "", "`archivo` de salida; si falta, entrada.consultado.csv")
	f.StringVar(&o.columna, "columna", "", "`columna` del RUC, por nombre o posición desde 1;\nsi falta, se busca")
	f.IntVar(&o.generar, "n", 0, "inventa una entrada con `n` RUC (solo contra un mock)")
	f.IntVar(&o.cuota, "cuota", 2000, "`consultas` diarias del mock de este proceso")
	f.BoolVar(&o.mock, "mock", false, "usa un mock en este proceso aunque haya\nFISCOPE_BASE_URL: sus datos son inventados")
	f.IntVar(&o.reserva, "reserva", 0, "`consultas` del día que se dejan a otros programas")
	f.IntVar(&o.paralelo, "paralelo", 8, "`consultas` a la vez")
	f.BoolVar(&o.deNuevo, "de-nuevo", false, "vuelve a consultar (y a pagar) lo ya consultado")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 1 {
		return nil, fmt.Errorf("una entrada por vez; sobra %q (las opciones van antes de la entrada)", f.Arg(1))
	}
	o.entrada = f.Arg(0)
	conCuota := false
	f.Visit(func(f *flag.Flag) { conCuota = conCuota || f.Name == "cuota" })
	return o, o.completar(conCuota)
}

// completar fills what was not given and refuses what could spend or spoil something by mistake.
func (o *opciones) completar(conCuota bool) error {
	inventada := o.entrada == "" || o.generar > 0
	o.mock = o.mock || o.baseURL == "" && inventada
	switch {
	case o.generar < 0 || o.generar > 1_000_000:
		return errors.New("-n va de 1 a 1000000")
	case o.paralelo < 1 || o.reserva < 0:
		return errors.New("-paralelo va desde 1 y -reserva desde 0")
	case o.mock:
		o.baseURL, o.apiKey = "", ""
	case o.baseURL == "" || o.apiKey == "":
		return errors.New("faltan FISCOPE_BASE_URL y FISCOPE_API_KEY; para probar sin servicio, -mock")
	case conCuota:
		return errors.New("-cuota es del mock de este proceso: el servicio ya tiene la suya")
	case inventada && !esLocal(o.baseURL):
		// The invented RUCs may be those of real companies one day, and each costs a query.
		return errors.New("los RUC inventados son solo para un mock de esta máquina: indique su archivo")
	}
	if o.entrada == "" {
		nombre := "muestra.csv"
		if o.generar > 0 {
			nombre = fmt.Sprintf("rucs-%d.csv", o.generar)
		}
		o.entrada = filepath.Join(os.TempDir(), "fiscope-lote", nombre)
	}
	if o.salida == "" {
		o.salida = sinExtension(o.entrada) + ".consultado.csv"
	}
	if filepath.Clean(o.salida) == filepath.Clean(o.entrada) {
		return errors.New("la salida no puede ser la entrada")
	}
	return nil
}

// carpetaAvance is where the answers are kept: one for each output.
func (o *opciones) carpetaAvance() string { return sinExtension(o.salida) + ".avance" }

// salidaLibre refuses to write over a file that an earlier run did not make.
func (o *opciones) salidaLibre(a *avance) error {
	if _, err := os.Stat(o.salida); err == nil && a.nuevo {
		return fmt.Errorf("%s ya existe y no es de este programa: bórrelo o indique otra -salida", o.salida)
	}
	return nil
}

func sinExtension(ruta string) string { return strings.TrimSuffix(ruta, filepath.Ext(ruta)) }
