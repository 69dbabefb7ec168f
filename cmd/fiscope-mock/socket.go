package main

import (
	"crypto/tls"
	"errors"
	"net"

	"github.com/fiscope/fiscope/internal/serve"
)

// listen takes the address, and returns the URL at which it is reached: from here on connections are
// queued, until a server answers them.
func listen(addr string, https *tls.Config) (ln net.Listener, url string, err error) {
	if addr == "" {
		return nil, "", errors.New("the address is empty") // net.Listen would take it for any port of any interface
	}
	if ln, err = net.Listen("tcp", addr); err != nil {
		return nil, "", err
	}
	if https == nil {
		return ln, "http://" + serve.Host(ln), nil
	}
	return tls.NewListener(ln, https), "https://" + serve.Host(ln), nil
}
