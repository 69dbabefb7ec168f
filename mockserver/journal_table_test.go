package mockserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJournalTableIsInLima(t *testing.T) {
	for _, zone := range []string{"UTC", "Asia/Tokyo", "America/Lima"} {
		t.Run(zone, func(t *testing.T) {
			where, err := time.LoadLocation(zone)
			require.NoError(t, err)
			srv, api := start(t, mockserver.WithClock(func() time.Time { return time.Date(2026, 11, 21, 3, 30, 0, 0, time.UTC).In(where) }))
			api.get(lookup)
			assert.Contains(t, srv.JournalTable(), "  22:30:00.000  ")
		})
	}
}

func TestJournalTableFitsATerminal(t *testing.T) {
	long := strings.Repeat("ñ/", 300)
	srv, api := start(t, mockserver.WithKey(strings.Repeat("clave", 50), 1000))
	_, err := srv.Control().AddFault(mockserver.Fault{Name: strings.Repeat("falla ", 40), Match: mockserver.Match{Op: mockserver.OpBuscar}, Steps: []mockserver.Effect{mockserver.Status(503)}})
	require.NoError(t, err)
	api.get(lookup)
	api.get("/" + long)
	api.get("/api/contribuyentes/search?razonSocial=" + strings.Repeat("muy+largo", 100))
	api.validar(cpe(t, "claveSol", `"mala"`))
	api.withKey(strings.Repeat("clave", 50)).send(http.MethodDelete, lookup, "")
	var f fakeTB
	srv.AssertCalls(&f, mockserver.Filter{Path: long + "x"}, 1)
	for _, table := range []string{srv.JournalTable(), f.String()[strings.Index(f.String(), "\n")+1:]} {
		assert.Contains(t, table, "GET /api/contribuyentes/20131312955\n", "what is usual is shown whole")
		assert.Contains(t, table, "…\n")
		for line := range strings.Lines(table) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 100, line)
			assert.Equal(t, strings.TrimRight(line, " \n")+"\n", line, "no blanks at the end")
		}
	}
}
