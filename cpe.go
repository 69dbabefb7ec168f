package fiscope

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/fiscope/fiscope/internal/members"
)

// CPEService validates electronic receipts. It is the CPE of a [Client].
type CPEService struct {
	sender    *sender
	strictRUC bool // see WithStrictRUC
}

// OpValidarCPE is the validation of a receipt.
const OpValidarCPE Operation = "CPE.Validar"

// ResultadoCPE is the answer to a validation (docs/contrato.md, 2.4). A receipt that is cancelled, missing or
// pending is a result, not an error.
type ResultadoCPE struct {
	Codigo   CodigoCPE `json:"codigo"`
	Mensaje  string    `json:"mensaje"`
	Estado   EstadoCPE `json:"estado"`
	EsValido bool      `json:"esValido"`
}

// Validar asks the tax authority for the state of a receipt, with the credentials of a secondary user.
// It spends one query and can take many seconds. It is sent once and never repeated by itself.
//
// Credentials that were not accepted within the last 15 minutes are sent by one call at a time; others
// with the same RUC and usuario, however that is spelled, wait for what comes of it, but no longer than an
// attempt may take. Once sent, such a call goes on in the background when its caller leaves, so that a
// refusal is learned: see [Client.Close]. A panic in it is raised again, or logged, as [WithCoalescing] says.
//
// Errors: ErrInvalidRequest (a field is missing or cannot be one: nothing is sent),
// ErrInvalidSOLCredentials (do not repeat: the authority blocks the user for a while), ErrUnavailable
// (the authority did not answer), and those of every operation.
func (s *CPEService) Validar(ctx context.Context, c Comprobante, credenciales CredencialesSOL, opts ...CallOption) (*ResultadoCPE, error) {
	return s.validar(ctx, c, credenciales, s.sender.defaults.of(opts))
}

// validar is Validar with the options of its call as settings.
func (s *CPEService) validar(ctx context.Context, c Comprobante, credenciales CredencialesSOL, set *settings) (*ResultadoCPE, error) {
	return hooked(ctx, s.sender.hook, OpValidarCPE, set, func(ctx context.Context, set *settings) (*ResultadoCPE, error) {
		return send(ctx, s.sender, validacion{c, credenciales, s.strictRUC}, set)
	})
}

// Olvidar forgets that a credential was refused, so that it is sent again: for one that you know to be
// right by now. It goes alone then, and what was under way before the refusal does not prove it. Olvidar
// takes nothing from a credential that is not refused: one that is proven stays so. With a [Store] it is
// forgotten in the whole fleet, though not in the memory of the other processes; Olvidar waits a second for
// that, at most.
func (s *CPEService) Olvidar(credenciales CredencialesSOL) { s.sender.sol.forget(credenciales) }

// validacion is the question about a receipt. It is never remembered, nor shared by two calls.
type validacion struct {
	comprobante  Comprobante
	credenciales CredencialesSOL
	strict       bool // ValidarRUC must accept both RUCs
}

func (v validacion) request() request {
	return request{
		op:      OpValidarCPE,
		path:    "/api/cpe/validar",
		body:    peticionCPE(v.comprobante, v.credenciales),
		sol:     &v.credenciales,
		invalid: v.check(),
	}
}

func (v validacion) check() error {
	err := cmp.Or(v.comprobante.check(), v.credenciales.check())
	if err == nil && v.strict {
		err = cmp.Or(checkStrictRUC("rucEmisor", v.comprobante.RUCEmisor), checkStrictRUC("rucSolicitante", v.credenciales.RUC))
	}
	return err
}

// peticionCPE returns the body of a validation (docs/contrato.md, 2.3). Strings and a number always marshal.
func peticionCPE(c Comprobante, credenciales CredencialesSOL) []byte {
	body, _ := json.Marshal(struct {
		Comprobante
		RUCSolicitante string `json:"rucSolicitante"`
		UsuarioSOL     string `json:"usuarioSol"`
		ClaveSOL       string `json:"claveSol"`
	}{c, credenciales.RUC, credenciales.Usuario, credenciales.Clave.text()})
	return body
}

var membersOfResultado = members.NewNames("codigo", "mensaje", "estado", "esValido", "error", "code")

func (v validacion) read(a *answer) (*ResultadoCPE, error) {
	o, err := a.object(membersOfResultado)
	if err != nil {
		return nil, err
	}
	resultado := &ResultadoCPE{
		Codigo:   codigoIn(&o),
		Mensaje:  o.optional("mensaje"),
		Estado:   EstadoCPE(o.optional("estado")),
		EsValido: o.flag("esValido"),
	}
	if o.err != nil {
		return nil, o.err
	}
	checkVerdict(a, resultado)
	a.provesSOL = !a.contradicted && (resultado.Codigo.Final() || resultado.Codigo == CodigoEnProceso)
	return resultado, a.contradiction
}

// codigoIn returns the code of a verdict, which may be a number.
func codigoIn(o *object) CodigoCPE {
	if raw := o.value("codigo"); raw != nil && kindOf(raw) == "number" {
		return CodigoCPE(raw)
	}
	codigo := o.required("codigo")
	if codigo == "" {
		o.fail("codigo is missing")
	}
	return CodigoCPE(codigo)
}

// checkVerdict notes what in a verdict excludes another: any two of codigo, estado and esValido, whatever
// the third is. Nothing is valid but codigo 0 and "Aceptado".
func checkVerdict(a *answer, r *ResultadoCPE) {
	ofEstado, knownEstado := r.Estado.codigo()
	knownCodigo := r.Codigo.known()
	switch {
	case r.EsValido != (r.Codigo == CodigoAceptado):
		a.contradicts("codigo %s and esValido %t exclude each other", a.quote(string(r.Codigo)), r.EsValido)
	case knownEstado && knownCodigo && ofEstado != r.Codigo:
		a.contradicts("codigo %s and estado %s exclude each other", a.quote(string(r.Codigo)), a.quote(string(r.Estado)))
	case knownEstado && r.EsValido != (ofEstado == CodigoAceptado):
		a.contradicts("estado %s and esValido %t exclude each other", a.quote(string(r.Estado)), r.EsValido)
	}
	switch {
	case !knownEstado && !knownCodigo:
		a.warn("codigo %s is not one of the contract, nor is estado %s", a.quote(string(r.Codigo)), a.quote(string(r.Estado)))
	case !knownEstado:
		a.warn("estado %s is not one of the contract", a.quote(string(r.Estado)))
	case !knownCodigo:
		a.warn("codigo %s is not one of the contract", a.quote(string(r.Codigo)))
	}
}
