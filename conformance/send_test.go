package conformance

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// net/http sends a GET again where a connection that it has kept is closed in its face.
func TestNothingIsSentTwice(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var seen atomic.Int64
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() { // the first request of a connection is answered, the second is not
				defer conn.Close()
				requests := bufio.NewReader(conn)
				for n := range 2 {
					r, err := http.ReadRequest(requests)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					if seen.Add(1); n == 0 {
						io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
					}
				}
			})
		}
	})
	defer served.Wait()
	defer listener.Close()

	e, err := newExamination(fullTarget("http://" + listener.Addr().String()))
	require.NoError(t, err)
	network := newTransport(time.Minute)
	defer network.CloseIdleConnections()
	to := &sender{e.target.BaseURL, e.target.APIKey, network, time.Minute}
	r := send(context.Background(), e.plan, to, secrets{})
	assert.EqualValues(t, len(r.sent), seen.Load())
	for _, x := range r.sent {
		assert.NoError(t, x.failed)
	}
}

func TestWhatIsReadIsBounded(t *testing.T) {
	f := listen(t, func(*foreign, *http.Request) string { return endless })
	results, _ := examineAt(t, f, func(e *examination) { e.wait = patience{2 * time.Second, 2 * time.Second} })
	assert.Contains(t, failing(results)["4.1/a taxpayer is an object"][0], "the body has more than 131072 bytes")

	f = listen(t, func(*foreign, *http.Request) string { return raw(200, "{}", "X-Long: "+strings.Repeat("x", 1<<17)) })
	results, _ = examineAt(t, f)
	assert.Contains(t, failing(results)["4.1/a taxpayer is an object"][0], "headers exceeded 65536 bytes")
}

// A request carries the key as the contract writes its header, and says who asks.
func TestWhatARequestCarries(t *testing.T) {
	var carried []string
	f := listen(t, func(_ *foreign, r *http.Request) string {
		body, _ := io.ReadAll(r.Body)
		carried = append(carried, fmt.Sprintf("%s %s %s%s%s %d %s", r.Method, r.URL, r.Header["X-Api-Key"], r.Header["Content-Type"], r.Header["User-Agent"], r.ContentLength, body))
		return raw(200, "{}")
	})
	examineAt(t, f)
	assert.Zero(t, countOf(carried, func(line string) bool { return strings.Contains(line, solUser) && !strings.Contains(line, "claveSol") }),
		"without its clave no user that there is is tried: some service may count it")
	searches := countOf(carried, func(line string) bool { return strings.Contains(line, "search?razonSocial=S.A ["+theKey) })
	assert.Equal(t, 1, searches, "the same is asked once")
	assert.Contains(t, carried, "GET /api/contribuyentes/20131312955 ["+theKey+"][][fiscope-conformance] 0 ")
	assert.Contains(t, carried, "GET /api/contribuyentes/20131312955 [][][fiscope-conformance] 0 ")
	assert.Contains(t, carried, "GET /api/contribuyentes/20131312955 ["+unknownKey+"][][fiscope-conformance] 0 ")
	assert.Contains(t, carried, `POST /api/cpe/validar [`+theKey+`][application/json][fiscope-conformance] 166 `+
		`{"claveSol":"cl\"av\\e SOL ñ%'7","numero":124,"rucEmisor":"20100070970","rucSolicitante":"20131312955","serie":"F001","tipoComprobante":"01","usuarioSol":"CONFORME"}`)
	assert.Contains(t, carried, "GET /api/contribuyentes/search?razonSocial=%20%20A ["+theKey+"][][fiscope-conformance] 0 ")
	assert.Contains(t, carried, "GET /api/contribuyentes/search?razonSocial=%C3%91%C3%81 ["+theKey+"][][fiscope-conformance] 0 ")
}

// Lookups stand around all other operations, which are not blamed for what lookups cost.
func TestALookupThatCostsMoreIsNoOtherThatDoes(t *testing.T) {
	for name, breaks := range map[string]func(http.Handler) http.Handler{
		"two":  times(lookup, func(*reply) int { return 2 }),
		"none": free(lookup),
	} {
		results, _ := examine(t, breaks(newMock(t)), fullTarget("http://mock.invalid"))
		failed := failing(results)
		assert.Contains(t, failed, "8/a lookup consumes 1 query", name)
		assert.Len(t, failed, 1, name)
	}
}

// Where a request between two lookups fails, nothing is said of what the others have cost.
func TestAfterAFailedRequestNothingIsSaidOfCosts(t *testing.T) {
	breaks := answering(search, withQuery("razonSocial", noSuchName), failWith(503, "X"))
	a := mockserver.DefaultAssumptions()
	a.ChargeFailures = false
	free := free(search)
	results, _ := examine(t, free(breaks(newMock(t, mockserver.WithAssumptions(a)))), fullTarget("http://mock.invalid"))
	const many, one = "8/a search consumes 1 query, however many it finds", "8/a search consumes 1 query"
	assert.NotContains(t, failing(results), many)
	assert.Contains(t, skipping(results)[many], "1 requests between two lookups failed")
	assert.Contains(t, failing(results), one, "where none has failed")
}
