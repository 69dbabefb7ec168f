package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// An invoice of today, in dollars.
const muestra = `{
  "ruc": "20100070970",
  "moneda": "USD",
  "lineas": [
    {"descripcion": "Licencia anual", "cantidad": 3, "valorUnitario": "333.335"},
    {"descripcion": "Soporte, por hora", "cantidad": 7.5, "valorUnitario": 40}
  ]
}`

// pedirMuestra makes a request to ourselves, as any client would, and shows it.
func pedirMuestra(ctx context.Context, url string, out io.Writer) error {
	fmt.Fprintf(out, "\nPOST /facturas\n%s\n", muestra)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/facturas", strings.NewReader(muestra))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	transporte := &http.Transport{}
	defer transporte.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transporte}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	cuerpo, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n%s", resp.Status, cuerpo)
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("el pedido de muestra terminó con %s", resp.Status)
	}
	fmt.Fprintln(out, "\nListo. Con -addr se queda sirviendo; el código está en examples/factura.")
	return nil
}
