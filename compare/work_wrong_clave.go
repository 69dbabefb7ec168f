package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
)

// compareWrongClave has many goroutines of each contender send a wrong clave at once.
func compareWrongClave(ctx context.Context, s size) ([]row, error) {
	return inTurn([]string{grouped(s.goroutines) + " goroutines, a wrong clave: requests"}, func(c contender) ([]string, error) {
		arrived, err := measureWrongClave(ctx, c, s.goroutines)
		return []string{grouped(arrived)}, err
	})
}

// measureWrongClave returns how many requests reached the service.
func measureWrongClave(ctx context.Context, c contender, goroutines int) (int, error) {
	var arrived, accepted atomic.Int64
	refused := inJSON(http.StatusUnauthorized, c.api.refused)
	client, err := c.open(service(func(*http.Request) (answer, error) {
		arrived.Add(1)
		return refused, nil
	}), briefly)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	begin := make(chan struct{})
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			<-begin
			if err := client.Send(ctx, clave); err == nil {
				accepted.Add(1)
			}
		})
	}
	close(begin)
	all.Wait()
	if accepted.Load() > 0 {
		return 0, errors.New("a refusal was taken for a success")
	}
	return int(arrived.Load()), ctx.Err()
}
