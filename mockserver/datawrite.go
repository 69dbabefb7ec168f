package mockserver

import (
	"encoding/json"
	"io"
	"os"
)

// Write writes d as the indented JSON that [ReadData] reads, claves and keys included.
func (d Data) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false) // a name such as "A & B" is to be read by people
	return e.Encode(d)
}

// Save writes d to a file, for [LoadData], that only its owner can read.
func (d Data) Save(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the caller's own file is what it is for
	if err != nil {
		return err
	}
	err = d.Write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
