package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope/mockserver"
)

// settings are the values of the flags and variables of serve and exec.
type settings struct {
	addr string

	keys    []apiKey
	quota   *int   // the value of -quota; assume has the effective one
	padron  string // the index file; "" for the default taxpayers
	data    []string
	now     time.Time
	frozen  bool
	assume  mockserver.Assumptions
	assumed bool // -assume sets Quota
	journal int

	upstream string // the real service's URL
	record   string
	again    bool
	replay   string

	selfSigned bool
	caFile     string
	hosts      []string

	origins    []string // from -cors
	adminToken string
	log        string
	drain      time.Duration // how long to wait for requests in flight at the end

	rest []string // the arguments after the flags
}

func defaultSettings() settings {
	return settings{addr: "127.0.0.1:8080", assume: mockserver.DefaultAssumptions(), journal: 1000, drain: 5 * time.Second}
}

// serveSettings are the flags of serve and exec.
var serveSettings = []setting{
	{group: "Servidor\n", name: "addr", value: "HOST:PUERTO", set: textOf(func(s *settings) *string { return &s.addr }),
		what: "dónde escucha; el puerto 0 es uno libre. Por defecto,\n127.0.0.1:8080 (exec: puerto 0)"},
	{name: "admin-token", value: "TOKEN", set: (*settings).setAdminToken, secret: true,
		what: "lo que pide /_mock/, como \"Authorization: Bearer TOKEN\" o en la página.\nSin él, /_mock/ solo se abre si -addr es de esta máquina"},
	{name: "cors", value: "ORIGEN", set: (*settings).addOrigin, list: " ",
		what: "el navegador de una página de ORIGEN, como http://localhost:5173, puede\nllamar a /api/; se puede repetir"},
	{name: "log", value: "FORMATO", set: (*settings).setLog,
		what: "llamadas y avisos en stderr: text, json u off. En una terminal es text;\nsi no, y en exec, solo avisos"},
	{name: "journal", value: "N", set: (*settings).setJournal,
		what: "cuántas llamadas de cada clave de API recuerda; 1000 por defecto"},

	{group: "\nClaves de API y cuota\n", name: "api-key", value: "CLAVE[=N]", set: (*settings).addKey, list: " ", secret: true,
		what: "una clave de API que acepta, con N consultas al día; se puede repetir.\nPor defecto, clave-de-prueba. En la variable, varias con espacios"},
	{name: "quota", value: "N", set: (*settings).setQuota,
		what: "consultas al día de las claves de API sin N; 0 rechaza todo, -1 no tiene\nlímite. Tiene prioridad sobre -data; 1000 por defecto"},

	{group: "\nDatos y reloj\n", name: "padron", value: "ÍNDICE", set: (*settings).setPadron, // before -assume, which wins
		what: "los contribuyentes de este índice en lugar de los de ejemplo: lo genera\npadron import. Cuando lo reemplazan, lo toma en 2 segundos"},
	{name: "data", value: "ARCHIVO", set: appended(func(s *settings) *[]string { return &s.data }), list: string(os.PathListSeparator),
		what: "datos en JSON encima de los de ejemplo: un archivo, o los .json de una\ncarpeta; se puede repetir. Se releen cuando cambian, como si empezara de\nnuevo con ellos. En la variable, varios con " + string(os.PathListSeparator)},
	{name: "upstream", value: "URL", set: (*settings).setUpstream,
		what: "pregunta todo al servicio real de esa URL, con la clave de API de quien\nllama. Graba las respuestas a contribuyentes, búsquedas y tipos de cambio,\ny responde con lo grabado si fue 200, 400 o 404. Los comprobantes también\nvan al servicio, con su clave SOL, y no se graban. De -data solo toma las\nclaves de API y los usuarios SOL"},
	{name: "record", value: "ARCHIVO", set: textOf(func(s *settings) *string { return &s.record }),
		what: "guarda ahí lo que graba -upstream, en menos de un segundo, y empieza con\nlo que ARCHIVO ya tiene. No guarda claves de API, claves SOL ni cookies"},
	{name: "record-again", set: boolean(func(s *settings) *bool { return &s.again }),
		what: "vuelve a preguntar lo grabado, y guarda el 200 más reciente en lugar del\nprimero"},
	{name: "replay", value: "ARCHIVO", set: textOf(func(s *settings) *string { return &s.replay }),
		what: "responde con lo que -record guardó en ARCHIVO, y 501 a lo que no está ahí.\nLos comprobantes se validan con los datos. El reloj empieza a la hora de\nla última respuesta"},
	{name: "now", value: "HORA", set: (*settings).setNow,
		what: "su reloj empieza a esa hora, como 2026-11-20T16:59:00-05:00"},
	{name: "frozen", set: boolean(func(s *settings) *bool { return &s.frozen }),
		what: "su reloj está congelado"},
	// After -quota, which sets the same as -assume Quota.
	{name: "assume", value: "NOMBRE=VALOR", set: (*settings).setAssumption, list: " ",
		what: "otra lectura de lo que el contrato no dice, como BlockAfter=5 o\nQuotaExceeded=403:FORBIDDEN; se puede repetir. @ARCHIVO toma las de un\nJSON: GET /_mock/assumptions tiene las que hay"},

	{group: "\nhttps\n", name: "tls", set: boolean(func(s *settings) *bool { return &s.selfSigned }),
		what: "https, con un certificado que hace al empezar"},
	{name: "tls-ca-file", value: "ARCHIVO", set: textOf(func(s *settings) *string { return &s.caFile }),
		what: "escribe ahí la CA en que hay que confiar; si no, en uno temporal"},
	{name: "tls-host", value: "NOMBRE", set: appended(func(s *settings) *[]string { return &s.hosts }), list: " ",
		what: "el certificado es también de este nombre o IP; se puede repetir"},
}

// readSettings sets each value from its flag, else from its variable, else keeps it.
func readSettings(s settings, cmd *cli.Command) (settings, error) {
	s.rest = cmd.Args().Slice()
	if err := read(cmd, serveSettings, &s); err != nil {
		return s, err
	}
	return s, s.check()
}

// check returns an error for flags that contradict each other.
func (s settings) check() error {
	switch {
	case s.quota != nil && *s.quota != s.assume.Quota:
		return fmt.Errorf("-quota %d y -assume Quota=%d se contradicen: dé uno de los dos", *s.quota, s.assume.Quota)
	case s.record != "" && s.upstream == "":
		return errors.New("-record no sirve sin -upstream")
	case s.again && s.upstream == "":
		return errors.New("-record-again no sirve sin -upstream")
	case s.replay != "" && s.upstream != "":
		return errors.New("-replay y -upstream se excluyen: dé uno de los dos")
	case s.padron != "" && s.replay+s.upstream != "":
		return errors.New("-padron no sirve con -upstream ni con -replay, que no usan datos")
	case !s.selfSigned && (s.caFile != "" || len(s.hosts) > 0):
		return errors.New("-tls-ca-file y -tls-host no sirven sin -tls")
	}
	return nil
}
