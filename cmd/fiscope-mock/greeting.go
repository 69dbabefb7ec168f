package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/fiscope/fiscope/mockserver"
)

// greeting returns the commands to try at a terminal, printed below the base URL.
func (r *running) greeting() string {
	var b strings.Builder
	line := func(title, text string) { fmt.Fprintf(&b, "  %-13s %s\n", title, text) }
	if r.access.Closed {
		line("Página", "cerrada, como toda la administración: la abre -admin-token")
	} else {
		line("Página", r.url+"/_mock/")
	}
	key := r.mock.APIKey
	quota := "sin límite de consultas"
	if q, ok := r.mock.Quota(key); ok && q.Limit != mockserver.Unlimited {
		quota = fmt.Sprintf("%d consultas al día", q.Limit)
	}
	line("Clave de API", key+", "+quota)
	path := "/api/tipocambio"
	if _, known, err := r.mock.Control().Contribuyente(context.Background(), mockserver.RUCSolicitante); err == nil && known {
		path = "/api/contribuyentes/" + mockserver.RUCSolicitante
	}
	const next = " \\\n                  "
	command := "curl"
	if r.caFile != "" {
		command += " --cacert " + shellWord(r.caFile) + next
	} else {
		command += " "
	}
	line("Pruébelo", command+"-H "+shellWord("X-API-KEY: "+key)+next+shellWord(r.url+path))
	line("Para terminar", "Ctrl-C")
	return b.String()
}

// shellWord quotes s so that a POSIX shell reads it as one word.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)
