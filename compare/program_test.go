package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// contribuyente is the answer of a lookup, as a program without the SDK writes it.
type contribuyente struct {
	RUC                    string `json:"ruc"`
	RazonSocial            string `json:"razonSocial"`
	Estado                 string `json:"estado"`
	Condicion              string `json:"condicion"`
	Direccion              string `json:"direccion"`
	Ubigeo                 string `json:"ubigeo"`
	Departamento           string `json:"departamento"`
	Provincia              string `json:"provincia"`
	Distrito               string `json:"distrito"`
	Tipo                   string `json:"tipo"`
	ActividadEconomica     string `json:"actividadEconomica"`
	FechaInscripcion       string `json:"fechaInscripcion"`
	FechaInicioActividades string `json:"fechaInicioActividades"`
}

// object returns the taxpayer, once it is seen that there is one.
func (c *contribuyente) object() (object, error) {
	if c.RUC == "" {
		return object{}, errors.New("the answer has no RUC")
	}
	return object{c.RUC, c.RazonSocial, c.Estado}, nil
}

// validacion is the question about a receipt, as such a program writes it.
type validacion struct {
	RUCEmisor       string `json:"rucEmisor"`
	TipoComprobante string `json:"tipoComprobante"`
	Serie           string `json:"serie"`
	Numero          int    `json:"numero"`
	RUCSolicitante  string `json:"rucSolicitante"`
	UsuarioSol      string `json:"usuarioSol"`
	ClaveSol        string `json:"claveSol"`
}

func validate(clave string) validacion {
	return validacion{"20100070970", "01", "F001", 123, "20131312955", "MIUSER01", clave}
}

// resultado is the answer to it.
type resultado struct {
	Codigo   string `json:"codigo"`
	Mensaje  string `json:"mensaje"`
	Estado   string `json:"estado"`
	EsValido bool   `json:"esValido"`
}

func (r *resultado) check() error {
	if r.Codigo == "" {
		return errors.New("the answer has no codigo")
	}
	return nil
}

// read reads an answer as a careful program does: no more than a mebibyte, to its end, and only with status 200.
func read(resp *http.Response, v any) error {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return json.Unmarshal(body, v)
}
