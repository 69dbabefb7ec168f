package redisstore_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"
)

// A server that is no Redis, or not ours, grants nothing that cannot be, and hangs nobody.
func FuzzReply(f *testing.F) {
	day := "*11\r\n$3\r\nday\r\n:1\r\n:0\r\n$0\r\n\r\n$1\r\ne\r\n$6\r\nheader\r\n$2\r\n99\r\n$13\r\n1795200000000\r\n$8\r\n43200000\r\n$1\r\n0\r\n$1\r\n1\r\n"
	for _, seed := range []string{
		"", "+OK\r\n", "-ERR no\r\n", "$-1\r\n", "$3\r\nabc\r\n", "$7\r\ngranted\r\n", "$7\r\nclaimed\r\n", "$6\r\nproven\r\n", "$18\r\nrefused 1795200000\r\n", ":1\r\n", "*0\r\n", "*-1\r\n", "*2\r\n:1\r\n", "-NOSCRIPT x\r\n",
		day, strings.Replace(day, "$3\r\nday", "$5\r\nspent", 1), strings.Replace(day, "$3\r\nday", "$5\r\nprobe", 1), strings.Replace(day, ":1", ":-9", 1), strings.Replace(day, "$8\r\n43200000", "$20\r\n99999999999999999999", 1),
		"HTTP/1.1 400 Bad Request\r\n\r\n", "_\r\n", "%1\r\n+a\r\n:1\r\n", "*1\r\n*1\r\n*1\r\n$-1\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, reply []byte) {
		if announcesMuch.Match(reply) {
			return // go-redis makes room for as many bytes or values as are announced
		}
		synctest.Test(t, func(t *testing.T) { // it asks again for a second
			client := redis.NewClient(&redis.Options{
				Dialer:     func(context.Context, string, string) (net.Conn, error) { return answering(reply), nil },
				MaxRetries: -1, DialerRetries: 1, Protocol: 2, DisableIdentity: true,
				MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
			})
			defer func() { require.NoError(t, client.Close()) }()
			ctx := t.Context()
			// Each on a Store of its own: one that knows Redis to be away does not ask.
			fresh := func() *redisstore.Store {
				s, err := redisstore.New(client, redisstore.WithLease(3), redisstore.WithShare(2))
				require.NoError(t, err)
				return s
			}
			_, _ = fresh().Load(ctx, "0123")
			_ = fresh().Save(ctx, "0123", []byte("x"), time.Minute)
			_ = fresh().Forget(ctx, "4567")
			s := fresh()
			moment, cancel := context.WithTimeout(ctx, 50*time.Millisecond) // or it asks again for a second
			claim, err := s.Claim(moment, "4567", time.Second)
			cancel()
			require.True(t, claim.State >= fiscope.ClaimGranted && claim.State <= fiscope.ClaimBusy)
			if err == nil && claim.State == fiscope.ClaimGranted {
				require.NotEmpty(t, claim.Token)
			}
			_ = fresh().Conclude(ctx, "4567", claim, fiscope.VerdictRefused, time.Minute)
			s = fresh()
			r, err := s.Reserve(ctx, account, 0)
			require.NoError(t, err)
			require.True(t, r.Grant >= fiscope.QuotaGranted, r.Grant)
			require.Equal(t, r.Grant == fiscope.QuotaGranted, r.Token != "")
			_ = s.Settle(ctx, account, r, fiscope.Outcome{Written: 1, StatusCode: 200})
			_ = s.Release(ctx)
		})
	})
}

var announcesMuch = regexp.MustCompile(`[^:+\-0-9][-+]?[0-9]{6,}\r`)

// answering is a connection to a server that gives this reply to the first command after the greetings,
// and hangs up.
func answering(reply []byte) net.Conn {
	ours, theirs := net.Pipe()
	go func() {
		defer func() { _ = ours.Close() }()
		commands := bufio.NewReader(ours)
		for {
			name, err := readCommand(commands)
			if err != nil {
				return
			}
			switch strings.ToLower(name) {
			case "hello":
				_, _ = io.WriteString(ours, "-ERR unknown command\r\n")
			case "client":
				_, _ = io.WriteString(ours, "+OK\r\n")
			default:
				_, _ = ours.Write(reply)
				return
			}
		}
	}()
	return theirs
}

// readCommand reads an array of strings, and returns the first.
func readCommand(r *bufio.Reader) (name string, err error) {
	length := func(kind string) (n int, err error) {
		line, err := r.ReadString('\n')
		if err == nil && !strings.HasPrefix(line, kind) {
			err = fmt.Errorf("not a %s: %q", kind, line)
		}
		if err == nil {
			n, err = strconv.Atoi(strings.TrimSpace(line[1:]))
		}
		return n, err
	}
	words, err := length("*")
	for i := 0; i < words && err == nil; i++ {
		var n int
		if n, err = length("$"); err != nil {
			break
		}
		word := make([]byte, n+2)
		if _, err = io.ReadFull(r, word); i == 0 {
			name = string(word[:n])
		}
	}
	return name, err
}
