package main

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// mutant is one change of one place.
type mutant struct {
	id    int
	pkg   *listed
	where token.Position
	what  string
	edits []edit
}

// edit replaces del bytes at an offset by a text, in which @ is true if the mutant is chosen.
type edit struct {
	at, order, del int
	text           string
}

// helpers is a file of each changed package. Its functions are small enough to be inlined.
const helpers = `package %s
import ("cmp"; "os"; "strconv")
var mutant_ = func() int { n, _ := strconv.Atoi(os.Getenv("FISCOPE_MUTANT")); return n }()
type mutantNumber_ interface { ~int|~int8|~int16|~int32|~int64|~uint|~uint8|~uint16|~uint32|~uint64|~uintptr|~float32|~float64 }
func mutantMore_[T mutantNumber_](on bool, n T) T { if on { return n + 1 }; return n }
func mutantSum_[T mutantNumber_](on bool, a, b T) T { if on { return a - b }; return a + b }
func mutantLess_[T cmp.Ordered](on bool, a, b T) bool { if on { return a <= b }; return a < b }
`

// operators has what each becomes, and what is then written before, between and after its operands.
var operators = map[token.Token]struct {
	to                     token.Token
	before, between, after string
}{
	token.EQL:  {token.NEQ, "((@) != (", "==", "))"},
	token.NEQ:  {token.EQL, "((@) != (", "!=", "))"},
	token.LAND: {token.LOR, "((@) != (((@) != (", ")) && ((@) != (", "))))"}, // a || b is !(!a && !b)
	token.LOR:  {token.LAND, "((@) != (((@) != (", ")) || ((@) != (", "))))"},
	token.LSS:  {token.LEQ, "mutantLess_(@, ", ",", ")"},
	token.LEQ:  {token.LSS, "mutantLess_(!(@), ", ",", ")"},
	token.GTR:  {token.GEQ, "!mutantLess_(!(@), ", ",", ")"},
	token.GEQ:  {token.GTR, "!mutantLess_(@, ", ",", ")"},
	token.ADD:  {token.SUB, "mutantSum_(@, ", ",", ")"},
	token.SUB:  {token.ADD, "mutantSum_(!(@), ", ",", ")"},
}

// places finds what can be changed in the functions of a file.
func places(pkg *listed, fset *token.FileSet, file *ast.File, info *types.Info) (all []mutant) {
	imported := map[string]bool{}
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		imported[path] = spec.Name == nil
	}
	var depth int
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	// Of the edits in one place what ends comes first, from the inside out; then what begins, from the outside in.
	add := func(at token.Pos, what string, n ast.Node, before, after string, between ...edit) {
		edits := append(between, edit{offset(n.Pos()), depth, 0, before}, edit{offset(n.End()), -depth, 0, after})
		all = append(all, mutant{pkg: pkg, where: fset.Position(at), what: what, edits: edits})
	}
	binary := func(n *ast.BinaryExpr) {
		o, ok := operators[n.Op]
		typ, basic := info.TypeOf(n).Underlying().(*types.Basic)
		if !ok || info.Types[n].Value != nil || !basic || typ.Info()&types.IsString != 0 {
			return
		}
		add(n.OpPos, n.Op.String()+" becomes "+o.to.String(), n, o.before, o.after,
			edit{offset(n.OpPos), depth, len(n.Op.String()), o.between})
	}
	literal := func(n *ast.BasicLit) {
		if n.Kind != token.INT {
			return
		}
		if typ, ok := info.TypeOf(n).Underlying().(*types.Basic); !ok || typ.Info()&types.IsUntyped != 0 {
			return
		}
		known := true
		name := types.TypeString(info.TypeOf(n), func(p *types.Package) string {
			if p.Path() == pkg.ImportPath {
				return ""
			}
			known = known && imported[p.Path()]
			return p.Name()
		})
		if known {
			add(n.Pos(), n.Value+" becomes "+n.Value+" + 1", n, "mutantMore_["+name+"](@, ", ")")
		}
	}
	statements := func(list []ast.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *ast.ExprStmt:
				if call, ok := s.X.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "panic" {
					continue // the compiler needs it: nothing is returned after it
				}
			case *ast.AssignStmt:
				if s.Tok == token.DEFINE || types.ExprString(s.Lhs[0]) == "_" {
					continue
				}
			case *ast.IncDecStmt, *ast.DeferStmt, *ast.SendStmt:
			default:
				continue
			}
			add(s.Pos(), "the statement is left out", s, "if !(@) { ", " }")
		}
	}

	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		ast.PreorderStack(f.Body, nil, func(n ast.Node, above []ast.Node) bool {
			depth = len(above) + 1
			switch n := n.(type) {
			case *ast.GenDecl:
				return n.Tok != token.CONST
			case *ast.ArrayType:
				return n.Len == nil // a constant
			case *ast.KeyValueExpr:
				key, ok := n.Key.(*ast.BasicLit)
				return !ok || key.Kind != token.INT // the index of an element: a constant
			case *ast.BinaryExpr:
				binary(n)
			case *ast.BasicLit:
				literal(n)
			case *ast.IfStmt:
				if c, ok := n.Cond.(*ast.BinaryExpr); !ok || c.Op != token.EQL && c.Op != token.NEQ {
					add(n.If, "the condition becomes its opposite", n.Cond, "((@) != (", "))")
				}
			case *ast.BlockStmt:
				statements(n.List)
			case *ast.CaseClause:
				statements(n.Body)
			case *ast.CommClause:
				statements(n.Body)
			}
			return true
		})
	}
	return all
}

// rewrite returns a file with all its mutants, each of which changes nothing unless it is chosen.
func rewrite(source string, mutants []mutant) string {
	var edits []edit
	for _, m := range mutants {
		for _, e := range m.edits {
			e.text = strings.ReplaceAll(e.text, "@", "mutant_ == "+strconv.Itoa(m.id))
			edits = append(edits, e)
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
	})
	var out strings.Builder
	at := 0
	for _, e := range edits {
		out.WriteString(source[at:e.at] + e.text)
		at = e.at + e.del
	}
	return out.String() + source[at:]
}
