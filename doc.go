// Package fiscope is a client for a Peruvian fiscal data service with four operations: look up a
// taxpayer by RUC, search taxpayers by name, validate an electronic receipt (CPE), and get the official
// USD/PEN exchange rate.
//
//	client, err := fiscope.NewClient("https://api.example.com", apiKey)
//	...
//	c, err := client.Contribuyentes.Consultar(ctx, "20131312955")
//	rs, err := client.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: "gloria", Limite: 20})
//	v, err := client.CPE.Validar(ctx, comprobante, credenciales)
//	tc, err := client.TipoCambio.Consultar(ctx, fiscope.NewFecha(2026, time.November, 20))
//
// Every operation takes a context, its input and options of the one call, and returns a result or an
// error. A result is nil if and only if the error is not nil; a search without matches is an empty,
// non-nil slice. A Client is safe for concurrent use; make one for each process and share it.
//
// # Errors
//
// Every error of an operation is an [*Error]. Ask for its class with [errors.Is] and the sentinels
// ([ErrNotFound], [ErrInvalidRequest], [ErrUnavailable], ...), and for its details with [errors.As].
// Its text is one line and safe to log: it holds no credential, and a RUC in it shows its first two and
// last three digits.
//
// # One careful client
//
// A Client refuses what the service would refuse before a query is spent, never follows a redirect, stops
// at the end of the quota as the headers tell it ([WithQuotaReserve] keeps the last queries for others),
// never sends a refused clave again, and tries a GET again a few times and a receipt never. Its guards are
// its own: make one for each process, and call [Client.Close] before it ends. [WithCache] and [WithCoalescing] make one query of many calls, and
// [WithStore] shares answers, quota and guard with other processes (package redisstore). [Client.Stats]
// counts what was sent and what was avoided; [WithLogger] and [WithObserver] show each attempt, with its error,
// whose class [ErrorClass] names in a word; and [WithHook] is called around each operation, for a span. Package
// otelfiscope makes spans and metrics of OpenTelemetry of them.
//
// # What is built on the four operations
//
// [TipoCambioService.SUNAT] and [TipoCambioService.UltimoPublicado] find the rate that holds for a date,
// [CPEService.Esperar] waits for a receipt that is "En Proceso", and [ContribuyentesService.ConsultarLote]
// and [CPEService.ValidarLote] work through many inputs and stop cleanly at the quota; a [Progress] knows what
// earlier runs were answered. [ValidarRUC],
// [ParseSerieNumero], [Contribuyente.ActivoYHabido] and [Fecha.DiaHabil] spend nothing.
//
// [TipoCambioService.Mes] gets the rates of a month, and [TipoCambioService.MasReciente] the last that is out.
// [ParseComprobante] reads the name of a receipt's file, and [ParseQR] the code on a printed one; [RUCDeDNI] and
// [Fecha.SumarDiasHabiles] reckon; [TextoParaUsuario] says in Spanish what a clerk may read of an error.
//
// # Names
//
// The domain speaks Spanish, with the words of the service's contract; the plumbing speaks the English
// of every Go library. What the contract states is quoted in these docs by its section, as in
// "docs/contrato.md, 4.1".
//
// The package mockserver is the service, reimplemented for your tests; [WithClock] gives a Client its clock, and
// an [*Error] can be made by hand.
package fiscope
