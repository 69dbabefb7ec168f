package redisstore_test

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// proxy is the way to a Redis: it can be slow, hang, or reset what comes.
type proxy struct {
	addr   string
	target string

	mu     sync.Mutex
	delay  time.Duration // of each answer
	hangs  bool          // nothing comes through
	mutes  string        // from a question with this text on no answer comes; "" for never
	mute   bool          // no answer comes
	resets bool          // connections break
	loses  int           // so many answers, with their connections
	conns  []net.Conn
}

func startProxy(t testing.TB, target string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{addr: listener.Addr().String(), target: target}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(conn, &wg) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		p.set(func() { p.hangs, p.mute, p.delay = false, false, 0 })
		p.breakAll()
		wg.Wait()
	})
	return p
}

func (p *proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *proxy) breakAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
	p.conns = nil
}

func (p *proxy) serve(down net.Conn, wg *sync.WaitGroup) {
	up, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = down.Close()
		return
	}
	p.set(func() { p.conns = append(p.conns, down, up) })
	wg.Go(func() { p.pass(down, up, false) })
	p.pass(up, down, true)
}

// pass copies what comes from one side to the other.
func (p *proxy) pass(from, to net.Conn, answers bool) {
	defer func() { _, _ = from.Close(), to.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		p.set(func() {
			if !answers && p.mutes != "" && bytes.Contains(buffer[:n], []byte(p.mutes)) {
				p.mute = true
			}
		})
		for {
			p.mu.Lock()
			delay, hangs, resets := p.delay, p.hangs || answers && p.mute, p.resets
			if answers && p.loses > 0 {
				p.loses--
				resets = true
			}
			p.mu.Unlock()
			if resets {
				_ = from.(*net.TCPConn).SetLinger(0)
				_ = to.(*net.TCPConn).SetLinger(0)
				return
			}
			if !hangs {
				if answers {
					time.Sleep(delay)
				}
				break
			}
			time.Sleep(time.Millisecond)
		}
		if _, err = to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
