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
	vigencia        int // days for which an answer serves
	deNuevo         bool
	inventada       bool // the input is in a folder of this run

	baseURL, apiKey string
	insecure        bool
}

const uso = `Uso: lote [opciones] [entrada.csv]

Consulta cada RUC de un CSV y escribe el CSV otra vez con lo que el padrón dice
de cada uno. Sin entrada usa una muestra, contra un mock en este proceso.

La entrada va en UTF-8, UTF-16 o Windows-1252, separada por punto y coma, coma,
tabulador o barra vertical, con encabezado o sin él. Cada respuesta se guarda al
llegar junto a la salida, en SALIDA.avance: el mismo comando sigue donde quedó.

  -salida ARCHIVO     si falta, ENTRADA.consultado.csv
  -columna COLUMNA    la del RUC, por nombre o posición desde 1; si falta, se
                      busca
  -reserva CONSULTAS  las del día que se dejan a otros programas
  -paralelo N         consultas a la vez; si falta, 8
  -vigencia DÍAS      cuánto vale una respuesta guardada; si falta, 30
  -de-nuevo           vuelve a consultar (y a pagar) lo ya consultado

  -mock               usa un mock en este proceso aunque haya FISCOPE_BASE_URL:
                      sus datos son inventados
  -cuota CONSULTAS    las diarias de ese mock; si falta, 2000
  -n N                inventa una entrada con N RUC (solo contra un mock)

El servicio se indica con las variables FISCOPE_BASE_URL y FISCOPE_API_KEY.
FISCOPE_INSECURE_HTTP=1 permite http en una red privada.

Termina con 0 si cada RUC tiene respuesta, con 3 si quedan para otra ejecución,
y con 1 si antes hay algo que corregir.
`

func leerOpciones(args []string, env func(string) string, out io.Writer) (*opciones, error) {
	o := &opciones{
		baseURL:  env("FISCOPE_BASE_URL"),
		apiKey:   env("FISCOPE_API_KEY"),
		insecure: env("FISCOPE_INSECURE_HTTP") == "1",
	}
	f := flag.NewFlagSet("lote", flag.ContinueOnError)
	f.SetOutput(io.Discard) // an error is said by main
	f.StringVar(&o.salida, "salida", "", "")
	f.StringVar(&o.columna, "columna", "", "")
	f.IntVar(&o.generar, "n", 0, "")
	f.IntVar(&o.cuota, "cuota", 2000, "")
	f.BoolVar(&o.mock, "mock", false, "")
	f.IntVar(&o.reserva, "reserva", 0, "")
	f.IntVar(&o.paralelo, "paralelo", 8, "")
	f.IntVar(&o.vigencia, "vigencia", 30, "")
	f.BoolVar(&o.deNuevo, "de-nuevo", false, "")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, uso)
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("opción que no existe o no sirve (%w): vea lote -h", err)
	case f.NArg() > 1:
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
	case o.vigencia < 1 || o.vigencia > 3650:
		return errors.New("-vigencia va de 1 a 3650 días")
	case o.mock:
		o.baseURL, o.apiKey = "", ""
	case conCuota:
		return errors.New("-cuota es del mock de este proceso: el servicio ya tiene la suya")
	case inventada && !esLocal(o.baseURL):
		// The invented RUCs may be those of real companies one day, and each costs a query.
		return errors.New("los RUC inventados son solo para un mock de esta máquina: indique su archivo")
	}
	if o.salida == "" && o.entrada != "" {
		o.salida = sinExtension(o.entrada) + ".consultado.csv"
	}
	if o.entrada != "" && filepath.Clean(o.salida) == filepath.Clean(o.entrada) {
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
