package fiscope

import "time"

func (q cambio) key() cacheKey { return cacheKey{op: OpConsultarTipoCambio, fecha: q.fecha} }

func (q cambio) lifetime(_ CachePolicy, _ *TipoCambio, found bool, now time.Time) time.Duration {
	return rateLifetime(q.fecha, found, now)
}

func (q cambio) copy(tc *TipoCambio) *TipoCambio {
	own := *tc
	return &own
}

func (q cambioDeHoy) key() cacheKey { return cacheKey{op: OpTipoCambioHoy, fecha: q.hoy} }

func (q cambioDeHoy) lifetime(_ CachePolicy, tc *TipoCambio, found bool, now time.Time) time.Duration {
	if found && tc.Fecha != q.hoy {
		return 0 // the service's clock is not ours: who knows for how long
	}
	return rateLifetime(q.hoy, found, now)
}

func (q cambioDeHoy) copy(tc *TipoCambio) *TipoCambio { return cambio{}.copy(tc) }

// mayStillCome is for how long after its hour the rate of a business day may still be published.
const mayStillCome = 10 * 24 * time.Hour

// rateLifetime is how long it stays true that a date has this rate, or none.
func rateLifetime(fecha Fecha, found bool, now time.Time) time.Duration {
	const (
		whenRecent = 15 * time.Minute
		whenOld    = 24 * time.Hour
	)
	published := fecha.Publicacion()
	switch {
	case found && fecha.Compare(FechaEnLima(now)) < 0:
		return forGood
	case found:
		return FechaEnLima(now).AddDays(1).En(Lima).Sub(now)
	case !fecha.DiaHabil():
		return forGood
	case now.Before(published):
		return published.Sub(now)
	case now.Before(published.Add(mayStillCome)):
		return whenRecent
	}
	return whenOld
}
