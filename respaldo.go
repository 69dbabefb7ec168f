package fiscope

import "context"

// Respaldo is a registry at hand, of an earlier day: it answers a lookup where the service cannot be asked, see
// [WithRespaldo]. It is safe for concurrent use.
type Respaldo interface {
	// Contribuyente returns the record of a RUC, which is 11 digits, and the day that its data is of; the zero
	// Fecha where that is not known. What the registry does not have is empty. The error of a RUC that it lacks is
	// an ErrNotFound. The record is copied, and not changed.
	Contribuyente(ctx context.Context, ruc string) (*Contribuyente, Fecha, error)
}
