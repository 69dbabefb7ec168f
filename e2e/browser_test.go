package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
)

// chromium are the names under which the browser is installed.
var chromium = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// requireChromium makes a machine without a browser a failure instead of a skip.
const requireChromium = "FISCOPE_REQUIRE_CHROMIUM"

// browserContext is that of the one browser of all tests; nil without one.
var browserContext context.Context

// startBrowser starts the browser with an empty profile, if it is installed, and returns what ends it.
func startBrowser(profile string) (stop func(), err error) {
	var path string
	for _, name := range chromium {
		if path, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		if os.Getenv(requireChromium) != "" {
			return nil, errors.New("no chromium: apt-get install chromium")
		}
		return func() {}, nil
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(profile),
		chromedp.Flag("disable-lcd-text", true)) // letters in grey: pictures of them are smaller
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which it does not start with
	}
	allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		end()
		endAllocator()
		return nil, fmt.Errorf("%s does not start: %w", path, err)
	}
	browserContext = ctx
	return func() {
		end()
		endAllocator()
	}, nil
}

// needBrowser skips a test where there is no browser, and says what to install.
func needBrowser(t *testing.T) {
	t.Helper()
	if browserContext == nil {
		t.Skip("install a browser to run this test: apt-get install chromium")
	}
}
