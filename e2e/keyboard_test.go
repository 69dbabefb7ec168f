package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// focused is what has the focus: its role and name, as a screen reader says them.
func (p *tab) focused() (role, name string) {
	p.t.Helper()
	node, err := chromedp.Run(p.ctx, chromedp.Action[*accessibility.Node](func(ctx context.Context, t *chromedp.Target) (*accessibility.Node, error) {
		active, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: "document.activeElement"})
		if err != nil {
			return nil, err
		}
		no := false
		tree, err := cdp.Call(ctx, t, accessibility.GetPartialAXTree, accessibility.GetPartialAXTreeParams{ObjectID: active.Result.ObjectID, FetchRelatives: &no})
		if err != nil {
			return nil, err
		}
		return tree.Nodes[0], nil
	}))
	require.NoError(p.t, err)
	return textOf(node.Role), textOf(node.Name)
}

// Tab reaches every control of every view; each has a name, and an outline that is seen on the element itself.
func TestTheKeyboardReachesEverything(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	srv := start(t, "-now", "2026-11-20T16:41:00-05:00", "-frozen")
	srv.traffic()
	for _, view := range views {
		t.Run(view.name, func(t *testing.T) {
			t.Parallel()
			page := open(t, srv.page(view.name))
			page.find("heading", exactly(view.title))
			page.settled()
			all, err := page.all("")
			require.NoError(t, err)
			for _, c := range all {
				if c.states["focusable"] == "true" && c.role != "main" { // which only the link before it reaches
					assert.NotEmpty(t, c.name, c.role)
				}
			}
			js[bool](page, `(window.reached = new Set(), window.bare = [], document.addEventListener('focusin', ({ target }) => {
				const style = getComputedStyle(target)
				if (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) === 0) window.bare.push(target.outerHTML.slice(0, 200))
				window.reached.add(target)
			}), true)`)
			var left []string
			for range 60 {
				for range 10 {
					page.press(kb.Tab)
				}
				left = js[[]string](page, `[...document.querySelectorAll('a[href], button, input, select, [tabindex]')].filter((element) =>
					element.checkVisibility({ checkVisibilityCSS: true }) && !element.disabled && element.tabIndex >= 0 && !window.reached.has(element)).map((element) => element.outerHTML.slice(0, 200))`)
				if len(left) == 0 {
					break
				}
			}
			assert.Empty(t, left, "Tab does not reach it")
			assert.Empty(t, js[[]string](page, "window.bare"), "no outline")
		})
	}
}

// What a mouse does, keys do: through the calls by arrows, into one, out of it, to the filter.
func TestTheCallsByKeys(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page(""))
	for i := range 3 {
		srv.lookup(fmt.Sprintf("201313129%02d", 55+i))
	}
	page.row("20131312957")
	has := func(role string, name named) {
		t.Helper()
		page.within(patience, func() error {
			if r, n := page.focused(); r != role || !name(n) {
				return fmt.Errorf("the focus is on %s %q", r, n)
			}
			return nil
		})
	}
	for range 40 {
		if _, name := page.focused(); like("^consultar 20131312957")(name) {
			break
		}
		page.press(kb.Tab)
	}
	has("button", like("^consultar 20131312957"))
	page.press(kb.ArrowDown)
	has("button", like("^consultar 20131312956"))
	page.press(kb.End)
	has("button", like("^consultar 20131312955"))
	page.press(kb.Enter)
	page.find("heading", like("^Llamada #1"))
	page.press(kb.Escape)
	page.gone("heading", like("^Llamada #1"))
	has("button", like("^consultar 20131312955"))

	page.show("Usuarios SOL")
	page.click("button", exactly("Editar: MIUSER01"))
	page.find("dialog", like("^Editar"))
	page.press(kb.Escape)
	page.gone("dialog", like(""))
	has("button", exactly("Editar: MIUSER01"))
}
