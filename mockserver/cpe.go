package mockserver

import (
	"fmt"
	"net/http"
	"time"

	"github.com/fiscope/fiscope"
)

// validar is the receipt validation of service.md 4.3. The tax authority is asked last: a request that
// cannot be right, and one made while it is down, are no SOL attempts.
func (s *Server) validar(c *call) answer {
	body, a := readObject(c)
	if body == nil {
		return a
	}
	q, a, ok := s.readCPE(body)
	if !ok {
		return a
	}
	if c.sunatDown || c.data.sunatDown.Load() {
		return refusal(http.StatusInternalServerError, s.assume.CodeSUNATUnavailable,
			"el servicio de SUNAT no responde: reintente más tarde; no se contó como intento del usuario SOL (contrato, 4.3)")
	}
	c.ruc = q.comprobante.emisor
	o := c.data.sol.attempt(q.sol, q.clave, c.now, s.assume.BlockAfter, s.assume.BlockFor)
	c.solHash, c.solResult = hashOf(q.sol), o.result()
	if why := o.refusal(); why != "" {
		return refusal(http.StatusUnauthorized, codeInvalidSOL, "%s (contrato, 4.3)", why)
	}
	return success(c.data.comprobantes.resultado(q.comprobante))
}

func (o outcome) result() SOLResult {
	switch {
	case o.ok:
		return SOLAccepted
	case o.wasBlocked:
		return SOLBlocked
	case o.principal:
		return SOLPrincipal
	case o.unknown:
		return SOLUnknown
	}
	return SOLWrong
}

// refusal says in Spanish why an attempt was refused, or "" when it was not. It never tells the clave,
// and the code of all of them is the same, as the contract has no other.
func (o outcome) refusal() string {
	var why string
	switch {
	case o.ok:
		return ""
	case o.principal:
		why = "el usuario SOL es un usuario principal: use las credenciales de un usuario secundario, nunca las del principal"
	case o.wasBlocked:
		return "el usuario SOL está bloqueado por intentos fallidos hasta el " + enLima(o.blockedUntil) +
			": hasta entonces se rechaza también la clave correcta; no reintente"
	case o.unknown:
		return "el usuario SOL no existe para ese RUC solicitante: revise rucSolicitante y usuarioSol"
	default:
		why = "la clave del usuario SOL es incorrecta: revísela antes de volver a intentar"
	}
	switch {
	case !o.blockedUntil.IsZero():
		why += "; el usuario queda bloqueado hasta el " + enLima(o.blockedUntil)
	case o.allowed > 0:
		why += fmt.Sprintf("; intento fallido %d de %d antes del bloqueo", o.fails, o.allowed)
	}
	return why
}

func enLima(t time.Time) string {
	return t.In(fiscope.Lima).Format("2006-01-02 15:04:05") + " (hora de Lima)"
}
