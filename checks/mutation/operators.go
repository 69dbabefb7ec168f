package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// The operators: what is done to a program.
const (
	negate     = "negate"     // a condition or a comparison is its opposite
	boundary   = "boundary"   // a comparison counts its boundary, or does so no more
	logic      = "logic"      // && is ||
	arithmetic = "arithmetic" // + is -
	boolean    = "boolean"    // true is false
	number     = "number"     // one more, or one less
	result     = "result"     // a zero value, or no error, is returned
	remove     = "remove"     // a statement is not there
	branch     = "branch"     // continue is break
)

type change struct {
	operator string
	to       token.Token
}

var changesOf = map[token.Token][]change{
	token.EQL: {{negate, token.NEQ}},
	token.NEQ: {{negate, token.EQL}},
	token.LSS: {{negate, token.GEQ}, {boundary, token.LEQ}},
	token.LEQ: {{negate, token.GTR}, {boundary, token.LSS}},
	token.GTR: {{negate, token.LEQ}, {boundary, token.GEQ}},
	token.GEQ: {{negate, token.LSS}, {boundary, token.GTR}},

	token.LAND: {{logic, token.LOR}},
	token.LOR:  {{logic, token.LAND}},

	token.ADD:     {{arithmetic, token.SUB}},
	token.SUB:     {{arithmetic, token.ADD}},
	token.MUL:     {{arithmetic, token.QUO}},
	token.QUO:     {{arithmetic, token.MUL}},
	token.REM:     {{arithmetic, token.MUL}},
	token.AND:     {{arithmetic, token.OR}},
	token.OR:      {{arithmetic, token.AND}},
	token.XOR:     {{arithmetic, token.AND}},
	token.AND_NOT: {{arithmetic, token.AND}},
	token.SHL:     {{arithmetic, token.SHR}},
	token.SHR:     {{arithmetic, token.SHL}},

	token.ADD_ASSIGN:     {{arithmetic, token.SUB_ASSIGN}},
	token.SUB_ASSIGN:     {{arithmetic, token.ADD_ASSIGN}},
	token.MUL_ASSIGN:     {{arithmetic, token.QUO_ASSIGN}},
	token.QUO_ASSIGN:     {{arithmetic, token.MUL_ASSIGN}},
	token.OR_ASSIGN:      {{arithmetic, token.AND_ASSIGN}},
	token.AND_ASSIGN:     {{arithmetic, token.OR_ASSIGN}},
	token.XOR_ASSIGN:     {{arithmetic, token.AND_ASSIGN}},
	token.AND_NOT_ASSIGN: {{arithmetic, token.AND_ASSIGN}},
	token.SHL_ASSIGN:     {{arithmetic, token.SHR_ASSIGN}},
	token.SHR_ASSIGN:     {{arithmetic, token.SHL_ASSIGN}},
	token.INC:            {{arithmetic, token.DEC}},
	token.DEC:            {{arithmetic, token.INC}},

	token.CONTINUE: {{branch, token.BREAK}},
	token.BREAK:    {{branch, token.CONTINUE}},
}

// finder finds the mutants of the functions of a file. What is outside of functions, names and settings, stays.
type finder struct {
	files *token.FileSet
	text  []byte
	info  *types.Info
	found []*mutant

	function string
}

func (f *finder) file(file *ast.File) {
	for _, d := range file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			f.function = nameOf(d)
			ast.PreorderStack(d, nil, func(n ast.Node, stack []ast.Node) bool {
				if len(stack) > 0 && capacity(n, stack[len(stack)-1]) {
					return false
				}
				f.node(n, stack)
				return true
			})
		}
	}
}

func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t, of := d.Recv.List[0].Type, ""
	if star, ok := t.(*ast.StarExpr); ok {
		t, of = star.X, "*"
	}
	switch generic := t.(type) {
	case *ast.IndexExpr:
		t = generic.X
	case *ast.IndexListExpr:
		t = generic.X
	}
	return "(" + of + t.(*ast.Ident).Name + ")." + d.Name.Name
}

func (f *finder) offset(p token.Pos) int { return f.files.Position(p).Offset }

func (f *finder) source(n ast.Node) string {
	return string(f.text[f.offset(n.Pos()):f.offset(n.End())])
}

// add adds a mutant that has another text in the place of a node.
func (f *finder) add(operator string, n ast.Node, to string) {
	f.found = append(f.found, &mutant{
		function: f.function, operator: operator, line: f.files.Position(n.Pos()).Line,
		start: f.offset(n.Pos()), end: f.offset(n.End()), from: f.source(n), to: to,
	})
}

// swap adds the mutants of a node that have another token at a place in it.
func (f *finder) swap(n ast.Node, at token.Pos, is token.Token) {
	text, from := f.source(n), f.offset(at)-f.offset(n.Pos())
	for _, c := range changesOf[is] {
		f.add(c.operator, n, text[:from]+c.to.String()+text[from+len(is.String()):])
	}
}

func (f *finder) node(n ast.Node, stack []ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		f.condition(n.Cond)
	case *ast.CaseClause:
		if of, ok := stack[len(stack)-2].(*ast.SwitchStmt); ok && of.Tag == nil {
			for _, e := range n.List {
				f.condition(e)
			}
		}
	case *ast.BinaryExpr:
		f.swap(n, n.OpPos, n.Op)
		if n.Op == token.LAND || n.Op == token.LOR {
			f.condition(n.X)
			f.condition(n.Y)
		}
	case *ast.BasicLit:
		if n.Kind == token.INT {
			f.number(n)
		}
	case *ast.Ident:
		switch f.info.Uses[n] {
		case types.Universe.Lookup("true"):
			f.add(boolean, n, "false")
		case types.Universe.Lookup("false"):
			f.add(boolean, n, "true")
		}
	case *ast.ReturnStmt:
		if len(n.Results) == 0 && inBody(n, stack[len(stack)-1]) {
			f.add(remove, n, "")
		}
		f.results(n, resultsOf(stack))
	case ast.Stmt:
		if inBody(n, stack[len(stack)-1]) {
			f.statement(n)
		}
	}
}

// condition adds the opposite of a condition that is no comparison, which is one by itself.
func (f *finder) condition(e ast.Expr) {
	switch e := e.(type) {
	case nil, *ast.BinaryExpr:
		return
	case *ast.ParenExpr:
		f.condition(e.X)
		return
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			f.add(negate, e, f.source(e.X))
			return
		}
	case *ast.Ident:
		if f.info.Uses[e].Parent() == types.Universe { // true and false, which are changed wherever they are
			return
		}
	}
	f.add(negate, e, "!"+f.source(e))
}

// number adds a number's neighbours.
func (f *finder) number(n *ast.BasicLit) {
	value, err := strconv.ParseInt(n.Value, 0, 64)
	if err != nil { // it is larger
		return
	}
	f.add(number, n, strconv.FormatInt(value+1, 10))
	if value > 0 {
		f.add(number, n, strconv.FormatInt(value-1, 10))
	}
}

// capacity reports whether a node is the capacity in a make, on which nothing depends.
func capacity(n, parent ast.Node) bool {
	call, ok := parent.(*ast.CallExpr)
	if !ok || len(call.Args) < 3 || call.Args[2] != n {
		return false
	}
	made, ok := call.Fun.(*ast.Ident)
	return ok && made.Name == "make"
}

// resultsOf are the types of the results of the innermost function.
func resultsOf(stack []ast.Node) (of []ast.Expr) {
	var results *ast.FieldList
	for _, n := range stack {
		switch n := n.(type) {
		case *ast.FuncDecl:
			results = n.Type.Results
		case *ast.FuncLit:
			results = n.Type.Results
		}
	}
	if results == nil {
		return nil
	}
	for _, field := range results.List {
		for range max(1, len(field.Names)) {
			of = append(of, field.Type)
		}
	}
	return of
}

// results adds mutants that return one zero value each.
func (f *finder) results(n *ast.ReturnStmt, of []ast.Expr) {
	if len(n.Results) != len(of) { // those of another function, or named ones
		return
	}
	for i, e := range n.Results {
		text, zero := f.source(e), f.zero(of[i])
		switch {
		case zero == "false":
			f.condition(e)
		case text == zero, text == f.source(of[i])+"{}":
		default:
			f.add(result, e, zero)
		}
	}
}

// zero is the zero value of a type, as it is written.
func (f *finder) zero(t ast.Expr) string {
	switch u := f.info.TypeOf(t).Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsNumeric != 0:
			return "0"
		case u.Info()&types.IsString != 0:
			return `""`
		case u.Info()&types.IsBoolean != 0:
			return "false"
		}
	case *types.Struct, *types.Array:
		return "*new(" + f.source(t) + ")"
	case *types.Interface:
		if _, ok := f.info.TypeOf(t).(*types.TypeParam); ok {
			return "*new(" + f.source(t) + ")"
		}
	}
	return "nil"
}

// inBody reports whether a statement is one of a list, and no part of another.
func inBody(n ast.Stmt, parent ast.Node) bool {
	switch parent := parent.(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	case *ast.CommClause:
		return parent.Comm != n
	}
	return false
}

// statement adds the mutants of a statement of a list.
func (f *finder) statement(n ast.Stmt) {
	switch n := n.(type) {
	case *ast.IncDecStmt:
		f.swap(n, n.TokPos, n.Tok)
	case *ast.AssignStmt:
		f.swap(n, n.TokPos, n.Tok)
		if n.Tok == token.DEFINE || blank(n) {
			return
		}
	case *ast.BranchStmt:
		if n.Label == nil {
			f.swap(n, n.Pos(), n.Tok)
		}
	case *ast.ExprStmt:
		if locks(n.X) {
			return
		}
	case *ast.DeferStmt:
		if locks(n.Call) {
			return
		}
	case *ast.GoStmt, *ast.SendStmt:
	default:
		return
	}
	f.add(remove, n, "")
}

func blank(n *ast.AssignStmt) bool {
	for _, e := range n.Lhs {
		if name, ok := e.(*ast.Ident); !ok || name.Name != "_" {
			return false
		}
	}
	return true
}

// locks reports whether a call locks or unlocks: without it a program stops, or it is the race detector that sees it.
func locks(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch method.Sel.Name {
	case "Lock", "Unlock", "RLock", "RUnlock":
		return len(call.Args) == 0
	}
	return false
}
