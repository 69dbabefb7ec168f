package page_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/mockserver"
)

// The numbers of an answer are shown as they came.
func TestPretty(t *testing.T) {
	var got []string
	modules(t, mockserver.New(t), `globalThis.document = { createElement: () => ({ append() {}, setAttribute() {}, addEventListener() {} }), querySelectorAll: () => [] }
		globalThis.setInterval = () => {}
		const { pretty } = await import(files + 'detail.js')
		say(['{"compra":3.750,"a":[1,{"b":"x,{y:\\"z"}],"c":{},"d":[ ]}', '[]', 'no es JSON {"a":1}'].map(pretty))`, &got)
	assert.Equal(t, []string{
		"{\n  \"compra\": 3.750,\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,{y:\\\"z\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}",
		"[]", `no es JSON {"a":1}`,
	}, got)
}
