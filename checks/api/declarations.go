// Package api keeps what the packages of fiscope export as text, a file each, so that a change of it is seen in a
// review, and one that breaks who uses them fails a test.
package api

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// declarations lists what a package exports, a line each, sorted. What code outside of the package can come to depend
// on is in a line: a name, a type, the value of a constant, whether == compares a struct, a field, a method, also a
// promoted one. An interface is one line with all its methods, since one more breaks those who implement it. Names of
// parameters and tags of fields are in none.
func declarations(pkg *types.Package) []string {
	d := lister{pkg: pkg}
	for _, name := range pkg.Scope().Names() {
		if object := pkg.Scope().Lookup(name); object.Exported() {
			d.object(object)
		}
	}
	slices.Sort(d.lines)
	return d.lines
}

type lister struct {
	pkg   *types.Package
	lines []string
}

func (d *lister) add(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// text is a type as the package itself would write it, with whole import paths.
func (d *lister) text(t types.Type) string {
	if s, ok := t.(*types.Signature); ok {
		t = unnamed(s)
	}
	return types.TypeString(t, types.RelativeTo(d.pkg))
}

func (d *lister) object(object types.Object) {
	switch o := object.(type) {
	case *types.Const:
		d.add("const %s %s = %s", o.Name(), d.text(o.Type()), o.Val().ExactString())
	case *types.Var:
		d.add("var %s %s", o.Name(), d.text(o.Type()))
	case *types.Func:
		d.add("func %s%s", o.Name(), strings.TrimPrefix(d.text(o.Type()), "func"))
	case *types.TypeName:
		if o.IsAlias() {
			d.add("type %s = %s", o.Name(), d.text(types.Unalias(o.Type())))
			return
		}
		d.named(o.Type().(*types.Named))
	}
}

func (d *lister) named(t *types.Named) {
	name := d.text(t)
	switch u := t.Underlying().(type) {
	case *types.Struct:
		kind := "struct"
		if types.Comparable(t) {
			kind = "comparable struct"
		}
		d.add("type %s %s", name, kind)
		d.fields(name, t, u)
	case *types.Interface:
		d.add("type %s %s", name, d.methods(u))
		return
	default:
		d.add("type %s %s", name, d.text(u))
	}
	values := types.NewMethodSet(t)
	for method := range types.NewMethodSet(types.NewPointer(t)).Methods() {
		f := method.Obj()
		if !f.Exported() {
			continue
		}
		receiver := "*" + name
		if values.Lookup(f.Pkg(), f.Name()) != nil {
			receiver = name
		}
		d.add("method (%s) %s%s", receiver, f.Name(), strings.TrimPrefix(d.text(method.Type()), "func"))
	}
}

// fields lists those of a struct, and those that it has by a type embedded in it that is not exported.
func (d *lister) fields(name string, of *types.Named, s *types.Struct) {
	for field := range s.Fields() {
		switch {
		case field.Exported() && field.Embedded():
			d.add("type %s struct, embedded %s", name, d.text(field.Type()))
		case field.Exported():
			if found, _, _ := types.LookupFieldOrMethod(of, true, d.pkg, field.Name()); found == field { // no other hides it
				d.add("type %s struct, %s %s", name, field.Name(), d.text(field.Type()))
			}
		case field.Embedded():
			embedded := field.Type().Underlying()
			if pointer, ok := embedded.(*types.Pointer); ok {
				embedded = pointer.Elem().Underlying()
			}
			if embedded, ok := embedded.(*types.Struct); ok {
				d.fields(name, of, embedded)
			}
		}
	}
}

// methods is an interface with all that it asks for, or the types that it is a constraint to. Methods that are not
// exported, which nobody else can have, are one "unexported".
func (d *lister) methods(u *types.Interface) string {
	if !u.IsMethodSet() {
		return d.text(u)
	}
	var methods []string
	for method := range u.Methods() {
		if !method.Exported() {
			methods = append(methods, "unexported")
			continue
		}
		methods = append(methods, method.Name()+strings.TrimPrefix(d.text(method.Type()), "func"))
	}
	slices.Sort(methods)
	return "interface{ " + strings.Join(slices.Compact(methods), "; ") + " }"
}

// unnamed is a signature without the names of its parameters and results. One with type parameters, which are of one
// signature alone, stays as it is.
func unnamed(s *types.Signature) *types.Signature {
	if s.TypeParams().Len() > 0 {
		return s
	}
	return types.NewSignatureType(nil, nil, nil, without(s.Params()), without(s.Results()), s.Variadic())
}

func without(named *types.Tuple) *types.Tuple {
	var vars []*types.Var
	for v := range named.Variables() {
		t := v.Type()
		if s, ok := t.(*types.Signature); ok {
			t = unnamed(s)
		}
		vars = append(vars, types.NewParam(0, nil, "", t))
	}
	return types.NewTuple(vars...)
}
