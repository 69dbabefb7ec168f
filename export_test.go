package fiscope

// What the package's tests from outside need of it.

func (e Estado) Known() bool { return e.known() }

func (c Condicion) Known() bool { return c.known() }
