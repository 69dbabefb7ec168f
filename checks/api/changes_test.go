package api

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestChanges(t *testing.T) {
	recorded := exports{"a.txt": {"func A()", "func B(int)"}, "b.txt": {"func C()"}}
	for name, test := range map[string]struct {
		now         exports
		gone, added []string
	}{
		"none":               {recorded, nil, nil},
		"a name more":        {recorded.with(exports{"a.txt": {"func D()"}}), nil, []string{"a.txt: func D()"}},
		"a package more":     {recorded.with(exports{"c.txt": {"func A()"}}), nil, []string{"c.txt: func A()"}},
		"a name is gone":     {exports{"a.txt": {"func B(int)"}, "b.txt": {"func C()"}}, []string{"a.txt: func A()"}, nil},
		"a package is gone":  {exports{"a.txt": {"func A()", "func B(int)"}}, []string{"b.txt: func C()"}, nil},
		"a parameter is new": {exports{"a.txt": {"func A()", "func B(int64)"}, "b.txt": {"func C()"}}, []string{"a.txt: func B(int)"}, []string{"a.txt: func B(int64)"}},
		"it moved":           {exports{"a.txt": {"func A()", "func B(int)", "func C()"}}, []string{"b.txt: func C()"}, []string{"a.txt: func C()"}},
	} {
		t.Run(name, func(t *testing.T) {
			gone, added := changes(recorded, test.now)
			assert.Equal(t, test.gone, gone)
			assert.Equal(t, test.added, added)
		})
	}
}

func TestWithKeepsWhatIsGone(t *testing.T) {
	assert.Equal(t, exports{"a.txt": {"A", "B", "C"}}, exports{"a.txt": {"A", "C"}}.with(exports{"a.txt": {"B", "C"}}))
}
