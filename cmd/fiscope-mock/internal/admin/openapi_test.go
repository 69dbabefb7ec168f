package admin

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// That the document describes what the program does is shown in contracttest, which has a validator. No call
// reaches every error there: here the codes are compared.
func TestTheDocumentListsTheCodesOfThisPackage(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	codes := map[string]bool{}
	for _, name := range files {
		if text, err := os.ReadFile(name); assert.NoError(t, err) && !strings.HasSuffix(name, "_test.go") {
			for _, code := range regexp.MustCompile(`MOCK_ADMIN_[A-Z_]+`).FindAllString(string(text), -1) {
				codes[code] = true
			}
		}
	}
	text, err := os.ReadFile("../../openapi-admin.yaml")
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, item := range regexp.MustCompile(`(?m)^ +- (MOCK_ADMIN_[A-Z_]+)$`).FindAllStringSubmatch(string(text), -1) {
		listed[item[1]] = true
	}
	assert.Equal(t, codes, listed)
	for _, code := range regexp.MustCompile(`MOCK_ADMIN_[A-Z_]+`).FindAllString(string(text), -1) {
		assert.True(t, codes[code], code)
	}
}
