package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	_ "modernc.org/sqlite" // SQLite with FTS5, without a C compiler

	"github.com/fiscope/fiscope/internal/relevance"
)

// The taxpayers are a table by RUC. The names are another one, by rank, so that the first rows that FTS5 finds, which
// it does by their number, are the best ones. Neither keeps what the other has.
//
// A name is kept folded and marked: see mark.
const sqliteSchema = `
CREATE TABLE contribuyentes (ruc INTEGER PRIMARY KEY, nombre TEXT, estado TEXT, condicion TEXT, ubigeo TEXT, calle TEXT);
CREATE TABLE nombres (rango INTEGER PRIMARY KEY, ruc INTEGER, marcado TEXT);
CREATE VIRTUAL TABLE trigramas USING fts5(marcado, content=nombres, content_rowid=rango, columnsize=0,
	tokenize='trigram case_sensitive 1');
INSERT INTO trigramas(trigramas, rank) VALUES ('hashsize', 536870912);`

// sqlite is a registry in SQLite.
type sqlite struct {
	*sql.DB
	ranked, unranked, short, whole, beginning, byRUC *sql.Stmt
}

// importSQLite makes the database of a registry. It takes what makes it faster: no journal, memory, and the names as
// they were sorted for the scan.
func importSQLite(ctx context.Context, registry string, n *names, file string) (err error) {
	db, err := sql.Open("sqlite", file+"?_pragma=journal_mode(off)&_pragma=synchronous(off)&_pragma=locking_mode(exclusive)&_pragma=cache_size(-500000)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, sqliteSchema); err != nil {
		return err
	}
	progress("SQLite: taxpayers")
	err = insert(ctx, db, `INSERT OR REPLACE INTO contribuyentes VALUES (?, ?, ?, ?, ?, ?)`, func(do func(...any) error) error {
		return eachRow(registry, func(r row) error { return do(r.ruc, r.nombre, r.estado, r.condicion, r.ubigeo, r.calle) })
	})
	if err != nil {
		return err
	}
	progress("SQLite: names")
	err = insert(ctx, db, `INSERT INTO nombres VALUES (?, ?, ?)`, func(do func(...any) error) error {
		for rank, name := range n.all() {
			if err := do(rank, n.rucs[rank], markWhole(string(name))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, command := range []string{
		`INSERT INTO trigramas(trigramas) VALUES ('rebuild')`, // before there is an index, by which it would read the names
		`INSERT INTO trigramas(trigramas) VALUES ('optimize')`,
		`CREATE INDEX marcados ON nombres (marcado)`,
	} {
		progress("SQLite: " + command)
		if _, err := db.ExecContext(ctx, command); err != nil {
			return err
		}
	}
	return nil
}

// insert has rows inserted in one transaction.
func insert(ctx context.Context, db *sql.DB, query string, rows func(do func(...any) error) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	statement, err := tx.PrepareContext(ctx, query)
	if err == nil {
		err = rows(func(values ...any) error {
			_, err := statement.ExecContext(ctx, values...)
			return err
		})
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func openSQLite(ctx context.Context, file string) (*sqlite, error) {
	db, err := sql.Open("sqlite", file+"?_pragma=query_only(1)&_pragma=cache_size(-1000000)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &sqlite{DB: db}
	const columns = `SELECT ruc, nombre, estado, condicion, ubigeo, calle, rango, marcado FROM `
	// A search is bounded up to its first row: materialized, that is all of it.
	const found = `WITH found(rango) AS MATERIALIZED (%s LIMIT ?) ` + columns +
		`found CROSS JOIN nombres USING (rango) CROSS JOIN contribuyentes USING (ruc) ORDER BY rango`
	for statement, query := range map[**sql.Stmt]string{
		&s.ranked:    fmt.Sprintf(found, `SELECT rowid FROM trigramas WHERE trigramas MATCH ? ORDER BY rowid`),
		&s.unranked:  fmt.Sprintf(found, `SELECT rowid FROM trigramas WHERE trigramas MATCH ?`),
		&s.short:     fmt.Sprintf(found, `SELECT rango FROM nombres WHERE instr(marcado, ?) ORDER BY rango`),
		&s.whole:     fmt.Sprintf(found, `SELECT rango FROM nombres WHERE marcado = ? ORDER BY rango`),
		&s.beginning: fmt.Sprintf(found, `SELECT rango FROM nombres WHERE marcado BETWEEN ?1 AND ?1 || char(0x10FFFF)`),
		&s.byRUC:     `SELECT ruc, nombre, estado, condicion, ubigeo, calle, 0, '' FROM contribuyentes WHERE ruc = ?`,
	} {
		if *statement, err = db.PrepareContext(ctx, query); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", query, err), db.Close())
		}
	}
	return s, nil
}

// manyHits times the limit are so many hits that they are not all taken and sorted.
const manyHits = 10

// search returns the best hits. A text that has few is asked once, and its hits are sorted. One that has many is asked
// by classes until there are enough: what a class finds is also found by the next ones.
func (s *sqlite) search(ctx context.Context, texto string, limit int) ([]hit, error) {
	text, many := mark(relevance.Fold(texto)), manyHits*limit
	inside, err := s.phrase(ctx, s.ranked, text, many)
	if err != nil || len(inside) < many {
		return best(inside, text, limit), err
	}
	beginnings, err := hitsOf(s.beginning.QueryContext(ctx, beginsName+text, many))
	if err != nil {
		return nil, err
	}
	if len(beginnings) == many { // and there may be more
		whole, err := hitsOf(s.whole.QueryContext(ctx, beginsName+text+endsName, limit))
		if err != nil {
			return nil, err
		}
		if beginnings, err = s.phrase(ctx, s.ranked, beginsName+text, limit); err != nil {
			return nil, err
		}
		beginnings = append(beginnings, whole...)
	}
	if found := best(beginnings, text, limit); len(found) == limit {
		return found, nil
	}
	words, err := s.phrase(ctx, s.ranked, beginsWord+text, limit)
	return best(slices.Concat(beginnings, words, inside), text, limit), err
}

// best returns the best of the hits of a text, each once.
func best(hits []hit, text string, limit int) []hit {
	class := func(h hit) int {
		switch {
		case h.marcado == beginsName+text+endsName:
			return classWhole
		case strings.HasPrefix(h.marcado, beginsName+text):
			return classBeginning
		case strings.Contains(h.marcado, beginsWord+text):
			return classWord
		}
		return classInside
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(a.rango, b.rango)) })
	hits = slices.Compact(hits)
	return hits[:min(len(hits), limit)]
}

// searchAny returns the first rows that FTS5 gives, in no order of relevance.
func (s *sqlite) searchAny(ctx context.Context, texto string, limit int) ([]hit, error) {
	return s.phrase(ctx, s.unranked, mark(relevance.Fold(texto)), limit)
}

// phrase returns rows whose marked name holds a phrase. Trigrams find none of less than three characters.
func (s *sqlite) phrase(ctx context.Context, statement *sql.Stmt, phrase string, limit int) ([]hit, error) {
	if utf8.RuneCountInString(phrase) < 3 {
		return hitsOf(s.short.QueryContext(ctx, phrase, limit))
	}
	return hitsOf(statement.QueryContext(ctx, `"`+strings.ReplaceAll(phrase, `"`, `""`)+`"`, limit))
}

// lookup returns the row of a RUC, or none.
func (s *sqlite) lookup(ctx context.Context, ruc int64) ([]hit, error) {
	return hitsOf(s.byRUC.QueryContext(ctx, ruc))
}

// hit is a taxpayer whom a search found, with what it is sorted by.
type hit struct {
	row
	rango   int64
	marcado string
}

func hitsOf(found *sql.Rows, err error) ([]hit, error) {
	if err != nil {
		return nil, err
	}
	defer found.Close() //nolint:errcheck // Err tells it
	var hits []hit
	for found.Next() {
		var h hit
		if err := found.Scan(&h.ruc, &h.nombre, &h.estado, &h.condicion, &h.ubigeo, &h.calle, &h.rango, &h.marcado); err != nil {
			return nil, err
		}
		hits = append(hits, h)
	}
	return hits, found.Err()
}

// The marks of a name. A folded text has no capitals.
const (
	beginsName = "A"
	endsName   = "Z"
	beginsWord = "W"
)

// mark marks where a word of a folded text may begin: after each character that is no letter and no digit. The mark
// takes the place of a blank. So a phrase finds the beginnings of words, and nothing else.
func mark(folded string) string {
	var b strings.Builder
	for _, c := range folded {
		if c != ' ' {
			b.WriteRune(c)
		}
		if !relevance.OfWord(c) {
			b.WriteString(beginsWord)
		}
	}
	return b.String()
}

func markWhole(folded string) string { return beginsName + mark(folded) + endsName }
