package mockserver_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/require"
)

// Data that is read can be served, and is the same when it is written and read again.
func FuzzReadData(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", "null", `{"keys": [{"key": "a", "quota": 1}]}`, `{"withoutDefaults": true}`,
		`{"contribuyentes": [{"ruc": "20000000001", "razonSocial": "PRIMERA", "estado": "ACTIVO", "condicion": "HABIDO"}]}`,
		`{"comprobantes": [{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 1, "codigo": "0"}]}`,
		`{"usuarios": [{"ruc": "20000000001", "usuario": "U", "clave": "secreta"}]}`,
		`{"tiposCambio": [{"fecha": "2026-11-20", "compra": 3.7, "venta": 3.80}]}`,
		`{"deleted": {"contribuyentes": ["20131312955"]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := mockserver.Control{}.ReadData(bytes.NewReader(text), "datos.json")
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "datos.json:"), err.Error())
			return
		}
		var first, second bytes.Buffer
		require.NoError(t, d.Write(&first))
		again, err := mockserver.Control{}.ReadData(bytes.NewReader(first.Bytes()), "datos.json")
		require.NoError(t, err, first.String())
		require.NoError(t, again.Write(&second))
		require.Equal(t, first.String(), second.String())
		srv, err := mockserver.Start(mockserver.WithoutSocket(), mockserver.WithData(d))
		if err == nil {
			require.NoError(t, srv.Close())
		}
	})
}

// Every request gets an answer of the contract, and none shows a key or a clave.
func FuzzServeHTTP(f *testing.F) {
	const key, clave = "llave-7f3a91", "claveFalsa12"
	for _, seed := range []string{
		"GET /api/contribuyentes/20131312955 HTTP/1.1\r\nHost: x\r\nX-API-KEY: " + key + "\r\n\r\n",
		"GET /api/contribuyentes/search?razonSocial=sunat&limit=5 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /api/tipocambio?fecha=2026-11-20 HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /api/cpe/validar HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 166\r\n\r\n" +
			`{"rucEmisor":"20100070970","tipoComprobante":"01","serie":"F001","numero":123,"rucSolicitante":"20131312955","usuarioSol":"MIUSER01","claveSol":"` + clave + `","x":"yz"}`,
		"POST /api/cpe/validar HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"DELETE /api//contribuyentes/%32?a=%zz;b HTTP/1.0\r\n\r\n",
		"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	srv, err := mockserver.Start(mockserver.WithoutSocket(), mockserver.WithKey(key, mockserver.Unlimited))
	require.NoError(f, err)
	f.Cleanup(func() { _ = srv.Close() })
	f.Fuzz(func(t *testing.T, request []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(request)))
		if err != nil {
			return
		}
		if r.Header.Get("X-API-KEY") == "" {
			r.Header.Set("X-API-KEY", key)
		}
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, r)
		var body any
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body), w.Body.String())
		if w.Code != http.StatusOK {
			require.True(t, w.Code >= 400 && w.Code < 500, w.Code)
			said, _ := body.(map[string]any)
			require.Len(t, said, 2)
			require.NotEmpty(t, said["error"])
			require.NotEmpty(t, said["code"])
		}
		require.NotContains(t, w.Body.String(), key)
		require.NotContains(t, w.Body.String(), clave)
	})
}
