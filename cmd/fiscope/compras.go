package main

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
)

// The states of a row of compras, in the order of the report. Only the first may be paid.
var (
	comprasPay      = &state{"se puede pagar", ": aceptado, de un emisor activo y habido", allWell}
	comprasDoubt    = &state{"aceptado con reparo", ": puede perder el crédito fiscal", problem}
	comprasTwice    = &state{"repetido", ": vale lo que se dice de la otra línea", problem}
	comprasVoid     = &state{"anulado", ": no lo pague", problem}
	comprasNone     = &state{"no existe", ": una boleta puede tardar 7 días en figurar", problem}
	comprasWrong    = &state{"fila con error", ": corrija la línea", problem}
	comprasIssuer   = &state{"emisor sin consultar", ": aceptado; no lo pague todavía", unfinished}
	comprasProcess  = &state{"en proceso", ": repita más tarde", unfinished}
	comprasUnknown  = &state{"error", ": no se sabe nada de él, repita más tarde", unfinished}
	comprasWaiting  = &state{"sin validar", ": no lo pague", unfinished}
	comprasStates   = []*state{comprasPay, comprasDoubt, comprasTwice, comprasVoid, comprasNone, comprasWrong, comprasIssuer, comprasProcess, comprasUnknown, comprasWaiting}
	comprasTitles   = []string{"comprobante", "codigo_sunat", "mensaje_sunat", "estado_emisor", "condicion_emisor", "consultado"}
	stateOfReceipts = map[fiscope.CodigoCPE]*state{
		fiscope.CodigoAnulado: comprasVoid, fiscope.CodigoNoExiste: comprasNone, fiscope.CodigoEnProceso: comprasProcess,
	}
)

// purchase is a parsed row.
type purchase struct {
	receipt fiscope.Comprobante
	wrong   string // why it cannot be validated
	same    int    // the line with the same receipt; 0 for none
	label   string
}

func runCompras(ctx context.Context, cmd *cli.Command, input string) error {
	var columns columns
	b, err := openBatch(cmd, input, func(t *table) (err error) {
		columns, err = t.findPurchases()
		return err
	})
	if err != nil {
		return err
	}
	defer b.close()
	rows, inputs, bad := []purchase{}, []string{}, 0
	lines, receipts := map[fiscope.Comprobante]int{}, map[string]fiscope.Comprobante{}
	for _, r := range b.rows {
		p := columns.read(r)
		key := ""
		if p.wrong == "" {
			key = p.receipt.String()
			receipts[key] = p.receipt
			p.same = lines[p.receipt]
			if p.same == 0 {
				lines[p.receipt] = r.line
			}
		} else {
			bad++
		}
		rows, inputs = append(rows, p), append(inputs, key)
	}
	var left []fiscope.Comprobante
	for _, key := range b.pending(inputs) {
		left = append(left, receipts[key])
	}
	end := b.begin(len(left), bad)
	err = b.validate(ctx, left)
	if err == nil {
		err = b.issuers(ctx, inputs, receipts)
	}
	end()
	if err != nil {
		return err
	}
	return b.finish(comprasStates, comprasTitles, func(i int, answers map[string]answer) result {
		return b.judgePurchase(rows[i], answers)
	})
}

func (b *batch) validate(ctx context.Context, left []fiscope.Comprobante) error {
	begin := func(ctx context.Context, receipts iter.Seq[fiscope.Comprobante], p fiscope.LotePolicy) iter.Seq2[fiscope.LineaLote[fiscope.Comprobante, fiscope.ResultadoCPE], error] {
		return b.client.CPE.ValidarLote(ctx, receipts, fiscope.CredencialesSOL{}, p)
	}
	return ask(ctx, b, left, fiscope.Comprobante.String, begin)
}

// issuers looks up the issuers of the accepted receipts, each once.
func (b *batch) issuers(ctx context.Context, inputs []string, receipts map[string]fiscope.Comprobante) error {
	answers, err := b.answers()
	if err != nil {
		return err
	}
	var rucs []string
	for _, input := range inputs {
		v := fiscope.ResultadoCPE{}
		if answers[input].read(&v) && v.EsValido {
			rucs = append(rucs, receipts[input].RUCEmisor)
		}
	}
	slices.Sort(rucs)
	return b.lookUp(ctx, b.pending(slices.Compact(rucs)))
}

func (b *batch) judgePurchase(p purchase, answers map[string]answer) result {
	of := result{comprasWaiting, "", p.label, make([]string, len(comprasTitles))}
	if p.wrong != "" {
		of.state, of.detail = comprasWrong, p.wrong
		return of
	}
	key := p.receipt.String()
	of.cells[0] = key
	a := answers[key]
	v := fiscope.ResultadoCPE{}
	if !a.read(&v) {
		if of.detail = b.notes[key]; of.detail != "" {
			of.state = comprasUnknown
		}
		return of
	}
	of.cells[1], of.cells[2], of.cells[len(of.cells)-1] = string(v.Codigo), v.Mensaje, a.date
	of.detail = v.Mensaje
	switch known := stateOfReceipts[v.Codigo]; {
	case v.Codigo == fiscope.CodigoAceptado && v.EsValido:
		issuer := fiscope.Contribuyente{}
		b.judgeIssuer(&of, answers[p.receipt.RUCEmisor], &issuer, b.notes[p.receipt.RUCEmisor])
		of.cells[3], of.cells[4] = string(issuer.Estado), string(issuer.Condicion)
	case known != nil:
		of.state = known
	default:
		of.state = comprasUnknown
	}
	if v.Codigo == fiscope.CodigoNoExiste && p.receipt.Advertencia() != "" {
		of.detail += " ¿Está bien escrito? Esa serie no es la usual de ese tipo."
	}
	if p.same > 0 {
		of.state, of.detail = comprasTwice, fmt.Sprintf("es el mismo comprobante de la línea %d", p.same)
	}
	return of
}

// judgeIssuer decides by the issuer. The SDK knows the registry's spellings, so it compares no texts.
func (b *batch) judgeIssuer(of *result, a answer, issuer *fiscope.Contribuyente, note string) {
	switch known := a.read(issuer); {
	case known && a.Pending:
		of.state, of.detail = comprasIssuer, fmt.Sprintf("el emisor figura %s, %s: %s", issuer.Estado, issuer.Condicion, note)
	case known && issuer.ActivoYHabido():
		of.state, of.detail = comprasPay, ""
	case known:
		of.state, of.detail = comprasDoubt, fmt.Sprintf("el emisor está %s, %s", issuer.Estado, issuer.Condicion)
	case a.Error != "" && !a.Pending:
		of.state, of.detail = comprasDoubt, "el emisor no figura en el padrón del RUC"
	default:
		of.state, of.detail = comprasIssuer, note
	}
}
