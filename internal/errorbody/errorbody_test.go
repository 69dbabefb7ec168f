package errorbody_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/errorbody"
)

func TestRead(t *testing.T) {
	known := func(code string) bool { return code == "NOT_FOUND" }
	for name, test := range map[string]struct {
		body string
		want errorbody.Body
	}{
		"the contract's":         {`{"error":"No existe","code":"NOT_FOUND"}`, errorbody.Body{Code: "NOT_FOUND", Text: "No existe", IsError: true}},
		"a code in small blanks": {`{"error":"x","code":" not found "}`, errorbody.Body{Code: "NOT_FOUND", Text: "x", IsError: true}},
		"an unknown code":        {`{"error":"x","code":"otro código"}`, errorbody.Body{Code: "otro código", Text: "x", IsError: true}},
		"nested":                 {`{"error":{"code":"NOT_FOUND","message":"No existe"}}`, errorbody.Body{Code: "NOT_FOUND", Text: "No existe", IsError: true}},
		"a known code within":    {`{"code":"404","error":{"code":"NOT_FOUND"}}`, errorbody.Body{Code: "NOT_FOUND", IsError: true}},
		"an unknown code within": {`{"code":"404","error":{"code":"otro"}}`, errorbody.Body{Code: "otro", IsError: true}},
		"a list":                 {`{"errors":[{"title":"x"},{"detail":"No existe"},{"detail":"otro"}]}`, errorbody.Body{Text: "No existe", IsError: true}},
		"a list of one":          {`{"errors":[{}]}`, errorbody.Body{IsError: true}},
		"an empty list":          {`{"errors":[]}`, errorbody.Body{}},
		"a message":              {`{"message":"No existe"}`, errorbody.Body{Text: "No existe"}},
		"msg":                    {`{"msg":"No existe","detail":"otro"}`, errorbody.Body{Text: "No existe"}},
		"true, and its reason":   {`{"error":true,"detail":"No existe"}`, errorbody.Body{Text: "No existe", IsError: true}},
		"a known code alone":     {`{"code":"NOT_FOUND"}`, errorbody.Body{Code: "NOT_FOUND", IsError: true}},
		"an unknown code alone":  {`{"code":"0"}`, errorbody.Body{Code: "0"}},
		"no error":               {`{"error":false,"ruc":"20131312955"}`, errorbody.Body{}},
		"an error of null":       {`{"error":null}`, errorbody.Body{}},
		"an empty error":         {`{"error":""}`, errorbody.Body{}},
		"a list of rows":         {`[{"error":"x"}]`, errorbody.Body{}},
		"cut short":              {`{"error":"No existe","code":"NOT_FOUND"`, errorbody.Body{}},
		"a page":                 {`<html>NOT_FOUND</html>`, errorbody.Body{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := errorbody.Read([]byte(test.body), known)
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.want.Code != "" || test.want.Text != "", got.Says())
		})
	}
}

func TestPage(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"a title":          {"\n<!doctype html><HTML><Title lang=es>502\nMal &amp; tarde</TITLE>", "502\nMal & tarde"},
		"no title":         {"<html><h1>502</h1>", ""},
		"plain text":       {"  upstream timed out\n", "upstream timed out"},
		"a long text":      {strings.Repeat("x", 4097), ""},
		"as long as it is": {strings.Repeat("x", 4096), strings.Repeat("x", 4096)},
		"a title too far":  {"<html>" + strings.Repeat(" ", 4096) + "<title>502</title>", ""},
		"JSON":             {`{"ruc":1}`, ""},
		"a list":           {`[1]`, ""},
		"a text of JSON":   {`"x"`, ""},
		"nothing":          {" \n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, errorbody.Page([]byte(test.body)))
		})
	}
}
