package padron_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/padrongen"
	"github.com/fiscope/fiscope/padron"
)

var (
	generatedRows = flag.Int("padron-rows", 200_000, "how many rows the generated registry has")
	givenIndex    = flag.String("padron-index", "", "an index for the benchmarks of searches, instead of one of generated rows")
)

// generated writes a registry as it is published, a zip.
func generated(t testing.TB, rows int) (file string, counts padrongen.Counts) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "padron_reducido_ruc.zip")
	f, err := os.Create(file)
	require.NoError(t, err)
	defer f.Close()
	buffered := bufio.NewWriterSize(f, 1<<20)
	z := zip.NewWriter(buffered)
	member, err := z.CreateHeader(&zip.FileHeader{Name: "padron_reducido_ruc.txt", Method: zip.Deflate, Modified: time.Date(2026, 7, 20, 3, 0, 0, 0, time.UTC)})
	require.NoError(t, err)
	counts, err = padrongen.Generate(member, rows, 1)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, buffered.Flush())
	return file, counts
}

// BenchmarkPadron makes an index of -padron-rows rows, and uses it: lookups, and searches of texts of several kinds,
// each a new one every time, the best 10 and the best 50.
//
//	go test ./padron -run '^$' -bench . -padron-rows 18300000 -timeout 1h
func BenchmarkPadron(b *testing.B) {
	index := *givenIndex
	if index == "" {
		file, _ := generated(b, *generatedRows)
		index = filepath.Join(b.TempDir(), "padron.index")
		b.Run("import", func(b *testing.B) {
			for b.Loop() {
				importForBench(b, file, index)
			}
		})
		if _, err := os.Stat(index); err != nil { // -bench left that out
			importForBench(b, file, index)
		}
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			x, err := padron.Open(index)
			require.NoError(b, err)
			x.Close()
		}
	})
	x, err := padron.Open(index)
	require.NoError(b, err)
	defer x.Close()
	b.Run("lookup", func(b *testing.B) {
		rucs := someRUCs(b, index)
		x, err := padron.Open(index) // of which no page is mapped yet
		require.NoError(b, err)
		defer x.Close()
		asked := 0
		b.ReportAllocs()
		measure(b, func() string { asked++; return rucs[asked%len(rucs)] }, func(ruc string) {
			if _, _, err := x.Contribuyente(context.Background(), ruc); err != nil {
				b.Fatal(err)
			}
		})
	})
	made := textsOf(x.FoldedNames(), x.Info().Contribuyentes)
	for _, limit := range []int{10, 50} {
		for _, kind := range made.kinds() {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(kind.name, " ", "-"), limit), func(b *testing.B) {
				made.Rand = rand.New(rand.NewPCG(uint64(limit), 1))
				hits, n := 0, 0
				measure(b, kind.text, func(text string) {
					found, err := x.Buscar(context.Background(), text, limit)
					if err != nil {
						b.Fatal(err)
					}
					hits += len(found)
					n++
				})
				b.ReportMetric(float64(hits)/float64(n), "hits")
			})
		}
	}
}

// someRUCs returns a tenth of all RUCs, a million at most, in a random order. They are drawn through an index of their
// own, and long before they are asked for: a row just read is in the processor's caches.
func someRUCs(b *testing.B, index string) (rucs []string) {
	x, err := padron.Open(index)
	require.NoError(b, err)
	defer x.Close()
	random := rand.New(rand.NewPCG(1, 1))
	for _, rank := range random.Perm(x.Info().Contribuyentes)[:min(x.Info().Contribuyentes/10, 1_000_000)] {
		rucs = append(rucs, x.RUCOfRank(rank))
	}
	random.Shuffle(len(rucs), func(i, j int) { rucs[i], rucs[j] = rucs[j], rucs[i] })
	return rucs
}

// importForBench logs when each phase began, the index's size, and the most memory that the process had, if Linux says it.
func importForBench(b *testing.B, file, index string) {
	began, last := time.Now(), ""
	_, err := padron.Import(b.Context(), file, index, padron.ImportOptions{Progress: func(p padron.Progress) {
		if p.Phase != last {
			b.Logf("%6.1f s  %s: %d rows, %d of %d bytes", time.Since(began).Seconds(), p.Phase, p.Rows, p.Bytes, p.Size)
			last = p.Phase
		}
	}})
	require.NoError(b, err)
	info, err := os.Stat(index)
	require.NoError(b, err)
	b.ReportMetric(float64(info.Size())/1e6, "MB-index")
	status, _ := os.ReadFile("/proc/self/status")
	var kilobytes float64
	if _, after, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
		fmt.Sscan(string(after), &kilobytes)
		b.ReportMetric(kilobytes/1e3, "MB-peak")
	}
}

// measure reports how long a call takes in the middle, and at worst of a hundred and of all. The clock is in it.
func measure(b *testing.B, text func() string, call func(string)) {
	var took []time.Duration
	for b.Loop() {
		text := text()
		began := time.Now()
		call(text)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	micros := func(at int) float64 { return float64(took[at].Nanoseconds()) / 1e3 }
	b.ReportMetric(0, "ns/op") // it has the making of the text
	b.ReportMetric(micros(len(took)/2), "us-p50")
	b.ReportMetric(micros(len(took)*99/100), "us-p99")
	b.ReportMetric(micros(len(took)-1), "us-max")
}
