package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mutantsOf are the names of the mutants that compile, of a package of one file, without the file.
func mutantsOf(t *testing.T, text string) (names []string) {
	t.Helper()
	p, err := load(moduleOf(t, map[string]string{"a.go": "package m\n\n" + text}), outside(), ".")
	require.NoError(t, err)
	all, err := p.mutants()
	require.NoError(t, err)
	for _, m := range all {
		if p.compiles(m) {
			names = append(names, m.id()[len("a.go "):])
		}
	}
	return names
}

func TestOperators(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"a comparison": {`func a(x, y int) bool { return x < y }`, []string{
			"a negate: x < y => x >= y", "a boundary: x < y => x <= y",
		}},
		"conditions": {`func a(x, y bool) (n string) { if x && !(y || x) { n = "b" }; return n }`, []string{
			"a logic: x && !(y || x) => x || !(y || x)", "a negate: x => !x", "a negate: !(y || x) => (y || x)",
			"a logic: y || x => y && x", "a negate: y => !y", "a negate: x => !x (2)",
			`a remove: n = "b" => nothing`, `a result: n => ""`,
		}},
		"cases": {`func a(x bool) { switch { case x: println() } }`, []string{
			"a negate: x => !x", "a remove: println() => nothing",
		}},
		"cases of a value": {`func a(x int) { switch x { case 1: println() } }`, []string{
			"a number: 1 => 2", "a number: 1 => 0", "a remove: println() => nothing",
		}},
		"arithmetic": {`func a(x int) int { x += x; x++; return x * x }`, []string{
			"a arithmetic: x += x => x -= x", "a remove: x += x => nothing", "a arithmetic: x++ => x--",
			"a remove: x++ => nothing", "a result: x * x => 0", "a arithmetic: x * x => x / x",
		}},
		"texts are not subtracted": {`func a(x string) string { return x + x }`, []string{`a result: x + x => ""`}},
		"true and false":           {`func a() bool { return true }`, []string{"a boolean: true => false"}},
		"what shadows them":        {`func a(true bool) bool { return true }`, []string{"a negate: true => !true"}},
		"capacities stay":          {`func a(n int) []int { return make([]int, 0, 2*n) }`, []string{"a result: make([]int, 0, 2*n) => nil", "a number: 0 => 1"}},
		"results": {`type T struct{ n int }
func (t *T) a(e error) (*T, T, error) { return t, *t, e }`, []string{
			"(*T).a result: t => nil", "(*T).a result: *t => *new(T)", "(*T).a result: e => nil",
		}},
		"results that are zero": {`type T struct{}
func a() (*T, T, error, string) { return nil, T{}, nil, "" }`, nil},
		"results of a call": {`func a() (int, error) { return a() }`, nil},
		"results of a function inside": {`func a(f func() error) error { return f() }
func b() { _ = a(func() error { return nil }) }`, []string{"a result: f() => nil"}},
		"loops": {`func a(x []bool) { for i := range x { if x[i] { continue }; println() } }`, []string{
			"a negate: x[i] => !x[i]", "a branch: continue => break", "a remove: continue => nothing", "a remove: println() => nothing",
		}},
		"the parts of a loop stay": {`func a(x int) { for i := 0; i > x; i++ { } }`, []string{
			"a number: 0 => 1", "a negate: i > x => i <= x", "a boundary: i > x => i >= x",
		}},
		"an early return": {`func a(x bool) { if x { return }; println() }`, []string{
			"a negate: x => !x", "a remove: return => nothing", "a remove: println() => nothing",
		}},
		"statements": {`func a(c chan int) { defer println(); go println(); c <- 0 }`, []string{
			"a remove: defer println() => nothing", "a remove: go println() => nothing", "a remove: c <- 0 => nothing", "a number: 0 => 1",
		}},
		"what is selected stays": {`func a(c chan int) { select { case c <- 2: default: } }`, []string{"a number: 2 => 3", "a number: 2 => 1"}},
		"locks stay": {`import "sync"
func a(m *sync.RWMutex) { m.Lock(); defer m.Unlock() }`, nil},
		"what is not used any more does not compile": {`func a() { x := 1; println(x) }`, []string{"a number: 1 => 2", "a number: 1 => 0"}},
		"a method of any type": {`type T[A any] struct{}
func (T[A]) a(x A) A { return x }`, []string{"(T).a result: x => *new(A)"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, mutantsOf(t, test.text))
		})
	}
}
