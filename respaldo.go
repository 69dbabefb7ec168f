package fiscope

import "context"

// Respaldo is a local copy of the registry. It answers a lookup while the service is away, see [WithRespaldo]. It must
// be safe for concurrent use.
type Respaldo interface {
	// Contribuyente returns the record of a RUC of 11 digits, and the day of its data; the zero Fecha if unknown. A field
	// that the registry lacks is empty. If it lacks the RUC, the error is an ErrNotFound.
	Contribuyente(ctx context.Context, ruc string) (*Contribuyente, Fecha, error)
}
