package fiscope

// Known lets the tests of the package's outside ask what it keeps to itself.
func (e Estado) Known() bool { return e.known() }

// Known lets the tests of the package's outside ask what it keeps to itself.
func (c Condicion) Known() bool { return c.known() }
