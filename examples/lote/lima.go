package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/fiscope/fiscope"
)

// cuandoSeguir says when the quota begins anew, as the service's headers told it.
func cuandoSeguir(client *fiscope.Client, causa error) string {
	var e *fiscope.Error
	switch q := client.RateLimit(); {
	case q != nil && !q.Reset.IsZero():
		return "Se renueva el " + enLima(q.Reset) + "."
	case errors.As(causa, &e) && e.RetryAfter > 0:
		return "Se renueva el " + enLima(time.Now().Add(e.RetryAfter)) + "."
	}
	return "El servicio no dice cuándo se renueva: suele ser a la medianoche de Lima."
}

var (
	dias  = [...]string{"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"}
	meses = [...]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "setiembre", "octubre", "noviembre", "diciembre"}
)

// enLima writes an instant as a clock on a wall in Lima shows it.
func enLima(t time.Time) string {
	t = t.In(fiscope.Lima)
	return fmt.Sprintf("%s %d de %s de %d a las %s, hora de Lima", dias[t.Weekday()], t.Day(), meses[t.Month()-1], t.Year(), t.Format("15:04"))
}

// miles writes 5000 as "5 000".
func miles(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
