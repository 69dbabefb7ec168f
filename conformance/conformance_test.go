package conformance_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/conformance"
	"github.com/fiscope/fiscope/mockserver"
)

// The flags of TestConformance, after -args.
var (
	baseURL    = flag.String("base-url", "", "the server to check (FISCOPE_BASE_URL); none is a mock in the process")
	apiKey     = flag.String("api-key", "", "its API key, which nobody else uses meanwhile (FISCOPE_API_KEY)")
	ruc        = flag.String("ruc", conformance.DefaultRUC, "a RUC that exists")
	rucMissing = flag.String("ruc-missing", conformance.DefaultRUCMissing, "11 digits that no taxpayer has")
	search     = flag.String("search", conformance.DefaultSearch, "a text with more than ten matches")
	fecha      = flag.String("fecha", conformance.DefaultFecha, "a business day with a rate")
	cpe        = flag.String("cpe", "", "a file with receipts and one secondary SOL user, in the format of fiscope-mock -data")
	wrongClave = flag.Bool("wrong-clave", false, "make one validation with a wrong clave, which may be counted")
	budget     = flag.Int("budget", 0, "send nothing if the plan needs more queries than this")
	report     = flag.String("report", "", "write what the contract leaves open and was seen to this file, as JSON")
)

// fromWhere is what people must know of the names of files.
const fromWhere = "go test runs in the folder of the package, so a file of another needs its whole path"

// TestMain runs TestConformance alone if a server is given: the tests of the suite itself say nothing about it.
func TestMain(m *testing.M) {
	flag.Parse()
	asCommand := os.Getenv("FISCOPE_BASE_URL")+os.Getenv("FISCOPE_API_KEY") != ""
	asCommand = asCommand || flag.NArg() > 0
	flag.Visit(func(f *flag.Flag) { asCommand = asCommand || !strings.HasPrefix(f.Name, "test.") })
	if only := flag.Lookup("test.run"); asCommand && only.Value.String() == "" {
		fmt.Println("conformance: a server is given: the tests of the suite itself are left out")
		_ = only.Value.Set("^TestConformance$")
	}
	goleak.VerifyTestMain(m)
}

// TestConformance is the suite as a command:
//
//	go test ./conformance -count=1 -args -base-url URL -api-key KEY
func TestConformance(t *testing.T) {
	target := conformance.Target{
		BaseURL: cmp.Or(*baseURL, os.Getenv("FISCOPE_BASE_URL")), APIKey: cmp.Or(*apiKey, os.Getenv("FISCOPE_API_KEY")),
		RUC: *ruc, RUCMissing: *rucMissing, Search: *search, Fecha: *fecha, WrongClave: *wrongClave, Budget: *budget,
	}
	require.Zero(t, flag.NArg(), "what follows -args is flags, as in -base-url URL: nothing was sent")
	flag.Visit(func(f *flag.Flag) {
		require.False(t, f.Name == "budget" && *budget < 1, "-budget %d allows no query: nothing was sent", *budget)
	})
	if *cpe != "" {
		var err error
		target.CPE, err = conformance.LoadCPE(*cpe)
		require.NoError(t, err, "-cpe: nothing was sent; "+fromWhere)
	}
	if target.BaseURL == "" && target.APIKey == "" {
		fmt.Println("conformance: no server is given: the suite runs against a mock in this process")
		target.BaseURL, target.APIKey, target.CPE = ownMock(t, target.CPE)
	}
	if *report != "" {
		require.DirExists(t, filepath.Dir(*report), "-report: nothing was sent; "+fromWhere)
	}
	seen := conformance.Run(t, target)
	if *report != "" {
		assert.NoError(t, writeReport(*report, seen), "-report")
		whole, _ := filepath.Abs(*report)
		fmt.Printf("conformance: the report is %s\n", whole)
	}
}

// ownMock starts a mock with the receipts of -cpe, or with those of its own data, whose clave is known.
func ownMock(t *testing.T, given *conformance.CPE) (url, key string, receipts *conformance.CPE) {
	t.Helper()
	if given != nil {
		data, err := mockserver.LoadData(*cpe)
		require.NoError(t, err)
		mock := mockserver.New(t, mockserver.WithData(data))
		return mock.URL, mock.APIKey, given
	}
	const emisor, otherEmisor = "20100070970", "20331898008"
	mock := mockserver.New(t)
	return mock.URL, mock.APIKey, &conformance.CPE{
		Comprobantes: []conformance.Comprobante{
			{RUCEmisor: emisor, Tipo: "01", Serie: "F001", Numero: 123, Codigo: "0"},
			{RUCEmisor: emisor, Tipo: "01", Serie: "F001", Numero: 124, Codigo: "2"},
			{RUCEmisor: emisor, Tipo: "01", Serie: "F001", Numero: 125, Codigo: "4"},
			{RUCEmisor: emisor, Tipo: "01", Serie: "F001", Numero: 126, Codigo: "98"},
			{RUCEmisor: emisor, Tipo: "01", Serie: "F001", Numero: 127, Codigo: "99"},
			{RUCEmisor: emisor, Tipo: "03", Serie: "B001", Numero: 4567, Codigo: "0"},
			{RUCEmisor: emisor, Tipo: "07", Serie: "F001", Numero: 15, Codigo: "0"},
			{RUCEmisor: otherEmisor, Tipo: "08", Serie: "FND1", Numero: 8, Codigo: "0"},
		},
		Usuario: conformance.UsuarioSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: mockserver.ClaveSOL},
	}
}

// writeReport writes a report to a file, and replaces what is there.
func writeReport(name string, seen []conformance.Observation) error {
	text, err := json.MarshalIndent(seen, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}
