package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

const (
	plazoDePedido = 20 * time.Second // one request of ours, with all that it asks of the service
	plazoDeCierre = 25 * time.Second // the requests in flight, once we are told to stop
)

// servir serves until the context ends (SIGTERM). Then it takes no new request, lets those in flight end,
// and returns: an orchestrator that replaces the process loses no invoice.
func servir(ctx context.Context, escucha net.Listener, rutas http.Handler) error {
	servidor := &http.Server{ // a client that is slow or silent holds no connection for long
		Handler:           rutas,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      plazoDePedido + 10*time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	fin := make(chan error, 1)
	go func() { fin <- servidor.Serve(escucha) }()
	select {
	case err := <-fin:
		return err
	case <-ctx.Done():
	}
	plazo, cancel := context.WithTimeout(context.WithoutCancel(ctx), plazoDeCierre)
	defer cancel()
	err := servidor.Shutdown(plazo)
	if err != nil {
		_ = servidor.Close()
	}
	if served := <-fin; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
