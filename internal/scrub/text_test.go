package scrub_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/scrub"
)

func TestAbridgeRUCs(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"10123456789":                "10…789",
		"RUC 10123456789.":           "RUC 10…789.",
		"(10123456789,20131312955)":  "(10…789,20…955)",
		"ñ10123456789ñ":              "ñ10…789ñ",
		"101234567890 1012345678":    "101234567890 1012345678",
		"x10123456789 10123456789_y": "x10123456789 10123456789_y",
		"1012345678９":                "1012345678９",
	} {
		assert.Equal(t, want, scrub.AbridgeRUCs(text), text)
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "",
		" ":                   "",
		"uno dos":             "uno dos",
		" uno":                "uno",
		"uno ":                "uno",
		"uno  dos":            "uno dos",
		"uno\u00a0\t\r\ndos":  "uno dos",
		"u\u200bn\u202eo\x00": "uno",
		"a\ue000ñ\u0303":      "añ\u0303",
	} {
		assert.Equal(t, want, scrub.Visible(text), "%q", text)
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{"": "", "ñññ": "ñññ", "ññññ": "ñññ…", "abc": "abc", "abcd": "abc…"} {
		assert.Equal(t, want, scrub.Cut(text, 3))
	}
}

func TestDigits(t *testing.T) {
	for text, want := range map[string]bool{"": false, "0": true, "20131312955": true, "1a": false, "٣": false, " 1": false} {
		assert.Equal(t, want, scrub.Digits(text), text)
	}
}

func TestUTF8(t *testing.T) {
	for body, want := range map[string]string{"\uFEFFaño": "año", "a\xf1o": "año", "ñ\xd1": "ñÑ", "\x80\x81": "€\uFFFD"} {
		assert.Equal(t, want, string(scrub.UTF8([]byte(body))))
	}
}

func TestAPage(t *testing.T) {
	s := scrub.Secrets{}.With("clave<24>")
	for body, want := range map[string]string{
		"texto":                                 "texto",
		"<html><TITLE a>403 &amp; x</title><p>": "403 & x",
		"<title> </title><p>uno<br>dos":         "uno dos",
		"<script>x<b>y</script>uno<style>p{}</STYLE > dos<script>z": "uno dos",
		"<p>clave&lt;24&gt; errada":                                 "[secreto] errada",
		"<p>clave<24> errada":                                       "[secreto] errada",
		"<":                                                         "",
	} {
		assert.Equal(t, want, scrub.Visible(s.Page([]byte(body))), body)
	}
	long := s.Page([]byte("<p>" + strings.Repeat(" ", 64<<10-8) + "clave<24>"))
	assert.Empty(t, scrub.Visible(long), "a secret that the end of the search cuts")
}
