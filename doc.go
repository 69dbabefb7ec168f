// Package fiscope is a client for a Peruvian fiscal data service. It looks up a taxpayer by RUC, searches taxpayers by
// name, validates an electronic receipt (CPE), and gets the official USD/PEN exchange rate.
//
//	client, err := fiscope.NewClient("https://api.example.com", apiKey)
//	...
//	c, err := client.Contribuyentes.Consultar(ctx, "20131312955")
//	rs, err := client.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: "gloria", Limite: 20})
//	v, err := client.CPE.Validar(ctx, comprobante, credenciales)
//	tc, err := client.TipoCambio.SUNAT(ctx, fecha) // the rate of an invoice of that date
//
// Every operation takes a context, its input and options for this call. It returns a result or an error: a result is
// nil if and only if the error is not nil. A search without matches is an empty, non-nil slice.
//
// Make one Client for each process, share it, and call client.Close(ctx) before the process ends. It checks input before a
// query is spent, stops when the quota is spent, and does not send a refused clave again for a day. A failed GET is
// retried a few times, after a 500 once; Validar, by default, never. [WithCache], [WithRespaldo] and [WithStore] help while the service
// is away; [WithLogger], [WithObserver] and [WithHook] show what happens.
//
// # Errors
//
// Every error of an operation is an [*Error]. Check its class with [errors.Is] and the sentinels ([ErrNotFound],
// [ErrUnavailable], ...), and read its details with [errors.As]. Its text is one line and safe to log: it holds no
// credential, and only the first two and last three digits of a RUC.
//
// # Tasks
//
//	a month of rates                 client.TipoCambio.Mes
//	a month of receipts              client.CPE.ValidarLote with LotePolicy.Progress: NewResultsFile
//	a receipt in process; the quota  client.CPE.Esperar; client.RateLimit, client.Stats
//
// Names of the domain are Spanish, as in the service's contract. "docs/contract.md, 4.1" is a section of it. Package
// mockserver plays the service in your tests.
package fiscope
