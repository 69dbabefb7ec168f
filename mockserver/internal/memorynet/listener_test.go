package memorynet_test

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/fiscope/fiscope/mockserver/internal/memorynet"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect returns both ends of a new connection.
func connect(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l := memorynet.Listen()
	t.Cleanup(func() { _ = l.Close() })
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	client, err := l.Dial(t.Context(), "tcp", "cualquier.host.example:80")
	require.NoError(t, err)
	server = <-accepted
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	return client, server
}

func TestBytesGoBothWays(t *testing.T) {
	client, server := connect(t)
	for name, ends := range map[string][2]net.Conn{"to the server": {client, server}, "to the client": {server, client}} {
		t.Run(name, func(t *testing.T) {
			go func() { _, _ = io.WriteString(ends[0], "hola") }()
			got := make([]byte, 4)
			_, err := io.ReadFull(ends[1], got)
			require.NoError(t, err)
			assert.Equal(t, "hola", string(got))
		})
	}
}

func TestEndOfAConnection(t *testing.T) {
	for name, c := range map[string]struct {
		linger int // as of a net.TCPConn; -1 leaves it as it was
		reset  bool
	}{
		"closed": {-1, false}, "closed, after lingering": {5, false}, "reset": {0, true},
	} {
		t.Run(name, func(t *testing.T) {
			client, server := connect(t)
			if c.linger >= 0 {
				require.NoError(t, server.(interface{ SetLinger(int) error }).SetLinger(c.linger))
			}
			require.NoError(t, server.Close())
			_, reading := client.Read(make([]byte, 1))
			_, writing := client.Write([]byte("x"))
			for _, err := range []error{reading, writing} {
				var op *net.OpError
				assert.Equal(t, c.reset, errors.As(err, &op) && errors.Is(err, syscall.ECONNRESET), "%v", err)
			}
			if !c.reset {
				assert.ErrorIs(t, reading, io.EOF)
				assert.ErrorIs(t, writing, io.ErrClosedPipe)
			}
		})
	}
}

func TestDialAndAcceptEnd(t *testing.T) {
	l := memorynet.Listen()
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the client left")
	cancel(reason)
	_, err := l.Dial(ctx, "tcp", "")
	assert.ErrorIs(t, err, reason)

	require.NoError(t, l.Close())
	require.NoError(t, l.Close(), "twice is fine")
	_, err = l.Dial(t.Context(), "tcp", "")
	assert.ErrorIs(t, err, net.ErrClosed)
	_, err = l.Accept()
	assert.ErrorIs(t, err, net.ErrClosed)
}
