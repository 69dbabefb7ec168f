package main

import (
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"

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
	return tls.NewListener(underTLS{ln}, https), "https://" + serve.Host(ln), nil
}

// underTLS accepts the connections that TLS is spoken on.
type underTLS struct{ net.Listener }

func (l underTLS) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &connUnderTLS{TCPConn: conn.(*net.TCPConn)}, nil
}

// connUnderTLS sends nothing more once a write has failed: closing a TLS connection sends an alert, which would wait
// five seconds for a client that reads nothing, and the end of the server with it.
type connUnderTLS struct {
	*net.TCPConn
	failed atomic.Pointer[error]
}

func (c *connUnderTLS) Write(b []byte) (int, error) {
	if err := c.failed.Load(); err != nil {
		return 0, *err
	}
	n, err := c.TCPConn.Write(b)
	if err != nil {
		c.failed.Store(&err)
	}
	return n, err
}
