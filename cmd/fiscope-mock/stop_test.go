package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inFlight sends a lookup that meets a fault, and returns once it waits.
func inFlight(t *testing.T, url, step string) <-chan error {
	t.Helper()
	status, body := ask(t, "POST", url+"/_mock/faults", `{"steps": [`+step+`]}`)
	require.Equal(t, 200, status, body)
	done := make(chan error, 1)
	go func() {
		req, _ := http.NewRequest(http.MethodGet, url+"/api/contribuyentes/20131312955", nil)
		req.Header.Set("X-API-KEY", "clave-de-prueba")
		req.Close = true
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
		done <- err
	}()
	status, _ = ask(t, "GET", url+"/_mock/requests/wait?op=consultar", "")
	require.Equal(t, 200, status)
	return done
}

// halfSent is a receipt validation whose body is still arriving.
type halfSent struct {
	conn   net.Conn
	answer *bufio.Reader
}

const (
	firstHalf  = `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123,`
	secondHalf = `"rucSolicitante": "20131312955", "usuarioSol": "MIUSER01", "claveSol": "clave-mock-1"}`
)

func sendHalf(t *testing.T, url string) halfSent {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST /api/cpe/validar HTTP/1.1\r\nHost: mock\r\nX-API-KEY: clave-de-prueba\r\nContent-Type: application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(firstHalf+secondHalf))
	require.NoError(t, err)
	h := halfSent{conn, bufio.NewReader(conn)}
	line, err := h.answer.ReadString('\n') // written when the server begins to read the body
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
	_, err = h.answer.ReadString('\n')
	require.NoError(t, err)
	_, err = io.WriteString(conn, firstHalf)
	require.NoError(t, err)
	return h
}

// rest sends the rest, and returns the first line of the answer, or nothing without one.
func (h halfSent) rest() string {
	_, _ = io.WriteString(h.conn, secondHalf)
	line, _ := h.answer.ReadString('\n')
	return line
}

// closed waits until the server accepts nothing more.
func closed(t *testing.T, url string) {
	t.Helper()
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, 10*time.Second, 5*time.Millisecond)
}

func TestStopsWithWhatIsInFlight(t *testing.T) {
	quiet := []string{"FISCOPE_MOCK_ADDR=127.0.0.1:0", "FISCOPE_MOCK_LOG=off"}
	t.Run("held", func(t *testing.T) {
		p := startProgram(t, quiet)
		done := inFlight(t, p.url, `{"hold": true}`)
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, <-done, "the answer arrives")
		assert.NoError(t, p.cmd.Wait(), "exit status 0")
	})
	t.Run("still arriving", func(t *testing.T) {
		p := startProgram(t, quiet)
		half := sendHalf(t, p.url)
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		closed(t, p.url)
		assert.Equal(t, "HTTP/1.1 200 OK\r\n", half.rest())
		assert.NoError(t, p.cmd.Wait(), "exit status 0")
	})
	t.Run("longer than it may take", func(t *testing.T) {
		s := defaultSettings()
		s.addr, s.drain = "127.0.0.1:0", 50*time.Millisecond
		r, err := start(s, newLogger(logOff, nil))
		require.NoError(t, err)
		half := sendHalf(t, r.url)
		require.NoError(t, r.close())
		assert.Empty(t, half.rest(), "it was cut")
	})
	t.Run("a second signal", func(t *testing.T) {
		p := startProgram(t, quiet)
		half := sendHalf(t, p.url)
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		closed(t, p.url)
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		assert.Error(t, p.cmd.Wait())
		status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
		require.True(t, ok)
		assert.Equal(t, syscall.SIGTERM, status.Signal())
		assert.Empty(t, half.rest(), "it was cut")
	})
	t.Run("a long poll", func(t *testing.T) {
		p := startProgram(t, quiet)
		status := make(chan int, 1)
		began := make(chan struct{})
		go func() {
			close(began)
			resp, err := http.Get(p.url + "/_mock/requests/wait?count=5&timeout=5m")
			if err != nil {
				status <- 0
				return
			}
			_ = resp.Body.Close()
			status <- resp.StatusCode
		}()
		<-began
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, p.cmd.Wait(), "exit status 0")
		assert.Contains(t, []int{503, 0}, <-status, "0: it came after the listener was closed")
	})
}
