package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"
)

// rootHelp is the short help, one screen.
const rootHelp = `{{.Usage}}

Uso: fiscope-mock [COMANDO] [OPCIONES]

Comandos:
{{range .VisibleCommands}}  {{.Name}}{{"\t"}}{{.Usage}}
{{end}}  help{{"\t"}}la ayuda de un comando, como fiscope-mock help exec

Las opciones de cada día; «fiscope-mock serve -h» las tiene todas:
  -addr HOST:PUERTO   dónde escucha (127.0.0.1:8080; en exec, un puerto libre)
  -api-key CLAVE[=N]  una clave de API que acepta, con N consultas al día
  -quota N            consultas al día de las demás (1000; -1: sin límite)
  -data ARCHIVO       sus datos, en JSON, o una carpeta; los relee si cambian
  -now HORA -frozen   su reloj empieza a esa HORA; está congelado
  -cors ORIGEN        deja que lo llame el navegador de una página de ORIGEN
  -tls                https, con un certificado que hace al empezar
  -upstream URL       responde lo que responde el servicio real, y lo graba
  -record ARCHIVO     en ese archivo, para -replay
  -replay ARCHIVO     responde lo grabado, sin el servicio real
  -log FORMATO        las llamadas en stderr: text, json u off
Cada opción tiene su variable de entorno: -addr es FISCOPE_MOCK_ADDR.

Ejemplos:
  fiscope-mock
  fiscope-mock exec -- npm test
  fiscope-mock -data fixtures/ -now 2026-11-20T16:59:00-05:00 -frozen
`

// complete completes a command's words, including flags with one dash; without a command, serve's.
func complete(args []string) cli.ShellCompleteFunc {
	return func(ctx context.Context, cmd *cli.Command) {
		begun := args[max(0, len(args)-2)] // followed by the library's own flag
		name := strings.TrimLeft(begun, "-")
		if len(args) < 2 || name == begun {
			cli.DefaultCompleteWithFlags(ctx, cmd)
			return
		}
		flags := cmd.Flags
		if cmd == cmd.Root() {
			flags = cmd.Command("serve").Flags
		}
		for _, f := range flags {
			if strings.HasPrefix(f.Names()[0], name) {
				what, _, _ := strings.Cut(f.(cli.DocGenerationFlag).GetUsage(), "\n")
				_, _ = fmt.Fprintf(cmd.Root().Writer, "%s%s:%s\n", begun[:len(begun)-len(name)], f.Names()[0], what)
			}
		}
	}
}
