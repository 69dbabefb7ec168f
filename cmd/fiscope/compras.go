package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
)

// The states of a row of compras, in the order of the report. Only the first may be paid.
var (
	comprasPay     = &state{"se puede pagar", ": aceptado, de un emisor activo y habido", allWell}
	comprasNote    = &state{"válida", ": nota de crédito aceptada; no se paga", allWell}
	comprasDoubt   = &state{"aceptado con reparo", ": puede perder el crédito fiscal", problem}
	comprasTwice   = &state{"repetido", ": vale lo que se dice de la otra línea", problem}
	comprasVoid    = &state{"anulado", ": no lo pague", problem}
	comprasNone    = &state{"no existe", ": una boleta puede tardar 7 días en figurar", problem}
	comprasWrong   = &state{"fila con error", ": corrija la línea", problem}
	comprasWaiting = &state{"pendiente", ": no lo pague todavía; repita más tarde", unfinished}
	comprasOther   = &state{"no se valida", ": solo se validan 01, 03, 07 y 08", allWell}
	comprasStates  = []*state{comprasPay, comprasNote, comprasDoubt, comprasTwice, comprasVoid, comprasNone, comprasWrong, comprasWaiting, comprasOther}
	comprasTitles  = []string{"comprobante", "codigo_sunat", "mensaje_sunat", "estado_emisor", "condicion_emisor", "consultado"}
)

func runCompras(ctx context.Context, cmd *cli.Command) error {
	b, err := openBatch(cmd, func(t *table) (columns, error) { return t.findPurchases(cmd.StringSlice("columna")) })
	defer b.close()
	if err != nil {
		return err
	}
	rows, lines := []purchase{}, map[string]int{}
	b.receipts = map[string]fiscope.Comprobante{}
	for _, r := range b.rows {
		p := b.columns.read(r)
		key := ""
		switch {
		case p.wrong != "":
			b.bad++
		case !p.other:
			key = p.receipt.String()
			b.receipts[key] = p.receipt
			p.same = lines[key]
			lines[key] = cmp.Or(p.same, r.line)
		}
		rows, b.inputs = append(rows, p), append(b.inputs, key)
	}
	b.queries = map[string]int{"comprobantes": len(b.left(b.inputs, true)), "emisores": len(b.left(b.issuers(true), true))}
	return b.run(func() {
		for _, all := range []bool{false, true} { // first what was never asked
			b.validate(ctx, b.left(b.inputs, all))
			b.lookUp(ctx, b.left(b.issuers(false), all))
		}
	}, comprasStates, comprasTitles, func(i int) result { return b.judgePurchase(rows[i]) })
}

// validate validates receipts.
func (b *batch) validate(ctx context.Context, keys []string) {
	var left []fiscope.Comprobante
	for _, key := range keys {
		left = append(left, b.receipts[key])
	}
	lines := b.client.CPE.ValidarLote(ctx, slices.Values(left), fiscope.CredencialesSOL{}, fiscope.LotePolicy{Progress: b.kept})
	ask(ctx, b, keys, fiscope.Comprobante.String, lines)
}

// issuers returns the issuers of the accepted receipts, each once, and of those that may be. What is said of a credit note does
// not depend on its issuer.
func (b *batch) issuers(mayBe bool) []string {
	var rucs []string
	for key, receipt := range b.receipts {
		a, v := b.known[key], fiscope.ResultadoCPE{}
		if receipt.Tipo != fiscope.TipoNotaCredito && (json.Unmarshal(a.Answer, &v) == nil && v.EsValido || mayBe && !b.answered(a)) {
			rucs = append(rucs, receipt.RUCEmisor)
		}
	}
	slices.Sort(rucs)
	return slices.Compact(rucs)
}

// judgePurchase decides the state of a row.
func (b *batch) judgePurchase(p purchase) result {
	of := result{state: comprasWaiting, detail: p.wrong, label: p.label, soles: p.soles, cells: make([]string, len(comprasTitles))}
	switch {
	case p.wrong != "":
		of.state = comprasWrong
		return of
	case p.other:
		of.state = comprasOther
		return of
	}
	key := p.receipt.String()
	of.cells[0] = key
	a, v := b.known[key], fiscope.ResultadoCPE{}
	if json.Unmarshal(a.Answer, &v) != nil {
		of.detail = b.notes[key]
		return of
	}
	issuer, rests := fiscope.Contribuyente{}, []fiscope.SavedResult{a}
	of.detail = v.Mensaje
	switch accepted := v.Codigo == fiscope.CodigoAceptado && v.EsValido; {
	case accepted && p.receipt.Tipo == fiscope.TipoNotaCredito:
		of.state, of.detail = comprasNote, ""
	case accepted:
		of.state, of.detail = b.judgeIssuer(p.receipt.RUCEmisor, &issuer)
		rests = append(rests, b.known[p.receipt.RUCEmisor])
	case v.Codigo == fiscope.CodigoAnulado:
		of.state = comprasVoid
	case v.Codigo == fiscope.CodigoNoExiste:
		of.state, of.detail = comprasNone, of.detail+" "+oddSeries(p.receipt, v.Codigo)
	}
	if p.same > 0 {
		of.state, of.detail = comprasTwice, fmt.Sprintf("es el mismo comprobante de la línea %d", p.same)
	}
	of.cells = []string{key, string(v.Codigo), v.Mensaje, string(issuer.Estado), string(issuer.Condicion), b.restOn(&of, comprasWaiting, rests...)}
	return of
}

// judgeIssuer decides by the issuer of an accepted receipt. The SDK knows the registry's spellings, so it compares no texts.
func (b *batch) judgeIssuer(ruc string, issuer *fiscope.Contribuyente) (*state, string) {
	a := b.known[ruc]
	switch known := json.Unmarshal(a.Answer, issuer) == nil; {
	case known && a.Pending:
		return comprasWaiting, fmt.Sprintf("aceptado; el emisor figura %s, %s: %s", issuer.Estado, issuer.Condicion, byRegistry+dayOf(a))
	case known && issuer.ActivoYHabido():
		return comprasPay, ""
	case known:
		return comprasDoubt, fmt.Sprintf("el emisor está %s, %s", issuer.Estado, issuer.Condicion)
	case isAnswer(a):
		return comprasDoubt, "el emisor no figura en el padrón del RUC"
	}
	return comprasWaiting, "aceptado; falta consultar a su emisor. " + b.notes[ruc]
}
