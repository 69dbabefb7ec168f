package main

import (
	"archive/zip"
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// row is a taxpayer of the registry's file.
type row struct {
	ruc                                      int64
	nombre, estado, condicion, ubigeo, calle string
}

// eachRow calls each for the rows of a generated registry that are taken, duplicates too. It has the rules of package
// padron and none of its code: SQLite and the scan get what a program by hand would give them.
func eachRow(registry string, each func(row) error) error {
	archive, err := zip.OpenReader(registry)
	if err != nil {
		return err
	}
	defer archive.Close() //nolint:errcheck // it was only read
	text, err := archive.File[0].Open()
	if err != nil {
		return err
	}
	defer text.Close()
	lines := bufio.NewScanner(charmap.Windows1252.NewDecoder().Reader(text))
	lines.Scan() // the header
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "|")
		if len(fields) != 16 || fields[15] != "" {
			continue
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		ruc, err := strconv.ParseUint(fields[0], 10, 63)
		if err != nil || len(fields[0]) != 11 {
			continue
		}
		var calle []string
		for _, field := range fields[5:15] {
			if !isEmpty(field) {
				calle = append(calle, field)
			}
		}
		r := row{int64(ruc), fields[1], fields[2], fields[3], fields[4], strings.Join(calle, " ")}
		if isEmpty(r.nombre) {
			r.nombre = ""
		}
		if isEmpty(r.ubigeo) {
			r.ubigeo = ""
		}
		if err := each(r); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", registry, err)
	}
	return nil
}

func isEmpty(field string) bool { return strings.Trim(field, "-. ") == "" }
