package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// compareLookups measures lookups by RUCs all over the registry, and prints them.
func (s *searched) compareLookups(ctx context.Context, budget time.Duration) error {
	random := rand.New(rand.NewPCG(1, 1))
	var index, database []time.Duration
	for began := time.Now(); time.Since(began) < budget; {
		for range 100 {
			ruc := s.rucs[random.IntN(len(s.rucs))]
			written := fmt.Sprintf("%011d", ruc)
			asked := time.Now()
			_, _, err := s.Contribuyente(ctx, written)
			index = append(index, time.Since(asked))
			if err != nil {
				return err
			}
		}
		for range 100 {
			ruc := s.rucs[random.IntN(len(s.rucs))]
			asked := time.Now()
			rows, err := s.lookup(ctx, ruc)
			database = append(database, time.Since(asked))
			if err != nil || len(rows) != 1 {
				return errors.Join(fmt.Errorf("SQLite has %d rows of %d", len(rows), ruc), err)
			}
		}
	}
	fmt.Printf("\n| lookups | index | SQLite |\n|---|---|---|\n| %d | %s | %s |\n", len(index), percentiles(index), percentiles(database))
	return nil
}
