package fiscope

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/relevance"
	"github.com/fiscope/fiscope/internal/scrub"
)

// CPEService validates electronic receipts. It is the CPE of a [Client].
type CPEService struct {
	core      *core
	strictRUC bool            // see WithStrictRUC
	own       CredencialesSOL // see WithSOL; zero for none
}

// ResultadoCPE is the answer to a validation (docs/contract.md, 2.4). A receipt that is cancelled, missing or
// pending is a result, not an error.
type ResultadoCPE struct {
	Codigo   CodigoCPE `json:"codigo"`
	Mensaje  string    `json:"mensaje"`
	Estado   EstadoCPE `json:"estado"`
	EsValido bool      `json:"esValido"`
}

// Validar asks the tax authority for the state of a receipt, with the credentials of a secondary user. It costs one
// query and can take many seconds. It is sent once, see RetryPolicy.
//
// Only one call at a time sends credentials that were not accepted within the last 15 minutes. Other calls with the same
// RUC and usuario wait for its outcome, for at most an attempt's timeout. If its caller leaves, that one call still
// finishes, in the background: see [Client.Close]. For a day after an acceptance, any answer that is no refusal (99, a
// 5xx) renews the 15 minutes.
//
// Errors: ErrInvalidRequest (not sent), ErrInvalidSOLCredentials (do not repeat: it blocks the user for a while),
// ErrSOLCredentialsBlocked (refused before: not sent), ErrUnavailable (no answer), and those of every operation.
func (s *CPEService) Validar(ctx context.Context, c Comprobante, credenciales CredencialesSOL, opts ...CallOption) (*ResultadoCPE, error) {
	return get(ctx, s.core, s.core.receipts, s.validacion(c, credenciales), opts, copyOf[ResultadoCPE])
}

func (s *CPEService) validacion(c Comprobante, credenciales CredencialesSOL) validacion {
	return validacion{c, s.credenciales(credenciales), s.strictRUC}
}

// credenciales returns the credentials of a call or, if they are zero, the client's own.
func (s *CPEService) credenciales(ofCall CredencialesSOL) CredencialesSOL {
	return cmp.Or(ofCall, s.own)
}

// Olvidar forgets that a credential was refused, so that it is sent again. Call it once you know that the credential is
// right. With a Store all processes forget it; an error means that the Store was not updated.
func (s *CPEService) Olvidar(ctx context.Context, credenciales CredencialesSOL) error {
	credenciales = s.credenciales(credenciales)
	return s.core.sol.forget(ctx, &credenciales)
}

// validacion is the question about a receipt. It is never cached or shared between calls.
type validacion struct {
	comprobante  Comprobante
	credenciales CredencialesSOL
	strict       bool // ValidarRUC must accept both RUCs
}

func (v validacion) request() request {
	return request{
		path:    "/api/cpe/validar",
		body:    peticionCPE(v.comprobante, v.credenciales),
		sol:     &v.credenciales,
		invalid: v.check(),
	}
}

func (v validacion) key() cacheKey { return cacheKey{op: OpValidarCPE} }

func (v validacion) lifetime(CachePolicy, any, time.Time) time.Duration { return 0 }

func (v validacion) check() error {
	err := cmp.Or(v.comprobante.check(), v.credenciales.check())
	if err == nil && v.strict {
		err = cmp.Or(checkStrictRUC("rucEmisor", v.comprobante.RUCEmisor), checkStrictRUC("rucSolicitante", v.credenciales.RUC))
	}
	return err
}

// peticionCPE returns the body of a validation (docs/contract.md, 2.3). Strings and a number always marshal.
func peticionCPE(c Comprobante, credenciales CredencialesSOL) []byte {
	body, _ := json.Marshal(struct {
		Comprobante
		RUCSolicitante string `json:"rucSolicitante"`
		UsuarioSOL     string `json:"usuarioSol"`
		ClaveSOL       string `json:"claveSol"`
	}{c, credenciales.RUC, credenciales.Usuario, credenciales.Clave.text()})
	return body
}

func (v validacion) read(a *answer) any {
	o, ok := a.object()
	if !ok {
		return nil
	}
	esValido := o.field("esValido")
	valid, _ := strconv.ParseBool(esValido.text) // lenient reading also takes "true" and 1
	r := &ResultadoCPE{
		Codigo:   CodigoCPE(strings.TrimSpace(o.field("codigo").text)),
		Mensaje:  o.optional("mensaje"),
		Estado:   EstadoCPE(o.optional("estado")),
		EsValido: valid,
	}
	switch {
	case r.Codigo == "":
		a.refuse(page, "codigo is missing")
	case esValido.kind == 0:
		a.refuse(page, "esValido is missing")
	case esValido.kind != 't' && esValido.kind != 'f':
		a.doubt(contradictory, "esValido is a JSON %s", kindOf(esValido.kind))
	}
	checkVerdict(a, r)
	a.provesSOL = a.err == nil && !a.lenient && (r.Codigo.Final() || r.Codigo == CodigoEnProceso)
	return r
}

// checkVerdict refuses an answer whose codigo, estado and esValido contradict each other, and warns of unknown values.
// Only codigo 0 and "Aceptado" are valid.
func checkVerdict(a *answer, r *ResultadoCPE) {
	ofEstado, knownEstado := r.Estado.codigo()
	knownCodigo := r.Codigo.known()
	switch {
	case r.EsValido != (r.Codigo == CodigoAceptado):
		a.doubt(contradictory, "codigo %s and esValido %t exclude each other", a.quote(string(r.Codigo)), r.EsValido)
	case knownEstado && knownCodigo && ofEstado != r.Codigo:
		a.doubt(contradictory, "codigo %s and estado %s exclude each other", a.quote(string(r.Codigo)), a.quote(string(r.Estado)))
	case knownEstado && r.EsValido != (ofEstado == CodigoAceptado):
		a.doubt(contradictory, "estado %s and esValido %t exclude each other", a.quote(string(r.Estado)), r.EsValido)
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

// CodigoCPE is the tax authority's response code as this service writes it. In the authority's own interfaces the same
// digits mean other things.
type CodigoCPE string

// The codes (docs/contract.md, 2.4).
const (
	CodigoAceptado  CodigoCPE = "0"  // exists and is accepted
	CodigoAnulado   CodigoCPE = "2"  // was cancelled
	CodigoEnProceso CodigoCPE = "4"  // not yet processed
	CodigoNoExiste  CodigoCPE = "98" // not found: normal for a boleta of the last 7 days
	CodigoError     CodigoCPE = "99" // the query failed at the authority
)

// Final reports whether the authority answered: accepted, cancelled or not found. A boleta may be reported up to 7 days
// after its date, so "not found" for a recent one may still change.
func (c CodigoCPE) Final() bool {
	return c == CodigoAceptado || c == CodigoAnulado || c == CodigoNoExiste
}

// Indeterminado reports whether the answer says nothing about the receipt: still being processed, or the query failed.
func (c CodigoCPE) Indeterminado() bool { return c == CodigoEnProceso || c == CodigoError }

// UnmarshalJSON accepts the code as a string or as a number.
func (c *CodigoCPE) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && (raw[0] == '-' || scrub.Digits(string(raw[:1]))) {
		*c = CodigoCPE(raw)
		return nil
	}
	return json.Unmarshal(raw, (*string)(c))
}

// EstadoCPE is the status of a receipt in words.
type EstadoCPE string

// The values (docs/contract.md, 3.3).
const (
	EstadoCPEAceptado  EstadoCPE = "Aceptado"
	EstadoCPEAnulado   EstadoCPE = "Anulado"
	EstadoCPEEnProceso EstadoCPE = "En Proceso"
	EstadoCPENoExiste  EstadoCPE = "No Existe"
	EstadoCPEError     EstadoCPE = "Error"
)

// codigos says which code goes with which status (docs/contract.md, 2.4).
var codigos = map[EstadoCPE]CodigoCPE{
	EstadoCPEAceptado:  CodigoAceptado,
	EstadoCPEAnulado:   CodigoAnulado,
	EstadoCPEEnProceso: CodigoEnProceso,
	EstadoCPENoExiste:  CodigoNoExiste,
	EstadoCPEError:     CodigoError,
}

// codigo returns the code that goes with a status, in any case and with or without accents.
func (e EstadoCPE) codigo() (codigo CodigoCPE, known bool) {
	if codigo, known = codigos[e]; known {
		return codigo, true
	}
	for estado, codigo := range codigos {
		if folded(string(e), relevance.Fold(string(estado))) {
			return codigo, true
		}
	}
	return "", false
}

func (c CodigoCPE) known() bool { return c.Final() || c.Indeterminado() }
