package e2e

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var screenshots = flag.String("screenshots", "", "a folder into which the tests write what every view looks like, for a person")

// photograph keeps what the page looks like, where -screenshots asks for it.
func (p *tab) photograph(name string) {
	p.t.Helper()
	if *screenshots == "" {
		return
	}
	require.NoError(p.t, os.MkdirAll(*screenshots, 0o755))
	file := filepath.Join(*screenshots, strings.ReplaceAll(name, " ", "-")+".png")
	picture, err := chromedp.Run(p.ctx, chromedp.Action[[]byte](func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		shot, err := cdp.Call(ctx, t, cdpage.CaptureScreenshot, cdpage.CaptureScreenshotParams{})
		return shot.Data, err
	}))
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(file, picture, 0o600))
}
