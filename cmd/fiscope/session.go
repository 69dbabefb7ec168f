package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/filestore"
	"github.com/fiscope/fiscope/internal/lockfile"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/padron"
)

var (
	padronFlag = &cli.StringFlag{Name: "padron", DefaultText: "ÍNDICE", Usage: "el índice de «fiscope-mock padron import»: responde si el servicio se cae", Local: true}
	memoryFlag = &cli.StringFlag{Name: "memoria", DefaultText: "CARPETA", Usage: "dónde se recuerda una clave SOL rechazada; si no, la de caché del usuario", Local: true}
	forgetFlag = &cli.BoolFlag{Name: "olvidar-clave", Usage: "envía otra vez una clave SOL que fue rechazada", Local: true}
)

// flags returns the common flags and a command's own.
func flags(own ...cli.Flag) []cli.Flag {
	return append(own,
		&cli.BoolFlag{Name: "json", Usage: "la respuesta en JSON", Local: true},
		&cli.BoolFlag{Name: "mock", Usage: "pregunta a un mock en este proceso: los datos son inventados", Local: true})
}

// session is a command's client and its output.
type session struct {
	printer
	cmd     *cli.Command
	client  *fiscope.Client
	service string // its name in a results file
	closers []io.Closer
	set     []string // the variables that came from a file
}

// connect makes a command's client from its flags and the environment. The session is to be closed, also after an error.
func connect(cmd *cli.Command, opts ...fiscope.Option) (s *session, err error) {
	s = &session{printer: newPrinter(cmd), cmd: cmd}
	opts = append(opts, fiscope.WithUserAgent("fiscope-cli"), fiscope.WithStrictRUC()) // a mistyped RUC costs nothing
	if file := cmd.String("padron"); file != "" {
		if _, err := os.Stat(file); err != nil {
			return s, err
		}
		index, err := padron.Open(file)
		if err != nil {
			return s, fmt.Errorf("-padron: %w", err)
		}
		s.closers = append(s.closers, index)
		opts = append(opts, fiscope.WithRespaldo(index))
	}
	if cmd.Bool("mock") {
		return s, s.useMock(opts)
	}
	if err := s.readSettings(); err != nil {
		return s, terminal.Wrong(err, "")
	}
	if cmd.Name == "cpe" || cmd.Name == "compras" {
		if _, err := fiscope.CredencialesSOLFromEnv(); err != nil {
			return s, wrongVariable(err)
		}
		memory, err := openMemory(cmd.String("memoria"))
		if err != nil {
			return s, fmt.Errorf("sin una carpeta donde recordar una clave SOL rechazada no se envía ninguna (-memoria): %w", err)
		}
		opts = append(opts, fiscope.WithStore(memory))
	}
	if s.client, err = fiscope.NewClientFromEnv(opts...); err != nil {
		return s, wrongVariable(err)
	}
	s.service = s.client.String()
	if cmd.Bool("olvidar-clave") {
		credenciales, _ := fiscope.CredencialesSOLFromEnv() // already checked above
		return s, s.client.CPE.Olvidar(context.Background(), credenciales)
	}
	return s, nil
}

// wrongVariable names the unset variable; otherwise it says what they all must be. The SDK's texts are in English.
func wrongVariable(err error) error {
	must := "FISCOPE_BASE_URL debe ser como https://api.ejemplo.pe (con http, de esta máquina), y FISCOPE_API_KEY va sin espacios"
	if rest, ok := strings.CutPrefix(err.Error(), "fiscope: the variable "); ok {
		name, _, _ := strings.Cut(rest, " ")
		must = "falta la variable " + name
	} else if strings.Contains(err.Error(), "FISCOPE_SOL_RUC") {
		must = "FISCOPE_SOL_RUC, FISCOPE_SOL_USUARIO y FISCOPE_SOL_CLAVE deben ser las de un usuario SOL secundario"
	}
	return terminal.Wrong(errors.New(must), "")
}

// mockService is the name of a mock in the process in a results file.
const mockService = "mock"

func (s *session) useMock(opts []fiscope.Option) error {
	mock, err := mockserver.Start(mockserver.WithQuota(1_000_000)) // enough for a large file
	if err != nil {
		return err
	}
	s.closers = append(s.closers, mock)
	s.service = mockService
	s.client = mock.Client(append(opts, fiscope.WithSOL(fiscope.CredencialesSOL{
		RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(mockserver.ClaveSOL),
	}))...)
	s.note("Responde un mock: sus datos son inventados.")
	return nil
}

// openMemory opens the file that remembers a refused clave between runs: a cron job that tries a wrong clave every hour
// blocks the SOL user.
func openMemory(folder string) (*filestore.Store, error) {
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, errors.New("este usuario no tiene una de caché")
		}
		folder = filepath.Join(cache, "fiscope")
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	return openStore(filepath.Join(folder, "memoria"))
}

func openStore(file string) (*filestore.Store, error) {
	memory, err := filestore.New(file)
	if err != nil && !errors.As(err, new(*fs.PathError)) && !errors.Is(err, lockfile.ErrLocked) {
		err = fmt.Errorf("%s recuerda si la clave SOL fue rechazada, y está dañado. Puede renombrarlo, pero revise antes la clave: se probará otra vez aunque ya fuera rechazada", file)
	}
	return memory, err
}

// variables are those that the SDK reads.
var variables = []string{"FISCOPE_BASE_URL", "FISCOPE_API_KEY", "FISCOPE_INSECURE_HTTP", "FISCOPE_SOL_RUC", "FISCOPE_SOL_USUARIO", "FISCOPE_SOL_CLAVE"}

// readSettings sets the variables from the file fiscope/env in the user's folder for settings, until the session closes. If
// one is set already it reads nothing, so that no file sends a key to another address.
func (s *session) readSettings() error {
	folder, err := os.UserConfigDir()
	if err != nil || slices.ContainsFunc(variables, func(name string) bool { return os.Getenv(name) != "" }) {
		return nil //nolint:nilerr // a user without such a folder has no file
	}
	file := filepath.Join(folder, "fiscope", "env")
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // the user's own file
	switch {
	case err != nil:
		return err
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s tiene claves y no es solo de usted: corríjalo con chmod 600", file)
	}
	for n, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !ok || !slices.Contains(variables, name) {
			return fmt.Errorf("%s, línea %d: va como FISCOPE_API_KEY=valor, con una de las seis variables de fiscope", file, n+1)
		}
		_ = os.Setenv(name, strings.TrimSpace(value))
		s.set = append(s.set, name)
	}
	return nil
}

func (s *session) close() {
	if s.client != nil {
		_ = s.client.Close(context.Background()) // its queries have their own timeouts
	}
	for _, c := range s.closers {
		_ = c.Close() // only read
	}
	for _, name := range s.set {
		_ = os.Unsetenv(name)
	}
}
