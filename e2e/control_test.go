package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience is how long something may take to be seen: far more than it does, on a machine with other work.
const patience = 20 * time.Second

// within tries until there is no error, or for so long.
func (p *tab) within(limit time.Duration, try func() error) {
	p.t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	again := time.NewTicker(25 * time.Millisecond)
	defer again.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-again.C:
		case <-deadline.C:
			require.FailNow(p.t, fmt.Sprintf("after %s: %v", limit, err), "the page shows:\n%s", p.text())
		}
	}
}

// control is a thing on the page as a screen reader knows it.
type control struct {
	id         cdp.BackendNodeID
	role, name string
	value      string
	states     map[string]string // checked, disabled, expanded, focused, pressed ...
}

// named says which name a control must have: exactly this one, or one that fits a pattern.
type named func(string) bool

func exactly(name string) named { return func(s string) bool { return s == name } }

func like(pattern string) named { return regexp.MustCompile(pattern).MatchString }

// all returns what the page now has of a role, in its order: what is hidden from all readers is not there.
func (p *tab) all(role string) ([]control, error) {
	found, err := chromedp.Run(p.ctx, chromedp.Action[[]*accessibility.Node](func(ctx context.Context, t *chromedp.Target) ([]*accessibility.Node, error) {
		document, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: "document"})
		if err != nil {
			return nil, err
		}
		result, err := cdp.Call(ctx, t, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{ObjectID: document.Result.ObjectID, Role: role})
		return result.Nodes, err
	}))
	if err != nil {
		return nil, err
	}
	var controls []control
	for _, node := range found {
		if node.Ignored || node.BackendDOMNodeID == 0 {
			continue
		}
		c := control{id: node.BackendDOMNodeID, role: textOf(node.Role), name: textOf(node.Name), value: textOf(node.Value), states: map[string]string{}}
		for _, property := range node.Properties {
			c.states[string(property.Name)] = textOf(property.Value)
		}
		controls = append(controls, c)
	}
	return controls, nil
}

// textOf writes a value of the accessibility tree as text.
func textOf(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var text string
	if json.Unmarshal(v.Value, &text) == nil {
		return text
	}
	return string(v.Value)
}

// one returns the only control of a role and a name.
func (p *tab) one(role string, name named) (control, error) {
	all, err := p.all(role)
	if err != nil {
		return control{}, err
	}
	var names []string
	var found []control
	for _, c := range all {
		names = append(names, c.name)
		if name(c.name) {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return control{}, fmt.Errorf("%d of role %s with that name, of %q", len(found), role, names)
	}
	return found[0], nil
}

// with waits for the only control of a role and a name, and until use has no error.
func (p *tab) with(role string, name named, use func(control) error) {
	p.t.Helper()
	p.within(patience, func() error {
		c, err := p.one(role, name)
		if err != nil {
			return err
		}
		return use(c)
	})
}

// find waits for the only control of a role and a name.
func (p *tab) find(role string, name named) (found control) {
	p.t.Helper()
	p.with(role, name, func(c control) error {
		found = c
		return nil
	})
	return found
}

// gone waits until there is no control of a role and a name.
func (p *tab) gone(role string, name named) {
	p.t.Helper()
	p.within(patience, func() error {
		all, err := p.all(role)
		if err != nil {
			return err
		}
		for _, c := range all {
			if name(c.name) {
				return fmt.Errorf("there is still %s %q", role, c.name)
			}
		}
		return nil
	})
}

// on calls a function of JavaScript, whose this is the control's element, and returns its result.
func on[T any](p *tab, c control, function string, args ...any) (T, error) {
	return chromedp.Run(p.ctx, chromedp.Action[T](func(ctx context.Context, t *chromedp.Target) (T, error) {
		resolved, err := cdp.Call(ctx, t, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: c.id})
		if err != nil {
			var none T
			return none, err
		}
		return chromedp.CallFunctionOn[T](function, func(call *runtime.CallFunctionOnParams) { call.ObjectID = resolved.Object.ObjectID }, args...)(ctx, t)
	}))
}

// evaluate evaluates an expression of JavaScript, and waits for what it promises. It fails while the page goes elsewhere.
func evaluate[T any](p *tab, expression string) (T, error) {
	return chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// js is evaluate on a page that stays.
func js[T any](p *tab, expression string) T {
	p.t.Helper()
	result, err := evaluate[T](p, expression)
	require.NoError(p.t, err, expression)
	return result
}

// point scrolls to an element and returns where a mouse meets it, and not something that lies over it.
const point = `function () {
	const element = this.nodeType === Node.TEXT_NODE ? this.parentElement : this
	element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
	const box = element.getClientRects()[0]
	if (!box) return []
	const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
	const met = document.elementFromPoint(x, y)
	return met && (element.contains(met) || met.contains(element) && element.labels) ? [x, y] : []
}`

// click presses a control with the mouse, once it is there and enabled.
func (p *tab) click(role string, name named) {
	p.t.Helper()
	p.with(role, name, func(c control) error {
		if c.states["disabled"] == "true" {
			return fmt.Errorf("%s %q is disabled", role, c.name)
		}
		at, err := on[[]float64](p, c, point)
		if err != nil {
			return err
		}
		if len(at) == 0 {
			return fmt.Errorf("%s %q cannot be reached by a mouse", role, c.name)
		}
		return chromedp.Do(p.ctx, chromedp.MouseClickXY(at[0], at[1]))
	})
}

// fill writes into a field, instead of what it holds, or takes the option of a list that has a text. A day or a month is
// written as its value has it.
func (p *tab) fill(role string, name named, text string) {
	p.t.Helper()
	p.with(role, name, func(c control) error {
		filled, err := on[bool](p, c, `function (text = '') {
			if (this.disabled || this.readOnly) return false
			this.focus()
			this.value = this.options ? [...this.options].find((option) => option.text === text)?.value : text
			for (const type of ['input', 'change']) this.dispatchEvent(new Event(type, { bubbles: true }))
			return this.isConnected && (this.selectedOptions?.[0]?.text ?? this.value) === text
		}`, text)
		if err == nil && !filled {
			err = fmt.Errorf("%s %q does not take %q", role, c.name, text)
		}
		return err
	})
}

// choose takes an option of a list by its text.
func (p *tab) choose(name named, option string) {
	p.t.Helper()
	p.fill("combobox", name, option)
}

// press sends keys to what has the focus.
func (p *tab) press(keys string) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.KeyEvent(keys)))
}

// What the page shows, as a person would copy it, and the texts of the shown rows of tables, except the times of
// calls, in which a status could be read.
const (
	shownText = `document.body.innerText`
	shownRows = `[...document.querySelectorAll('tr:not(.day)')].filter((row) => row.checkVisibility()).map((row) =>
		[...row.cells].filter((cell) => cell.checkVisibility() && !cell.matches('td.time, td.lasted')).map((cell) => cell.innerText).join('\t'))`
)

func (p *tab) text() string {
	p.t.Helper()
	return js[string](p, shownText)
}

func (p *tab) rows() []string {
	p.t.Helper()
	return js[[]string](p, shownRows)
}

// sees waits until the page shows each of the texts, whatever the blanks and lines between words.
func (p *tab) sees(texts ...string) {
	p.t.Helper()
	p.within(patience, func() error {
		text, err := evaluate[string](p, shownText)
		if err != nil {
			return err
		}
		shown := strings.Join(strings.Fields(text), " ")
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				return fmt.Errorf("it does not show %q", text)
			}
		}
		return nil
	})
}

// rowsHolding waits until so many rows of tables hold all of the texts, and returns theirs.
func (p *tab) rowsHolding(n int, texts []string) (text string) {
	p.t.Helper()
	p.within(patience, func() error {
		rows, err := evaluate[[]string](p, shownRows)
		rows = slices.DeleteFunc(rows, func(row string) bool {
			return slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(row, text) })
		})
		if err == nil && len(rows) != n {
			err = fmt.Errorf("%d rows hold %q", len(rows), texts)
		}
		text = strings.Join(rows, "")
		return err
	})
	return text
}

// row waits for the only row of a table that holds all of the texts, and returns its text.
func (p *tab) row(texts ...string) string {
	p.t.Helper()
	return p.rowsHolding(1, texts)
}

// noRow waits until no row of a table holds all of the texts.
func (p *tab) noRow(texts ...string) {
	p.t.Helper()
	p.rowsHolding(0, texts)
}

// is waits until a control has a value, as a field shows it or the accessibility tree says it.
func (p *tab) is(role string, name named, state, want string) {
	p.t.Helper()
	p.with(role, name, func(c control) error {
		got := c.states[state]
		if state == "value" {
			got = c.value
		}
		if got != want {
			return errors.New(role + " " + c.name + ": " + state + " is " + got)
		}
		return nil
	})
}

// cutOff is an expression for the texts of the shown elements that are larger than their place.
func cutOff(selector string) string {
	return fmt.Sprintf("[...document.querySelectorAll(%q)].filter((part) => part.checkVisibility() && part.clientWidth > 0 &&"+
		" (part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight + 2)).map((part) => part.innerText || part.value)", selector)
}
