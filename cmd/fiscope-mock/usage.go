package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

const usage = `Usage: fiscope-mock [flags]
       fiscope-mock exec [flags] -- COMMAND [ARGUMENT...]
       fiscope-mock health [-tls-ca-file FILE] URL
       fiscope-mock padron import [-o INDEX] [-max-odd SHARE] FILE
       fiscope-mock padron info INDEX
       fiscope-mock padron generate [-rows N] [-seed S] FILE
       fiscope-mock help | version

Serves the mock of the fiscal data service, with its default data, until it is
stopped (Ctrl-C, SIGTERM): what is in flight is finished, a second signal cuts.
The first line of its output is the base URL, the second the command that runs
the quickstart against it.

Its default data have the taxpayer 20131312955, his SOL user MIUSER01 with the
clave clave-mock-1, receipts 01 of 20100070970 from F001-123 to F001-127
(accepted, cancelled, pending, missing, and one that cannot be looked up), and
a rate of every business day since 2020-01-02.

exec serves on a free port while COMMAND runs, with FISCOPE_BASE_URL and
FISCOPE_API_KEY in its environment (and the CA variables of curl, Node, Python
and OpenSSL, with -tls), reports the journal on stderr, and exits with the
command's status: 127 when there is no such command, 125 when the mock fails,
124 when -timeout ended it. Signals to exec reach COMMAND and what it started.

health asks a running server how it is, and exits with 0 or 1: a probe for an
image without a shell.

padron makes the index that -padron serves, of SUNAT's padron_reducido_ruc.zip,
says what is in one, or generates a registry to try it with: see padron -h.

version says of what the program was built: the version of its module, the
commit and its date where it was built in a clone, and Go's version.

  -addr HOST:PORT   address to listen on; port 0 takes a free one
                    (FISCOPE_MOCK_ADDR; default 127.0.0.1:8080, exec: port 0)
  -url-file FILE    write the base URL there once it serves; removed at the end.
                    FILE may hold nothing but the URL of a server that is gone
                    (FISCOPE_MOCK_URL_FILE)

  -api-key KEY[=N]  an X-API-KEY it accepts, with N calls a day; repeat for more
                    (FISCOPE_MOCK_API_KEY, several with spaces between;
                    default clave-de-prueba)
  -quota N          calls a day of a key without its own: 0 refuses all, -1 is
                    unlimited; the same as -assume Quota=N. It wins over what
                    -data says of those keys
                    (FISCOPE_MOCK_QUOTA; default 1000)
  -padron INDEX     take the taxpayers of this index in the place of the default
                    ones: padron import makes it, -data lies over it. One that
                    replaces it is taken up within 2s (FISCOPE_MOCK_PADRON)
  -data FILE        JSON data to put over the default data: a file, or all .json
                    files of a folder; repeat for more (FISCOPE_MOCK_DATA,
                    several with : between, on Windows ;)
  -now TIME         its clock begins there, such as 2026-11-20T16:59:00-05:00
                    (FISCOPE_MOCK_NOW)
  -frozen           its clock stands still (FISCOPE_MOCK_FROZEN=true)
  -assume NAME=VAL  another reading of what the contract leaves open, such as
                    BlockAfter=5 or QuotaExceeded=403:FORBIDDEN (403: is an
                    empty code); repeat for more (FISCOPE_MOCK_ASSUME, several
                    with spaces between). @FILE takes all of a JSON file: what
                    the conformance suite has seen of a server, or an answer of
                    GET /_mock/assumptions, where the names, values, sections
                    of the contract and reasons are
  -journal N        how many calls of each key it remembers
                    (FISCOPE_MOCK_JOURNAL; default 1000)
  -hold-limit D     release a fault that has held a call for so long; 0 is never
                    (FISCOPE_MOCK_HOLD_LIMIT; default 60s)

  -tls              serve https, with a certificate made at the start for
                    localhost, this host and -addr (FISCOPE_MOCK_TLS=true)
  -tls-ca-file FILE write the CA to trust there (FISCOPE_MOCK_TLS_CA_FILE;
                    default a temporary file, removed at the end)
  -tls-host NAME    make the certificate for this name or IP too; repeat for
                    more (FISCOPE_MOCK_TLS_HOST, several with spaces between)
  -tls-cert FILE    serve https with this PEM certificate chain
                    (FISCOPE_MOCK_TLS_CERT)
  -tls-key FILE     and this PEM key (FISCOPE_MOCK_TLS_KEY)

  -admin-token T    ask for "Authorization: Bearer T" under /_mock/, or once for
                    T in a browser; not for healthz, ca.pem and openapi.yaml.
                    Without it /_mock/ is closed where others reach it: on any
                    -addr but loopback (FISCOPE_MOCK_ADMIN_TOKEN)
  -log FORMAT       log on stderr as text or json, or off (FISCOPE_MOCK_LOG;
                    default text, exec: off): what the admin API changed, and
                    each call that was not answered with 2xx
  -log-all          log every call (FISCOPE_MOCK_LOG_ALL=true)
  -shutdown-timeout D
                    how long the end waits for what is in flight
                    (FISCOPE_MOCK_SHUTDOWN_TIMEOUT; default 5s)
  -timeout D        exec: end COMMAND after so long, with SIGTERM and 5s later
                    with SIGKILL, and exit with 124 (FISCOPE_MOCK_TIMEOUT)
  -h                this text, as help prints it

A flag wins over its variable; an empty variable counts as not set.

While it serves, GET /_mock/ lists its admin API: data, clock, faults, journal,
quotas, SOL users, assumptions, reset. A taste:

  curl URL/_mock/requests
  curl URL/_mock/clock/advance -H 'Content-Type: application/json' \
    -d '{"by": "24h"}'
  curl URL/_mock/faults -H 'Content-Type: application/json' \
    -d '{"match": {"op": "consultar"}, "steps": [{"preset": "html-200"}]}'
`

// usageError prints the help that was asked for, or what is wrong with the flags.
func usageError(err error, stdout, stderr io.Writer) int {
	if errors.Is(err, flag.ErrHelp) {
		_, _ = io.WriteString(stdout, usage)
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "fiscope-mock: %v\nrun fiscope-mock help for the flags\n", err)
	return 2
}
