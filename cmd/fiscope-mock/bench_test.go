package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a test run waits for: from the start of the process to its first 200, and with TLS to its first line.
func BenchmarkStart(b *testing.B) {
	for name, flags := range map[string][]string{"http": nil, "https": {"-tls"}} {
		b.Run(name, func(b *testing.B) {
			program := binary(b)
			var total time.Duration
			for range b.N {
				began := time.Now()
				cmd := exec.CommandContext(b.Context(), program, append([]string{"-addr", "127.0.0.1:0", "-log", "off"}, flags...)...)
				stdout, err := cmd.StdoutPipe()
				require.NoError(b, err)
				require.NoError(b, cmd.Start())
				lines := bufio.NewScanner(stdout)
				require.True(b, lines.Scan())
				url := lines.Text()
				if flags == nil {
					req, err := http.NewRequest(http.MethodGet, url+"/api/contribuyentes/20131312955", nil)
					require.NoError(b, err)
					req.Header.Set("X-API-KEY", "clave-de-prueba")
					req.Close = true
					resp, err := http.DefaultClient.Do(req)
					require.NoError(b, err)
					require.NoError(b, resp.Body.Close())
					require.Equal(b, http.StatusOK, resp.StatusCode)
				}
				total += time.Since(began)
				require.NoError(b, cmd.Process.Signal(os.Interrupt))
				require.NoError(b, cmd.Wait())
			}
			b.ReportMetric(float64(total.Microseconds())/float64(b.N)/1000, "ms/start")
		})
	}
}
