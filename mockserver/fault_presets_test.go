package mockserver_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the table of docs/faults.md")

const faultTable = "../docs/faults.md"

// failing is a row of the table: a fault, and the operation that it is shown with.
type failing struct {
	name  string
	what  string
	op    mockserver.Operation
	steps []mockserver.Step
}

func failings() []failing {
	var rows []failing
	for _, p := range mockserver.Presets() {
		op := p.Op
		if op == "" {
			op = mockserver.OpConsultar
		}
		rows = append(rows, failing{string(p.Name), p.What, op, []mockserver.Step{p.Name}})
		switch p.Name {
		case mockserver.HTML200, mockserver.NumbersAsStrings, mockserver.Ambiguous401, mockserver.Hang, mockserver.ResetBefore, mockserver.CloseInside:
			rows = append(rows, failing{string(p.Name), p.What, mockserver.OpValidar, []mockserver.Step{p.Name}})
		}
	}
	status := func(code int) failing {
		return failing{fmt.Sprintf("Status(%d)", code), "that status with the contract's error body", mockserver.OpConsultar, []mockserver.Step{mockserver.Status(code)}}
	}
	again := func(after string) mockserver.Step {
		return mockserver.Status(429).And(mockserver.RetryAfter(after))
	}
	get := mockserver.OpConsultar
	return append(rows,
		status(400), status(401), status(403), status(404), status(408), status(418), status(429), status(500), status(502), status(503),
		failing{"Status(500), OK", "first a 500, then the answer", get, []mockserver.Step{mockserver.Status(500), mockserver.OK}},
		failing{"ResetBefore, OK", "first a reset, then the answer", get, []mockserver.Step{mockserver.ResetBefore, mockserver.OK}},
		failing{`Status(429), RetryAfter("1"), OK`, "first a 429 with a second to wait, then the answer", get, []mockserver.Step{again("1"), mockserver.OK}},
		failing{`Status(429), RetryAfter("3600")`, "a 429 with an hour to wait", get, []mockserver.Step{again("3600")}},
		failing{`Status(429), RetryAfter("pronto")`, "a 429 with an invalid Retry-After", get, []mockserver.Step{again("pronto")}},
		failing{"ResetBefore.Uncharged()", "a reset before the call was charged", get, []mockserver.Step{mockserver.ResetBefore.Uncharged()}},
		failing{"Latency(5s)", "a late answer", get, []mockserver.Step{mockserver.Latency(5 * time.Second)}},
		failing{"Hold()", "an answer that waits until it is released", get, []mockserver.Step{mockserver.Hold()}},
	)
}

// seen is what came of a row.
type seen struct {
	returns string
	count   int
	charged int
}

func sentinel(err error, resp fiscope.Response) string {
	if err == nil {
		if len(resp.Warnings) > 0 {
			return "no error, a warning"
		}
		return "no error"
	}
	for _, s := range []struct {
		name string
		err  error
	}{
		{"ErrSOLCredentialsBlocked", fiscope.ErrSOLCredentialsBlocked}, {"ErrInvalidSOLCredentials", fiscope.ErrInvalidSOLCredentials},
		{"ErrNotFound", fiscope.ErrNotFound}, {"ErrUnauthorized", fiscope.ErrUnauthorized}, {"ErrQuotaExceeded", fiscope.ErrQuotaExceeded},
		{"ErrUnavailable", fiscope.ErrUnavailable}, {"ErrMalformedResponse", fiscope.ErrMalformedResponse}, {"ErrRedirect", fiscope.ErrRedirect},
		{"ErrInvalidRequest", fiscope.ErrInvalidRequest},
	} {
		if errors.Is(err, s.err) {
			return "`" + s.name + "`"
		}
	}
	return "?? " + err.Error()
}

// perform makes the row's call on a new client: on a new connection, or on one that has answered before.
func (row failing) perform(t *testing.T, reused bool, srv *mockserver.Server, opts ...fiscope.Option) seen {
	t.Helper()
	client := srv.Client(opts...)
	call := func() (fiscope.Response, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		var resp fiscope.Response
		var err error
		switch row.op {
		case mockserver.OpValidar:
			_, err = client.CPE.Validar(ctx, fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
				fiscope.CredencialesSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(mockserver.ClaveSOL)}, fiscope.WithResponse(&resp))
		case mockserver.OpTipoCambio:
			_, err = client.TipoCambio.Consultar(ctx, fiscope.NewFecha(2024, time.February, 29), fiscope.WithResponse(&resp))
		default: // a name with an Ñ
			_, err = client.Contribuyentes.Consultar(ctx, "20999990011", fiscope.WithResponse(&resp))
		}
		return resp, err
	}
	if reused {
		_, err := call()
		require.NoError(t, err)
	}
	before, _ := srv.Quota(srv.APIKey)
	fault := srv.Fault(mockserver.Match{Op: row.op}, row.steps...)
	resp, err := call()
	fault.Remove()
	after, _ := srv.Quota(srv.APIKey)
	got := seen{sentinel(err, resp), 0, after.Spent - before.Spent}
	for i, r := range srv.Requests() {
		if reused && i == 0 {
			continue
		}
		if got.count++; got.count == 1 {
			assert.Equal(t, reused, r.Reused, "the first request's connection")
			assert.Equal(t, fault.Status().Name, r.Fault)
		}
	}
	return got
}

// TestFaultTable makes each fault happen to the SDK, and holds what comes of it against the table in the documentation.
func TestFaultTable(t *testing.T) {
	var b strings.Builder
	b.WriteString(faultTableHead)
	for _, row := range failings() {
		t.Run(row.name, func(t *testing.T) {
			var fresh, reused seen
			for _, c := range []struct {
				reused bool
				into   *seen
			}{{false, &fresh}, {true, &reused}} {
				synctest.Test(t, func(t *testing.T) {
					waitUntil(t, "2026-11-20T12:00:00-05:00")
					srv := mockserver.New(t, mockserver.WithoutSocket())
					*c.into = row.perform(t, c.reused, srv)
					srv.AssertNoSecrets(t)
				})
			}
			assert.NotContains(t, fresh.returns, "??")
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %d | %d |\n", row.name, row.what, row.op, fresh.returns, fresh.count, fresh.charged)
			switch row.name {
			case "reset", "close":
				if row.op == mockserver.OpConsultar {
					fresh.count, fresh.charged = fresh.count+1, fresh.charged+1
				}
			case "ResetBefore.Uncharged()":
				fresh.count++
			}
			assert.Equal(t, fresh, reused, "on a connection that had answered before")
		})
	}
	if *update {
		require.NoError(t, os.MkdirAll("../docs", 0o755))
		require.NoError(t, os.WriteFile(faultTable, []byte(b.String()), 0o644))
	}
	written, err := os.ReadFile(faultTable)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(strings.Split(b.String(), "\n"), strings.Split(string(written), "\n")), "docs/faults.md is stale: go test ./mockserver -run TestFaultTable -update")
}

const faultTableHead = `# Faults, and the client's results

For each fault of the mock server: what the SDK returns with its default options, how many requests the server
sees, and how many queries they cost.

Lower-case names are presets, for ` + "`srv.Fault(match, preset)`" + ` and for the program; the others are Go.
A receipt validation is never repeated. On a reused connection, net/http itself repeats a lookup without an answer:
then the server sees 4 requests for ` + "`reset`, `close` and `ResetBefore.Uncharged()`" + `. A test writes this table:
` + "`go test ./mockserver -run TestFaultTable -update`" + `.

| fault | what happens | operation | returns | requests | queries |
|---|---|---|---|---|---|
`
