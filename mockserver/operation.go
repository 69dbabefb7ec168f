package mockserver

// Operation names one of the four operations of docs/contract.md, 4.
type Operation string

// The operations.
const (
	OpConsultar  Operation = "consultar"  // lookup (4.1)
	OpBuscar     Operation = "buscar"     // search (4.2)
	OpValidar    Operation = "validar"    // receipt validation (4.3)
	OpTipoCambio Operation = "tipocambio" // exchange rate (4.4)
)

var operations = []Operation{OpConsultar, OpBuscar, OpValidar, OpTipoCambio}
