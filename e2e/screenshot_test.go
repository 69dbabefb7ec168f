package e2e

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	screenshots = flag.String("screenshots", "", "a folder into which the tests write what every view looks like, for a person")
	picture     = flag.String("picture", "", "the file into which the picture of the README is written: docs/page.png")
)

// photograph keeps what the page looks like, where -screenshots asks for it.
func (p *tab) photograph(name string) {
	p.t.Helper()
	if *screenshots == "" {
		return
	}
	require.NoError(p.t, os.MkdirAll(*screenshots, 0o755))
	file := filepath.Join(*screenshots, strings.ReplaceAll(name, " ", "-")+".png")
	require.NoError(p.t, os.WriteFile(file, p.screen(), 0o600))
}

// screen is what the window shows, as a PNG file.
func (p *tab) screen() []byte {
	p.t.Helper()
	text, err := chromedp.Run(p.ctx, chromedp.Action[[]byte](func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		shot, err := cdp.Call(ctx, t, cdpage.CaptureScreenshot, cdpage.CaptureScreenshotParams{})
		return shot.Data, err
	}))
	require.NoError(p.t, err)
	return text
}

// The picture of the README is what the program shows after real calls: -picture docs/page.png makes it anew.
func TestThePictureOfTheREADME(t *testing.T) {
	t.Parallel()
	srv := start(t, "-now", "2026-11-20T16:41:00-05:00", "-frozen")
	page := open(t, srv.page(""), func(v *viewer) { v.width, v.height = 1400, 980 })
	srv.traffic()
	page.sees("20 llamadas")
	page.navigate(srv.page("llamadas/9"))
	page.sees("repite #8, 1 s después", "Retry-After: 1")
	js[bool](page, `document.activeElement.blur() ?? true`)
	shown, err := png.Decode(bytes.NewReader(page.screen()))
	require.NoError(t, err)
	assert.Equal(t, image.Rect(0, 0, 1400, 980), shown.Bounds())
	if *picture != "" {
		require.NoError(t, os.WriteFile(*picture, fewColours(t, shown), 0o644))
	}
}

// fewColours is a picture as a PNG file with its 256 most frequent colours, a third of one with all of them.
func fewColours(t *testing.T, full image.Image) []byte {
	t.Helper()
	count := map[color.Color]int{}
	for y := range full.Bounds().Max.Y {
		for x := range full.Bounds().Max.X {
			count[full.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return cmp.Compare(count[b], count[a]) })
	few := image.NewPaletted(full.Bounds(), colours[:min(256, len(colours))])
	draw.Draw(few, few.Rect, full, image.Point{}, draw.Src)
	var text bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&text, few))
	assert.LessOrEqual(t, text.Len(), 150<<10, "bytes: it stands in the repository")
	return text.Bytes()
}
