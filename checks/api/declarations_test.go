package api

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listed are the declarations of a package that is this text and imports nothing.
func listed(t *testing.T, text string) []string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "p.go", "package p\n"+text, parser.SkipObjectResolution)
	require.NoError(t, err)
	pkg, err := (&types.Config{Importer: importer.Default()}).Check("example.com/p", files, []*ast.File{file}, nil)
	require.NoError(t, err)
	return declarations(pkg)
}

func TestDeclarations(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"a constant has its value":      {`const A = "x"`, []string{`const A untyped string = "x"`}},
		"a typed constant":              {`type T int; const A T = 3`, []string{"const A T = 3", "type T int"}},
		"a variable":                    {`var A, b error`, []string{"var A error"}},
		"a function":                    {`func A(x int, f func(y bool)) (z error) { return nil }`, []string{"func A(int, func(bool)) error"}},
		"one with any number":           {`func A(x ...string) {}`, []string{"func A(...string)"}},
		"one of any type":               {`func A[T any](x T) {}`, []string{"func A[T any](x T)"}},
		"nothing that is not exported":  {`func a() {}; type b struct{ C int }; func (b) D() {}`, nil},
		"an alias":                      {`type A = []int`, []string{"type A = []int"}},
		"a struct that can be compared": {`type A struct{ B int }`, []string{"type A comparable struct", "type A struct, B int"}},
		"one that cannot":               {`type A struct{ B int; c []int }`, []string{"type A struct", "type A struct, B int"}},
		"methods":                       {`type A int; func (A) B() {}; func (*A) C(x int) {}; func (A) d() {}`, []string{"method (*A) C(int)", "method (A) B()", "type A int"}},
		"promoted ones":                 {`type a struct{}; func (a) B() {}; type C struct{ a }`, []string{"method (C) B()", "type C comparable struct"}},
		"promoted fields":               {`type a struct{ *b; C int; d bool }; type b struct{ E string; G bool }; type F struct{ a; C string; e error }`, []string{"type F comparable struct", "type F struct, C string", "type F struct, E string", "type F struct, G bool"}},
		"an embedded type":              {`type A struct{ *B }; type B int`, []string{"type A comparable struct", "type A struct, embedded *B", "type B int"}},
		"an interface is one line":      {`type A interface { C(); B(x int) error; d(); e() }`, []string{"type A interface{ B(int) error; C(); unexported }"}},
		"a constraint":                  {`type A interface{ ~int | string }`, []string{"type A interface{~int | string}"}},
		"a type of any type":            {`type A[T comparable] struct{ B T }; func (A[T]) C(T) {}`, []string{"method (A[T comparable]) C(T)", "type A[T comparable] comparable struct", "type A[T comparable] struct, B T"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, listed(t, test.text))
		})
	}
}
