package peers

import "errors"

// Validacion is the question about a receipt, as a program without this library has it.
type Validacion struct {
	RUCEmisor       string `json:"rucEmisor"`
	TipoComprobante string `json:"tipoComprobante"`
	Serie           string `json:"serie"`
	Numero          int    `json:"numero"`
	RUCSolicitante  string `json:"rucSolicitante"`
	UsuarioSol      string `json:"usuarioSol"`
	ClaveSol        string `json:"claveSol"`
}

// Ask returns the question about a sample receipt, with that clave.
func Ask(clave string) Validacion {
	return Validacion{"20100070970", "01", "F001", 123, "20131312955", "MIUSER01", clave}
}

// Resultado is the answer to it.
type Resultado struct {
	Codigo   string `json:"codigo"`
	Mensaje  string `json:"mensaje"`
	Estado   string `json:"estado"`
	EsValido bool   `json:"esValido"`
}

// Check sees that there is an answer.
func (r *Resultado) Check() error {
	if r.Codigo == "" {
		return errors.New("the answer has no codigo")
	}
	return nil
}
