package fiscope

// Known lets the tests of the package's outside ask what it keeps to itself.
func (e Estado) Known() bool { return e.known() }

// Known lets the tests of the package's outside ask what it keeps to itself.
func (c Condicion) Known() bool { return c.known() }

// UserAgent lets the tests see that of a version, since a test is of none.
var UserAgent = userAgent

// Interned lets the tests see for how long the text of a Secreto is kept.
func Interned(text string) bool {
	texts.Lock()
	defer texts.Unlock()
	_, there := texts.hidden[text]
	return there
}
