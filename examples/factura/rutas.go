package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/fiscope/fiscope"
)

// servicio answers our own requests, with what it asks of the fiscal data service. An invoice without a date is
// of the day that ahora shows in Lima: [time.Now], or a mock's clock, which the client then goes by too.
type servicio struct {
	client   *fiscope.Client
	ahora    func() time.Time
	registro *slog.Logger
}

func nuevoServicio(client *fiscope.Client, ahora func() time.Time, registro *slog.Logger) *servicio {
	return &servicio{client, ahora, registro}
}

func (s *servicio) rutas() http.Handler {
	rutas := http.NewServeMux()
	rutas.Handle("GET /clientes/{ruc}", s.ruta(s.verCliente))
	rutas.Handle("POST /facturas", s.ruta(s.crearFactura))
	rutas.Handle("GET /salud", s.ruta(func(*http.Request) (any, error) {
		return map[string]string{"estado": "ok"}, nil // it asks nothing of anybody: a probe each second is free
	}))
	rutas.Handle("/clientes/{ruc}", s.ruta(metodo("GET")))
	rutas.Handle("/facturas", s.ruta(metodo("POST")))
	rutas.Handle("/", s.ruta(func(*http.Request) (any, error) {
		return nil, &fallo{404, "ruta_no_existe", "Esa ruta no existe: hay GET /clientes/{ruc} y POST /facturas.", 0}
	}))
	return rutas
}

func metodo(cual string) func(*http.Request) (any, error) {
	return func(*http.Request) (any, error) {
		return nil, &fallo{405, "metodo", "Aquí se usa " + cual + ".", 0}
	}
}

func (s *servicio) verCliente(r *http.Request) (any, error) {
	return s.cliente(r.Context(), r.PathValue("ruc"))
}

const mayorPedido = 256 << 10

func (s *servicio) crearFactura(r *http.Request) (any, error) {
	// A web page of another origin cannot send this type without asking first.
	if tipo, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); tipo != "application/json" {
		return nil, &fallo{415, "tipo_de_contenido", "Envíe Content-Type: application/json.", 0}
	}
	var p pedido
	lector := json.NewDecoder(r.Body)
	lector.DisallowUnknownFields() // "fehca" must not mean "today"
	if err := lector.Decode(&p); err != nil {
		return nil, jsonInvalido(err)
	}
	if _, err := lector.Token(); !errors.Is(err, io.EOF) {
		return nil, invalido("hay algo después del JSON")
	}
	return s.factura(r.Context(), p)
}

// ruta gives a request its deadline, writes its answer and logs it. The log has the pattern and not the
// path: the RUC of a person holds a DNI.
func (s *servicio) ruta(responder func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inicio := time.Now()
		ctx, cancel := context.WithTimeout(r.Context(), plazoDePedido)
		defer cancel()
		r.Body = http.MaxBytesReader(w, r.Body, mayorPedido)
		valor, err := responder(r.WithContext(ctx))
		estado, nivel := http.StatusOK, slog.LevelInfo
		campos := []slog.Attr{slog.String("ruta", r.Pattern), slog.String("metodo", r.Method)}
		switch f := clasificar(err); {
		case err == nil:
		case r.Context().Err() != nil: // nobody is there to read it
			estado = 499
		default:
			if estado, valor = f.estado, f; estado >= 500 {
				nivel = slog.LevelError
			}
			if f.reintentar > 0 {
				w.Header().Set("Retry-After", strconv.Itoa(int(f.reintentar.Seconds())+1))
			}
			campos = append(campos, slog.String("codigo", f.codigo), slog.Any("error", err))
		}
		if estado != 499 {
			escribir(w, estado, valor)
		}
		campos = append(campos, slog.Int("estado", estado), slog.Duration("duracion", time.Since(inicio)))
		s.registro.LogAttrs(ctx, nivel, "pedido", campos...)
	})
}

func escribir(w http.ResponseWriter, estado int, valor any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(estado)
	escritor := json.NewEncoder(w)
	escritor.SetEscapeHTML(false)
	escritor.SetIndent("", "  ")
	_ = escritor.Encode(valor) // a client that left is not our failure
}
