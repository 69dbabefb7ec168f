package resty

// quiet is a logger that writes nothing: what resty logs of a failure is not compared.
type quiet struct{}

func (quiet) Errorf(string, ...any) {}
func (quiet) Warnf(string, ...any)  {}
func (quiet) Debugf(string, ...any) {}
