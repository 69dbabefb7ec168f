package fiscope

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/fiscope/fiscope/internal/solguard"
)

// CredencialesSOL are those of a secondary user of the tax authority's portal, never of the principal
// user (docs/contrato.md, 4.3). They marshal without the clave.
type CredencialesSOL struct {
	RUC     string  `json:"rucSolicitante"` // RUC of the caller, 11 digits
	Usuario string  `json:"usuarioSol"`
	Clave   Secreto `json:"claveSol"`
}

func (c CredencialesSOL) check() error {
	if err := checkRUC("rucSolicitante", c.RUC); err != nil {
		return err
	}
	for _, credential := range []struct{ field, text string }{{"usuarioSol", c.Usuario}, {"claveSol", c.Clave.text()}} {
		if credential.text == "" {
			return invalid("%s is empty", credential.field)
		}
		if strings.ContainsFunc(credential.text, unicode.IsControl) {
			return invalid("%s holds control characters: often the line break of the file it was read from", credential.field)
		}
	}
	return nil
}

// parts returns what tells a credential from every other.
func (c CredencialesSOL) parts() []string { return []string{c.RUC, c.Usuario, c.Clave.text()} }

// solGuard keeps a SOL user from being blocked by us, with what this process and its fleet know of each
// credential.
type solGuard struct {
	here   *solguard.Guard
	fleet  *fleet        // nil for none
	memory time.Duration // of a verdict
}

// enter waits, at most for patience, until the credential may be sent, and refuses one that is known to
// be refused. What it returns must be told what came of it. A call without a credential need not wait.
func (g *solGuard) enter(ctx context.Context, c *CredencialesSOL, patience time.Duration) (leave func(solguard.Verdict), err error) {
	if c == nil {
		return func(solguard.Verdict) {}, nil
	}
	turn, err := g.here.Enter(ctx, g.here.ID(c.parts()...), patience)
	if err != nil {
		return nil, err
	}
	claim := &Claim{State: ClaimProven} // where it needs no proof, this process knows that it is good
	if turn.Prover {
		claim, err = g.fleet.claim(ctx, c.parts(), patience)
		known := verdictOf(claim)
		if err == nil && known == solguard.Rejected {
			err = &solguard.Refused{Since: claim.Since}
		}
		if err != nil || known == solguard.Proven {
			g.here.Leave(turn, known)
			turn.Prover = false
		}
		if err != nil {
			return nil, err
		}
	}
	return func(v solguard.Verdict) {
		g.here.Leave(turn, v)
		g.fleet.conclude(c.parts(), claim, v, g.memory)
	}, nil
}

// forget lets a refused credential be sent again.
func (g *solGuard) forget(c CredencialesSOL) {
	g.here.Forget(g.here.ID(c.parts()...))
	g.fleet.forget(c.parts())
}
