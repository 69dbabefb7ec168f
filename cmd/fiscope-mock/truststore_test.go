package main

import (
	"bytes"
	"encoding/asn1"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Java and PHP take the mock's CA beside what they took before, and what was set for them stays.
func TestWhatJavaAndPHPAreTold(t *testing.T) {
	folder := t.TempDir()
	_, ca, err := selfSigned([]string{"localhost"})
	require.NoError(t, err)
	_, trusted, err := selfSigned([]string{"otro"})
	require.NoError(t, err)
	r := running{caFile: writeFile(t, folder, "ca.pem", string(ca))}
	roots := writeFile(t, folder, "roots.pem", "a comment\n"+string(trusted)+"-----BEGIN OTHER-----\nAAAA\n-----END OTHER-----\n")
	variables, err := r.trust([]string{"SSL_CERT_FILE=" + roots, "JAVA_TOOL_OPTIONS=-Xmx1g", "PHP_INI_SCAN_DIR=/mi/php"}, folder)
	require.NoError(t, err)
	store := filepath.Join(folder, "truststore.p12")
	assert.Equal(t, `-Xmx1g "-Djavax.net.ssl.trustStore=`+store+`" -Djavax.net.ssl.trustStoreType=PKCS12`, lookupEnv(variables, "JAVA_TOOL_OPTIONS"))
	assert.Equal(t, "/mi/php"+string(os.PathListSeparator)+filepath.Join(folder, "php"), lookupEnv(variables, "PHP_INI_SCAN_DIR"))
	assert.Equal(t, []string{"fiscope.ini"}, filesIn(t, filepath.Join(folder, "php")))
	bundle := lookupEnv(variables, "SSL_CERT_FILE")
	assert.Equal(t, "curl.cainfo=\""+bundle+"\"\nopenssl.cafile=\""+bundle+"\"\n", string(readFile(t, filepath.Join(folder, "php", "fiscope.ini"))))

	none, err := (&running{caFile: r.caFile}).trust(nil, t.TempDir())
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(lookupEnv(none, "PHP_INI_SCAN_DIR"), string(os.PathListSeparator)), "PHP's own folder too")
	assert.True(t, strings.HasPrefix(lookupEnv(none, "JAVA_TOOL_OPTIONS"), `"-D`))

	var file pkcs12
	rest, err := asn1.Unmarshal(readFile(t, store), &file)
	require.NoError(t, err)
	assert.Empty(t, rest)
	var safe []pkcs12Content
	_, err = asn1.Unmarshal(file.Content.Data, &safe)
	require.NoError(t, err)
	require.Len(t, safe, 1)
	var bags []pkcs12Bag
	_, err = asn1.Unmarshal(safe[0].Data, &bags)
	require.NoError(t, err)
	require.Len(t, bags, 2)
	for i, text := range [][]byte{trusted, ca} {
		block, _ := pem.Decode(text)
		assert.True(t, bytes.Equal(block.Bytes, bags[i].Cert.DER))
		assert.Equal(t, javaTrusts, bags[i].Attributes)
	}
}
