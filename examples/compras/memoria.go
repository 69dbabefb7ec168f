package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fiscope/fiscope"
)

// memoria remembers in a folder which SOL credentials were refused. The SDK does so within a process; a
// cron job is a new process each time, and one that tries a wrong clave every hour blocks the SOL user. It
// is the part of a [fiscope.Store] that a single machine needs: answers and the quota are not shared.
//
// A credential is a file, named with the hash that the SDK gives, which reveals nothing of the clave. It
// is empty while the credential is tried for the first time, and says "rechazada" from then on: until the
// clave is another one, or until -olvidar-clave.
type memoria struct{ carpeta string }

const rechazada = "rechazada\n"

func carpetaPorDefecto() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "" // a cron job without HOME: -memoria is needed
	}
	return filepath.Join(cache, "fiscope-compras")
}

// abrirMemoria fails where nothing could be remembered, before a clave is sent.
func abrirMemoria(carpeta string) (memoria, error) {
	if carpeta == "" {
		return memoria{}, errors.New("indique la carpeta con -memoria")
	}
	if err := os.MkdirAll(carpeta, 0o700); err != nil {
		return memoria{}, err
	}
	prueba, err := os.CreateTemp(carpeta, "prueba-")
	if err != nil {
		return memoria{}, err
	}
	return memoria{carpeta}, errors.Join(prueba.Close(), os.Remove(prueba.Name()))
}

func (m memoria) de(credential string) string { return filepath.Join(m.carpeta, credential) }

// Claim lets one process at a time try a credential of which nothing is known.
func (m memoria) Claim(_ context.Context, credential string, hold time.Duration) (fiscope.Claim, error) {
	f, err := os.OpenFile(m.de(credential), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		return fiscope.Claim{State: fiscope.ClaimGranted}, f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return fiscope.Claim{}, err
	}
	busy := fiscope.Claim{State: fiscope.ClaimBusy}
	texto, err := os.ReadFile(m.de(credential))
	if errors.Is(err, fs.ErrNotExist) { // the other process is done
		return busy, nil
	}
	info, errStat := os.Stat(m.de(credential))
	if err = errors.Join(err, errStat); err != nil {
		return busy, err
	}
	switch since := info.ModTime(); {
	case len(texto) > 0:
		return fiscope.Claim{State: fiscope.ClaimRefused, Since: since}, nil
	case time.Since(since) > hold: // the other process died
		return fiscope.Claim{State: fiscope.ClaimGranted}, os.Chtimes(m.de(credential), time.Time{}, time.Now())
	}
	return busy, nil
}

// Conclude remembers a refusal for good: a wrong clave does not become right with time.
func (m memoria) Conclude(_ context.Context, credential string, _ fiscope.Claim, v fiscope.Verdict, _ time.Duration) error {
	if v == fiscope.VerdictRefused {
		return os.WriteFile(m.de(credential), []byte(rechazada), 0o600)
	}
	return m.Forget(context.Background(), credential)
}

// Forget makes a credential one of which nothing is known.
func (m memoria) Forget(_ context.Context, credential string) error {
	if err := os.Remove(m.de(credential)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Load, Save, Reserve and Settle share nothing: one run needs no more than its own memory.

func (memoria) Load(context.Context, string) ([]byte, error) { return nil, nil }

func (memoria) Save(context.Context, string, []byte, time.Duration) error { return nil }

func (memoria) Reserve(context.Context, string, int) (fiscope.Reservation, error) {
	return fiscope.Reservation{Grant: fiscope.QuotaGranted}, nil
}

func (memoria) Settle(context.Context, string, fiscope.Reservation, fiscope.Outcome) error {
	return nil
}
