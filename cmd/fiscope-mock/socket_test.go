package main

import (
	"crypto/tls"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A client that reads nothing does not keep the connection from being closed, over TLS neither.
func TestClosingDoesNotWaitForAClientThatReadsNothing(t *testing.T) {
	s := defaultSettings()
	s.selfSigned = true
	https, _, err := s.tlsConfig()
	require.NoError(t, err)
	ln, url, err := listen("127.0.0.1:0", https)
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	client, err := net.Dial("tcp", strings.TrimPrefix(url, "https://"))
	require.NoError(t, err)
	defer func() { _ = client.Close() }()
	require.NoError(t, client.(*net.TCPConn).SetReadBuffer(4096))
	shaken := make(chan error, 1)
	go func() {
		shaken <- tls.Client(client, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}).Handshake()
	}()
	conn, err := ln.Accept()
	require.NoError(t, err)
	require.NoError(t, conn.(*tls.Conn).Handshake())
	require.NoError(t, <-shaken)
	require.NoError(t, conn.SetWriteDeadline(time.Now().Add(200*time.Millisecond)))
	_, err = conn.Write(make([]byte, 32<<20)) // more than any buffer between them
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	began := time.Now()
	_ = conn.Close()
	assert.Less(t, time.Since(began), 2*time.Second)
}
