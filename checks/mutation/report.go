package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// report says what came of the mutants.
type report struct {
	out         io.Writer
	verbose     bool
	equivalents map[string]string

	mu    sync.Mutex
	count map[verdict]int
	errs  []error
}

// run judges the mutants that are taken, and fails where one survives that is not explained, or an explanation is of
// none.
func (r *report) run(ctx context.Context, p *program, j *judge, taken func(*mutant) bool, workers int) error {
	began := time.Now()
	all, err := p.mutants()
	if err != nil {
		return err
	}
	r.count = map[verdict]int{}
	r.errs = unknown(all, r.equivalents)
	sample := slices.DeleteFunc(slices.Clone(all), func(m *mutant) bool { return !taken(m) })
	compiled := slices.DeleteFunc(slices.Clone(sample), func(m *mutant) bool { return !p.compiles(m) })
	fmt.Fprintf(r.out, "%d mutants in %d files; %d taken, of which %d do not compile\n", len(all), len(p.files), len(sample), len(sample)-len(compiled))
	next := make(chan *mutant)
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for m := range next {
				v, by, err := j.judge(ctx, m, p.text(m))
				r.take(m, v, by, err, p)
			}
		})
	}
	for _, m := range compiled {
		if ctx.Err() != nil {
			break
		}
		next <- m
	}
	close(next)
	working.Wait()
	if ctx.Err() != nil {
		r.errs = append(r.errs, ctx.Err())
	}
	if len(compiled) == 0 {
		r.errs = append(r.errs, errors.New("no mutant was taken"))
	}
	for _, v := range []verdict{killed, timedOut, equivalent, survived} {
		fmt.Fprintf(r.out, "%6d %s\n", r.count[v], v)
	}
	fmt.Fprintf(r.out, "in %s\n", time.Since(began).Round(time.Second))
	return errors.Join(r.errs...)
}

// take takes in what came of a mutant.
func (r *report) take(m *mutant, v verdict, by string, err error, p *program) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reason, explained := r.equivalents[m.id()]
	switch {
	case errors.Is(err, context.Canceled): // the run was
		return
	case err != nil:
		r.errs = append(r.errs, fmt.Errorf("%s: %w", m.id(), err))
		return
	case v == survived && explained:
		v, by = equivalent, reason
		r.count[v]++
	case v == survived:
		r.count[v]++
		r.errs = append(r.errs, fmt.Errorf("survived: %s", m.id()))
		fmt.Fprintf(r.out, "%s:%d: no test notices\n%s\n%s\n", m.shown, m.line, m.id(), m.diff(p.files[m.file].text))
	default:
		r.count[v]++
		if explained {
			r.errs = append(r.errs, fmt.Errorf("not equivalent, since %s (%s): %s", v, by, m.id()))
		}
	}
	if r.verbose {
		fmt.Fprintf(r.out, "%s (%s): %s\n", v, by, m.id())
	}
}

// unknown says which explanations are of no mutant.
func unknown(all []*mutant, equivalents map[string]string) (errs []error) {
	known := map[string]bool{}
	for _, m := range all {
		known[m.id()] = true
	}
	for _, id := range slices.Sorted(maps.Keys(equivalents)) {
		if !known[id] {
			errs = append(errs, fmt.Errorf("equivalents.txt explains a mutant that is none any more: %s", id))
		}
	}
	return errs
}
