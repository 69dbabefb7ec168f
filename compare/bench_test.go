package compare

import (
	"net/http"
	"testing"
)

func BenchmarkLookup(b *testing.B) {
	for _, c := range contenders {
		b.Run(c.name, func(b *testing.B) {
			of := c.open(b, always(inJSON(http.StatusOK, c.api.found)))
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				if !c.finds(ctx, of) {
					b.Fatal("it was not found")
				}
			}
		})
	}
}

func BenchmarkNotFound(b *testing.B) {
	for _, c := range contenders {
		b.Run(c.name, func(b *testing.B) {
			of := c.open(b, always(inJSON(http.StatusNotFound, c.api.missing)))
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				if c.finds(ctx, of) {
					b.Fatal("it was found")
				}
			}
		})
	}
}
