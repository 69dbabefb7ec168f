package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/gateway"
	"github.com/fiscope/fiscope/internal/filewatch"
	"github.com/fiscope/fiscope/internal/serve"
	"github.com/fiscope/fiscope/padron"
)

func serveCommand() *cli.Command {
	variable := func(name string) cli.ValueSourceChain {
		return cli.EnvVars("FISCOPE_SERVE_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
	flag := func(name, value, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, DefaultText: value, Usage: usage, Sources: variable(name), Local: true}
	}
	return &cli.Command{
		Name: "serve", Usage: "el servicio, para programas en cualquier lenguaje", UsageText: "fiscope serve [OPCIONES]", Action: serveContract,
		Description: "Atiende el contrato del servicio, y le pregunta solo lo que no sabe: con caché,\nuna cuota para todos y la clave SOL protegida. El servicio es el de\nFISCOPE_BASE_URL y FISCOPE_API_KEY, y el usuario SOL el de FISCOPE_SOL_RUC,\nFISCOPE_SOL_USUARIO y FISCOPE_SOL_CLAVE. Cada opción tiene además su variable:\nFISCOPE_SERVE_SIN_CACHE=true es -sin-cache.",
		Flags: []cli.Flag{
			flag("addr", "HOST:PUERTO", "dónde escucha: 127.0.0.1:8081 por defecto; el puerto 0 es uno libre"),
			flag("claves", "ARCHIVO", "quién puede llamar: por aplicación, una línea NOMBRE CLAVE, o NOMBRE\n      CLAVE reserva=N, que deja a las demás las últimas N consultas del día.\n      Sin él, los programas de esta máquina, con FISCOPE_API_KEY"),
			flag("estado", "ARCHIVO", "recuerda ahí respuestas, cuota y claves SOL rechazadas"),
			flag("padron", "ÍNDICE", "el de «fiscope-mock padron import»: responde si el servicio se cae, o él\n      solo si no hay FISCOPE_BASE_URL"),
			&cli.DurationFlag{Name: "vencidas", DefaultText: "DURACIÓN", Usage: "cuánto más sirve una respuesta vencida si el servicio se cae: 24h por\n      defecto, 0 para nunca", Value: 24 * time.Hour, Sources: variable("vencidas"), Local: true},
			&cli.BoolFlag{Name: "sin-cache", Usage: "pregunta siempre al servicio", Sources: variable("sin-cache"), Local: true},
			flag("tls-cert", "ARCHIVO", "atiende https con este certificado, en PEM"),
			flag("tls-key", "ARCHIVO", "la llave privada de -tls-cert"),
			flag("log", "FORMATO", "una línea por llamada en stderr: text (por defecto), json u off"),
			flag("metricas", "HOST:PUERTO", "métricas para Prometheus, en /metrics de esa dirección, sin clave"),
		},
	}
}

// drain is how long calls under way may take to finish at a shutdown. The gateway answers those that are cut with a 503.
var drain = 30 * time.Second

func serveContract(ctx context.Context, cmd *cli.Command) error {
	s := &session{printer: newPrinter(cmd)}
	defer s.close()
	handler := map[string]slog.Handler{"text": slog.NewTextHandler(s.err, nil), "json": slog.NewJSONHandler(s.err, nil), "off": slog.DiscardHandler}[cmp.Or(cmd.String("log"), "text")]
	if handler == nil || cmd.NArg() > 0 {
		return terminal.Wrong(errors.New("-log es text, json u off, y serve no lleva argumentos"), cmd.Name)
	}
	log, addr, file := slog.New(handler), cmp.Or(cmd.String("addr"), "127.0.0.1:8081"), cmd.String("claves")
	taken := filewatch.Of(file) // before it is read
	g, metrics, err := s.gateway(cmd, addr, log)
	if err != nil {
		return terminal.Wrong(err, cmd.Name)
	}
	cut, cutAll := context.WithCancel(context.Background())
	defer cutAll()
	bounded := func(h http.Handler) *http.Server {
		return &http.Server{
			Handler: h, ConnContext: func(context.Context, net.Conn) context.Context { return cut }, ErrorLog: slog.NewLogLogger(handler, slog.LevelWarn),
			ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 3 * time.Minute, IdleTimeout: 2 * time.Minute,
		}
	}
	server, err := s.start(addr, cmd.String("tls-cert"), cmd.String("tls-key"), bounded(g))
	if err != nil {
		return err
	}
	if on := cmd.String("metricas"); on != "" {
		other, err := s.start(on, "", "", bounded(metrics))
		if err != nil {
			return errors.Join(err, server.Close(ctx))
		}
		defer func() { _ = other.Close(ctx) }()
	}
	if file != "" {
		go filewatch.Follow(ctx, taken, func() filewatch.State { return filewatch.Of(file) }, func(filewatch.State) {
			keys, err := readKeys(file)
			_ = g.SetKeys(keys) // without keys it changes nothing
			log.Warn("-claves cambió; si hay un error, valen las de antes", "claves", len(keys), "error", err)
		})
	}
	<-ctx.Done()
	defer time.AfterFunc(drain, cutAll).Stop()
	closing, end := context.WithTimeout(context.Background(), drain+5*time.Second)
	defer end()
	return server.Close(closing)
}

// start serves an address, over https if there is a certificate, and prints its URL.
func (s *session) start(addr, cert, key string, of *http.Server) (*serve.Server, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil && cert+key != "" {
		return nil, fmt.Errorf("-tls-cert y -tls-key: %w", err)
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	scheme := "http"
	if cert != "" {
		ln, scheme = tls.NewListener(ln, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), "https"
	}
	s.line("%s://%s", scheme, serve.Host(ln))
	return serve.Start(ln, of), nil
}

// gateway makes the gateway, its client if there is a provider, and what serves the metrics.
func (s *session) gateway(cmd *cli.Command, addr string, log *slog.Logger) (_ *gateway.Gateway, metrics http.Handler, err error) {
	if err := s.readSettings(); err != nil {
		return nil, nil, err
	}
	var o gateway.Options
	if index := cmd.String("padron"); index != "" {
		follower, err := padron.Follow(index, func(_ padron.Info, err error) {
			log.Warn("-padron cambió; si hay un error, vale el de antes", "error", err)
		})
		if err != nil {
			return nil, nil, fmt.Errorf("-padron: %w", err)
		}
		s.closers, o.Registro = append(s.closers, follower), follower
	}
	opts := []fiscope.Option{fiscope.WithUserAgent("fiscope-serve"), fiscope.WithLogger(log)}
	if !cmd.Bool("sin-cache") {
		opts = append(opts, fiscope.WithCache(fiscope.CachePolicy{StaleIfError: cmd.Duration("vencidas")}))
	}
	if file := cmd.String("estado"); file != "" {
		memory, err := openStore(file)
		if err != nil {
			return nil, nil, fmt.Errorf("-estado: %w", err)
		}
		opts = append(opts, fiscope.WithStore(memory))
	}
	if o.Registro == nil || os.Getenv("FISCOPE_BASE_URL") != "" {
		if s.client, err = fiscope.NewClientFromEnv(opts...); err != nil {
			return nil, nil, wrongVariable(err)
		}
	}
	switch host, _, _ := net.SplitHostPort(addr); {
	case cmd.String("claves") != "":
		o.Keys, err = readKeys(cmd.String("claves"))
	case s.client == nil:
		err = errors.New("sin FISCOPE_BASE_URL hace falta -claves")
	case host != "localhost" && !net.ParseIP(host).IsLoopback():
		err = fmt.Errorf("sin -claves, -addr debe ser de esta máquina, como 127.0.0.1:8081: en %s podría llamar cualquiera de la red", addr)
	default:
		o.Keys = []gateway.Key{{Name: "local", Key: os.Getenv("FISCOPE_API_KEY")}}
	}
	if err != nil {
		return nil, nil, err
	}
	observe, metrics := newMetrics(s.client)
	o.Observe = func(ctx context.Context, c gateway.Call) {
		observe(c)
		log.InfoContext(ctx, "llamada", "app", c.App, "op", c.Op, "ruc", c.RUC, "status", c.Status, "code", c.Code, "source", c.Source, "ms", c.Duration.Milliseconds(), "request", c.RequestID)
	}
	g, err := gateway.New(s.client, o)
	return g, metrics, err
}

// readKeys reads the file of -claves. No error shows a key.
func readKeys(file string) (keys []gateway.Key, err error) {
	text, err := os.ReadFile(file) //nolint:gosec // the user's own file
	if err != nil {
		return nil, err
	}
	known := map[string]bool{os.Getenv("FISCOPE_API_KEY"): true} // names and keys
	for i, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields, reserve := strings.Fields(line), 0
		if len(fields) == 3 && strings.HasPrefix(fields[2], "reserva=") {
			reserve, err = strconv.Atoi(fields[2][len("reserva="):])
			fields = fields[:2]
		}
		wrong := ""
		switch {
		case len(fields) == 0:
			continue
		case len(fields) != 2 || err != nil || reserve < 0:
			wrong = "va como NOMBRE CLAVE, o NOMBRE CLAVE reserva=N"
		case !utf8.ValidString(line): // a metric cannot have such a name
			wrong = "no está en UTF-8: guarde así el archivo"
		case utf8.RuneCountInString(fields[1]) < 16:
			wrong = "la clave tiene menos de 16 caracteres"
		case known[fields[0]] || known[fields[1]]:
			wrong = "otra línea, o el servicio, tiene ese nombre o esa clave"
		}
		if wrong != "" {
			return nil, fmt.Errorf("%s, línea %d: %s", file, i+1, wrong)
		}
		known[fields[0]], known[fields[1]] = true, true
		keys = append(keys, gateway.Key{Name: fields[0], Key: fields[1], Reserve: reserve})
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s, línea 1: no hay ninguna clave", file)
	}
	return keys, nil
}

// newMetrics returns what counts a call, and what serves /metrics. client is nil without a provider.
func newMetrics(client *fiscope.Client) (func(gateway.Call), http.Handler) {
	registry := prometheus.NewRegistry()
	metrics := promauto.With(registry)
	calls := metrics.NewCounterVec(prometheus.CounterOpts{Name: "fiscope_calls_total", Help: "Calls of applications."}, []string{"app", "op", "code", "source"})
	duration := metrics.NewHistogramVec(prometheus.HistogramOpts{Name: "fiscope_call_duration_seconds", Help: "Their duration."}, []string{"op"})
	if client != nil {
		metrics.NewCounterFunc(prometheus.CounterOpts{Name: "fiscope_queries_sent_total", Help: "Queries sent to the service."}, func() float64 { return float64(client.Stats().Sent) })
		metrics.NewGaugeFunc(prometheus.GaugeOpts{Name: "fiscope_quota_remaining", Help: "Queries left today; NaN if unknown."}, func() float64 {
			if q := client.RateLimit(); q != nil && q.Remaining != nil {
				return float64(*q.Remaining)
			}
			return math.NaN()
		})
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return func(c gateway.Call) {
		calls.WithLabelValues(c.App, c.Op, c.Code, string(c.Source)).Inc()
		duration.WithLabelValues(c.Op).Observe(c.Duration.Seconds())
	}, mux
}
