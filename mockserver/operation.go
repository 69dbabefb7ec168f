package mockserver

// Operation names one of the four endpoints of docs/contrato.md, 4, in faults and in the journal.
type Operation string

// The operations.
const (
	OpConsultar  Operation = "consultar"  // lookup (4.1)
	OpBuscar     Operation = "buscar"     // search (4.2)
	OpValidar    Operation = "validar"    // receipt validation (4.3)
	OpTipoCambio Operation = "tipocambio" // exchange rate (4.4)
)

// Operations returns the four operations.
func Operations() []Operation { return []Operation{OpConsultar, OpBuscar, OpValidar, OpTipoCambio} }
