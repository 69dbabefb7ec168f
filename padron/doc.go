// Package padron indexes SUNAT's reduced registry of taxpayers, a public file of 18 million rows, in one file. It finds
// a taxpayer by RUC in microseconds, and searches names by relevance.
//
//	report, err := padron.Import(ctx, "padron_reducido_ruc.zip", "padron.idx", padron.ImportOptions{}) // a minute, once a day
//	registry, err := padron.Follow("padron.idx") // from then on the newest import; Open stays with one
//	found, err := registry.Buscar(ctx, "panaderia", 10)
//	client, err := fiscope.NewClient(url, key, fiscope.WithRespaldo(registry)) // it answers while the service cannot
package padron
