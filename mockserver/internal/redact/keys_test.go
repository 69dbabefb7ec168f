package redact_test

import (
	"strings"
	"testing"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
	"github.com/stretchr/testify/assert"
)

func TestKeysAreFoundInEveryWriting(t *testing.T) {
	id := redact.Fingerprint(key)
	for name, c := range map[string]struct {
		keys       []string
		text, want string
	}{
		"none in it":                        {[]string{key}, "/api/tipocambio", "/api/tipocambio"},
		"no keys":                           {nil, "/api/" + key, "/api/" + key},
		"twice":                             {[]string{key}, key + "/" + key, id + "/" + id},
		"two keys":                          {[]string{key, "segunda"}, "segunda" + key, redact.Fingerprint("segunda") + id},
		"one within another":                {[]string{key, key + "-larga"}, key + "-larga", redact.Fingerprint(key + "-larga")},
		"a short one within an escaped one": {[]string{key, "larga-" + key}, "%6Carga-" + key, redact.Fingerprint("larga-" + key)},
		"too short":                         {[]string{"a", "apico"}, "/api/apico", "/api/apico"},
		"six characters":                    {[]string{"apicon"}, "/api/apicon", "/api/" + redact.Fingerprint("apicon")},
		"escapes of a URL":                  {[]string{key}, "x=%63anario%2D4711", "x=" + id},
		"escapes of escapes":                {[]string{key}, "x=%25%36%33anario%2525252D4711", "x=" + id},
		"escapes of JSON":                   {[]string{`con"una\diagonal`}, `«con\"una\\diagonal»`, "«" + redact.Fingerprint(`con"una\diagonal`) + "»"},
		"code points":                       {[]string{key}, `\u0063anario\x2d4711`, id},
		"a slash of JSON":                   {[]string{"una/clave"}, `una\/clave`, redact.Fingerprint("una/clave")},
		"an escaped backslash":              {[]string{key}, `\\u0063anario\\x2d4711`, id},
		"long code points":                  {[]string{key}, `\U00000063anario-4711`, id},
		"code points of a URL":              {[]string{key}, `%u0063anario%u002D4711`, id},
		"HTML":                              {[]string{key}, `&#99;anario&#x2d;4711 &#x0000063;anario&#045;4711`, id + " " + id},
		"names of HTML":                     {[]string{`una&"clave`}, `una&amp;&quot;clave una&#38;amp;&quot;clave`, redact.Fingerprint(`una&"clave`) + " " + redact.Fingerprint(`una&"clave`)},
		"HTML of other text":                {[]string{key}, `a & b; &nada; &#; &amp;amp;`, `a & b; &nada; &#; &amp;amp;`},
		"of Latin-1":                        {[]string{"contraseña"}, `contrase\u00f1a %C3%B1 \xf1`, redact.Fingerprint("contraseña") + ` %C3%B1 \xf1`},
		"of several kinds":                  {[]string{key}, `%5Cu0063anario-4711`, id},
		"a key with an escape":              {[]string{"clave%41b"}, "/clave%41b /claveAb /clave%2541b", "/" + redact.Fingerprint("clave%41b") + " /" + redact.Fingerprint("clave%41b") + " /" + redact.Fingerprint("clave%41b")},
		"too short without its escapes":     {[]string{"%61%70i"}, "/api/tipocambio %61%70i", "/api/tipocambio " + redact.Fingerprint("%61%70i")},
		"escapes of other text":             {[]string{key}, `100%25 \"PERÚ\" %ZZ %`, `100%25 \"PERÚ\" %ZZ %`},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, redact.NewKeys(c.keys...).Out(c.text)) })
	}
}

func TestKeysOfDigitsAsWholeNumbers(t *testing.T) {
	keys, id := redact.NewKeys("123456", key).Whole(), redact.Fingerprint("123456")
	assert.Equal(t, `{"ruc":"20123456789","n":`+id+`,"x":"1234567"}`, keys.Out(`{"ruc":"20123456789","n":123456,"x":"1234567"}`))
	assert.Equal(t, `\u0041 20123456789`, keys.Out(`\u0041 20123456789`))
	assert.Equal(t, "20123456789 "+redact.Fingerprint(key), keys.Out("20123456789 %63anario-4711"))
}

func TestAndLeavesTheKeysAsTheyAre(t *testing.T) {
	one := redact.NewKeys(key)
	two := one.And("segunda")
	assert.Equal(t, "segunda", one.Out("segunda"))
	assert.Equal(t, redact.Fingerprint("segunda")+redact.Fingerprint(key), two.Out("segunda"+key))
}

// A text is read once, whatever is in it.
func TestEscapesWithoutEnd(t *testing.T) {
	hostile := strings.Repeat("%25", 1<<14) + strings.Repeat(`\`, 1<<14) + strings.Repeat("&amp;", 1<<12) + strings.Repeat(";", 1<<12)
	assert.Equal(t, hostile, redact.NewKeys(key).Out(hostile))
}
