package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// viewer is who looks at the page, and how.
type viewer struct {
	languages     string // as a browser's settings have them
	dark          bool
	width, height int64 // in CSS pixels
	apart         bool  // with cookies of its own
}

// option changes a viewer.
type option func(*viewer)

func dark(v *viewer)    { v.dark = true }
func english(v *viewer) { v.languages = "en-GB,en" }

func wide(pixels int64) option { return func(v *viewer) { v.width = pixels } }

// apart has cookies of its own, which takes a while to begin: those of a host are sent to all of its ports.
func apart(v *viewer) { v.apart = true }

// tab is the page as one viewer sees it.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	origin   string
	sent     []string                   // requests: method and path
	underWay map[network.RequestID]bool // except the streams
	faults   []string                   // what no use of the page should bring about
	expected []*regexp.Regexp           // faults that are none in this test
}

// open opens an address of the page as a viewer who reads Spanish, in a window of 1280 x 900. At the end of the
// test nothing must have gone wrong: no error in the console, no answer of 400 or more, nothing from elsewhere.
func open(t *testing.T, address string, options ...option) *tab {
	t.Helper()
	needBrowser(t)
	v := viewer{languages: "es-PE,es", width: 1280, height: 900}
	for _, o := range options {
		o(&v)
	}
	p := &tab{t: t, underWay: map[network.RequestID]bool{}}
	contexts := []chromedp.ContextOption{chromedp.WithListener(p.hear)}
	if v.apart {
		contexts = append(contexts, chromedp.WithNewBrowserContext())
	}
	ctx, cancel := chromedp.NewContext(browserContext, contexts...)
	ctx, expire := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(func() {
		p.mu.Lock()
		assert.Empty(t, p.faults, "what the browser found wrong")
		p.mu.Unlock()
		expire()
		cancel()
	})
	p.ctx = ctx
	require.NoError(t, chromedp.Do(ctx))
	v.apply(p)
	p.navigate(address)
	return p
}

// apply sets the window before anything is loaded. Its time zone is far from Lima: the page's times are not its own.
func (v viewer) apply(p *tab) {
	p.t.Helper()
	scheme := "light"
	if v.dark {
		scheme = "dark"
	}
	do(p, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: "e2e", AcceptLanguage: v.languages})
	do(p, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Tokyo"})
	do(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	do(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.width, Height: v.height, DeviceScaleFactor: 1})
	do(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// do sends a command to the browser.
func do[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	result, err := chromedp.Call(p.ctx, command, params)
	require.NoError(p.t, err)
	return result
}

// navigate goes to an address, of an origin that is then the page's.
func (p *tab) navigate(address string) {
	p.t.Helper()
	at, err := url.Parse(address)
	require.NoError(p.t, err)
	p.mu.Lock()
	p.origin = at.Scheme + "://" + at.Host
	p.mu.Unlock()
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.Navigate(address)))
}

// expect takes what fits the pattern for no fault.
func (p *tab) expect(pattern string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, regexp.MustCompile(pattern))
}

// hear takes what the browser reports about the tab.
func (p *tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if e.Type == network.ResourceTypeDocument {
			clear(p.underWay) // what the document before it has asked for is nobody's
		}
		address, own := strings.CutPrefix(e.Request.URL, p.origin)
		if own {
			p.sent = append(p.sent, e.Request.Method+" "+address)
			if e.Type != network.ResourceTypeEventSource {
				p.underWay[e.RequestID] = true
			}
		} else if !strings.HasPrefix(address, "data:") && !strings.HasPrefix(address, "blob:"+p.origin) {
			p.fault("from elsewhere: %s", e.Request.URL)
		}
	case *network.EventResponseReceived:
		if e.Response.Status >= 400 {
			p.fault("answer %d: %s", e.Response.Status, e.Response.URL)
		}
	case *network.EventLoadingFinished:
		delete(p.underWay, e.RequestID)
	case *network.EventLoadingFailed:
		delete(p.underWay, e.RequestID)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			p.fault("console.%s: %s", e.Type, e.Args[0].Value)
		}
	case *runtime.EventExceptionThrown:
		p.fault("exception: %s %s", e.ExceptionDetails.Text, e.ExceptionDetails.Exception.Description)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			p.fault("log: %s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	}
}

func (p *tab) fault(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, pattern := range p.expected {
		if pattern.MatchString(text) {
			return
		}
	}
	p.faults = append(p.faults, text)
}

// requests are those that the page has sent and that begin with a prefix, such as "GET /_mock/data".
func (p *tab) requests(prefix string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []string
	for _, request := range p.sent {
		if strings.HasPrefix(request, prefix) {
			found = append(found, request)
		}
	}
	return found
}

// clipboard is the machine's: a test at a time copies and looks.
var clipboard sync.Mutex

// copied presses a button that copies, and returns what it copied.
func (p *tab) copied(button named) (text string) {
	p.t.Helper()
	clipboard.Lock()
	defer clipboard.Unlock()
	_, err := chromedp.CallBrowser(p.ctx, browser.SetPermission, browser.SetPermissionParams{
		Permission:       &browser.PermissionDescriptor{Name: "clipboard-read"},
		Setting:          browser.PermissionSettingGranted,
		BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
	})
	require.NoError(p.t, err)
	js[bool](p, `navigator.clipboard.writeText('nothing').then(() => true)`)
	p.click("button", button)
	p.within(patience, func() error {
		if text = js[string](p, `navigator.clipboard.readText()`); text == "nothing" {
			return errors.New("nothing was copied")
		}
		return nil
	})
	return text
}

// markup is the whole document as markup, with what its fields hold.
func (p *tab) markup() string {
	p.t.Helper()
	return strings.Join(js[[]string](p, `[document.documentElement.outerHTML, ...[...document.querySelectorAll('input, select, textarea')].map((field) => field.value)]`), "\n")
}
