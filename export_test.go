package fiscope

// What the package's tests from outside need of it.

func (e Estado) Known() bool { return e.known() }

func (c Condicion) Known() bool { return c.known() }

// UserAgent is that of a version: a test has none.
var UserAgent = userAgent

// Interned reports whether the text of a Secreto is still kept.
func Interned(text string) bool {
	texts.Lock()
	defer texts.Unlock()
	_, there := texts.hidden[text]
	return there
}
