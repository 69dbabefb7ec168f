package filestore_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/filestore"
	"github.com/fiscope/fiscope/store"
)

// pathEnv makes the test program a worker with the store of this path.
const pathEnv = "FISCOPE_FILESTORE_TEST_PATH"

// work uses up the quota, and prints how many queries were granted; it tries a credential that is wrong, and prints
// whether it was.
func work(path string) int {
	s, err := filestore.New(path)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	granted, strikes := 0, 0
	for i := 0; err == nil; i++ {
		var r store.Reservation
		if r, err = s.Reserve(ctx, "account", 0); err != nil || r.Grant != store.Granted {
			break
		}
		fmt.Println("granted")
		granted++
		if err = s.Save(ctx, strconv.Itoa(i%7), []byte(strings.Repeat("value", i)), time.Hour); err != nil {
			break
		}
		var c store.Claim
		if c, err = s.Claim(ctx, "credential", time.Minute); err == nil && c.State == store.ClaimGranted {
			strikes++
			err = s.Record(ctx, "credential", c, store.VerdictRefused, time.Hour)
		}
		if err == nil {
			err = s.Commit(ctx, "account", r, store.Outcome{Written: 1, Served: true, Remaining: -1})
		}
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("strikes", strikes)
	return 0
}

// Programs that are killed at any moment leave a file that the others go on with, and no query is granted twice.
func TestProgramsThatAreKilled(t *testing.T) {
	const quota = 400
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	r, err := s.Reserve(t.Context(), "account", 0)
	require.NoError(t, err)
	require.NoError(t, s.Commit(t.Context(), "account", r, store.Outcome{Written: 1, Served: true, Remaining: quota, Reset: time.Now().Add(time.Hour)}))

	const programs = 4
	counts := make(chan [2]int, programs)
	for i := range programs {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), pathEnv+"="+path)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		go func() {
			var count [2]int
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				if lines.Text() == "granted" {
					count[0]++
				} else if n, ok := strings.CutPrefix(lines.Text(), "strikes "); ok {
					count[1], _ = strconv.Atoi(n)
				} else {
					t.Errorf("a program failed: %s", lines.Text())
				}
				if i%2 == 0 && count[0] == 10+i { // in the middle of what it does
					_ = cmd.Process.Kill()
				}
			}
			_ = cmd.Wait() // killed or not
			counts <- count
		}()
	}
	granted, strikes := 0, 0
	for range programs {
		count := <-counts
		granted += count[0]
		strikes += count[1]
	}
	assert.LessOrEqual(t, granted, quota)
	assert.GreaterOrEqual(t, granted, quota-programs, "one that is killed may not have said that it was granted one")
	assert.LessOrEqual(t, strikes, 1)
	value, err := open(t, path).Load(t.Context(), "6")
	require.NoError(t, err)
	assert.NotEmpty(t, value)
}
