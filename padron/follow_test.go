package padron_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/filewatch"
	"github.com/fiscope/fiscope/padron"
)

// numbered writes an index with 20000000001 NUMERO n. All of them have one size, and were written at the same time.
func numbered(t *testing.T, name string, n int) string {
	t.Helper()
	content := fileOf(t, []padron.RowForTest{{RUC: "20000000001", Nombre: fmt.Sprint("NUMERO ", n)}, {RUC: "20000000002", Nombre: "OTRO"}})
	return writeAt(t, name, content, time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC))
}

func writeAt(t *testing.T, name string, content []byte, at time.Time) string {
	t.Helper()
	require.NoError(t, os.WriteFile(name, content, 0o600))
	require.NoError(t, os.Chtimes(name, at, at))
	return name
}

// change changes a byte of a text, so that the index's header stays.
func change(t *testing.T, name, text string) {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	content[bytes.Index(content, []byte(text))]++
	require.NoError(t, os.WriteFile(name, content, 0o600))
}

// followed is a Follower of an index NUMERO 0, in a bubble.
type followed struct {
	*padron.Follower
	path, next string // the index, and where one that will replace it is written
	taken      []padron.Info
	refused    []string
}

func follow(t *testing.T, damaged bool) *followed {
	t.Helper()
	folder := t.TempDir()
	f := &followed{path: filepath.Join(folder, "padron.index"), next: filepath.Join(folder, "next.index")}
	numbered(t, f.path, 0)
	if damaged {
		change(t, f.path, "otro")
	}
	var err error
	f.Follower, err = padron.Follow(f.path, func(info padron.Info, err error) {
		if err != nil {
			f.refused = append(f.refused, err.Error())
		} else {
			f.taken = append(f.taken, info)
		}
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, f.Close()) })
	synctest.Wait() // until it is verified
	return f
}

// answer is what the questions find, or why they fail. A taxpayer may still be found by RUC, and is right.
func (f *followed) answer(t *testing.T) (string, error) {
	t.Helper()
	found, err := f.Buscar(t.Context(), "numero", 5)
	_, _, missing := f.Contribuyente(t.Context(), "20000000003")
	c, fecha, ofLookup := f.Contribuyente(t.Context(), "20000000001")
	if err != nil {
		assert.Nil(t, found)
		assert.Equal(t, err, missing, "it may be there")
		if ofLookup == nil {
			assert.Equal(t, "NUMERO 0", c.RazonSocial)
		} else {
			assert.Equal(t, err, ofLookup)
			assert.Nil(t, c)
			assert.Zero(t, fecha)
		}
		return "", err
	}
	require.ErrorIs(t, missing, fiscope.ErrNotFound)
	require.NoError(t, ofLookup)
	assert.Equal(t, fiscope.NewFecha(2026, 7, 20), fecha)
	assert.Equal(t, []fiscope.Contribuyente{*c}, found)
	return c.RazonSocial, nil
}

// replace replaces the followed index, and waits for the change.
func (f *followed) replace(t *testing.T, n int) {
	t.Helper()
	require.NoError(t, os.Rename(numbered(t, f.next, n), f.path))
	time.Sleep(5 * time.Second)
	synctest.Wait()
}

// TestFollow with all that may become of a file: what was written over is not answered from, and a whole one is taken up.
func TestFollow(t *testing.T) {
	for name, c := range map[string]struct {
		harm    func(t *testing.T, f *followed)
		fails   string // how calls do from then on
		refused string
	}{
		"truncated": {func(t *testing.T, f *followed) { require.NoError(t, os.Truncate(f.path, 0)) }, "wrote over", "empty"},
		"cut":       {func(t *testing.T, f *followed) { require.NoError(t, os.Truncate(f.path, 600)) }, "wrote over", "cut"},
		"damaged before it is followed, which is seen once it is read through": {nil, ": damaged", "damaged"},
		"longer":       {func(t *testing.T, f *followed) { require.NoError(t, os.Truncate(f.path, 1<<20)) }, "wrote over", "cut or damaged"},
		"changed":      {func(t *testing.T, f *followed) { change(t, f.path, "numero") }, "wrote over", "damaged"},
		"written over": {func(t *testing.T, f *followed) { writeAt(t, f.path, []byte("hola"), time.Now()) }, "wrote over", "not an index"},
		"removed":      {func(t *testing.T, f *followed) { require.NoError(t, os.Remove(f.path)) }, "", "no such file"},
		"replaced": {func(t *testing.T, f *followed) {
			require.NoError(t, os.Rename(writeAt(t, f.next, []byte("hola"), time.Now()), f.path))
		}, "", "not an index"},
		"replaced by a changed one": {func(t *testing.T, f *followed) {
			change(t, numbered(t, f.next, 1), "numero")
			require.NoError(t, os.Rename(f.next, f.path))
		}, "", "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := follow(t, c.harm == nil)
				check := func() {
					t.Helper()
					got, err := f.answer(t)
					if c.fails == "" {
						require.NoError(t, err)
						assert.Equal(t, "NUMERO 0", got)
					} else {
						require.ErrorContains(t, err, c.fails)
						require.ErrorContains(t, err, f.path)
					}
				}
				if c.harm != nil {
					c.harm(t, f)
				}
				check() // at once
				time.Sleep(10 * filewatch.Interval)
				synctest.Wait()
				check()
				require.Len(t, f.refused, 1)
				assert.Contains(t, f.refused[0], c.refused)

				before := f.OpenIndex()
				f.replace(t, 1)
				got, err := f.answer(t)
				require.NoError(t, err)
				assert.Equal(t, "NUMERO 1", got)
				assert.Equal(t, []padron.Info{f.Info()}, f.taken)
				assert.Len(t, f.refused, 1)
				require.ErrorIs(t, before.Verify(t.Context()), os.ErrClosed)
			})
		})
	}
}

// TestFollowTakesWhatLooksAlike, and one of before again, of the same size and time.
func TestFollowTakesWhatLooksAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, false)
		for _, n := range []int{1, 2, 1, 0} {
			f.replace(t, n)
			got, err := f.answer(t)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprint("NUMERO ", n), got)
		}
		assert.Len(t, f.taken, 4)
		numbered(t, f.path, 0) // by cp, and as it was
		require.NoError(t, os.Truncate(f.path, 600))
		time.Sleep(5 * time.Second)
		numbered(t, f.path, 0)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		_, err := f.answer(t)
		require.NoError(t, err)
		assert.Len(t, f.taken, 5)
		assert.Len(t, f.refused, 1)
	})
}

// TestFollowAsksTheNextIndex if the one that is asked is closed before it is read.
func TestFollowAsksTheNextIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, false)
		asked := 0
		require.NoError(t, f.Ask(func(x *padron.Index) (bool, error) {
			if asked++; asked == 1 {
				f.replace(t, 1)
			}
			_, _, err := x.Contribuyente(t.Context(), "20000000001")
			return err == nil, err
		}))
		assert.Equal(t, 2, asked)
	})
}

// TestCloseWaitsForWhatItTakesUp, which it then closes.
func TestCloseWaitsForWhatItTakesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := numbered(t, filepath.Join(t.TempDir(), "padron.index"), 0)
		opened, closed := make(chan *padron.Follower, 1), make(chan struct{})
		f, err := padron.Follow(path, func(padron.Info, error) {
			go func() {
				defer close(closed)
				assert.NoError(t, (<-opened).Close())
			}()
			synctest.Wait()
			select {
			case <-closed:
				assert.Fail(t, "it did not wait")
			default:
			}
		})
		require.NoError(t, err)
		opened <- f
		require.NoError(t, os.Rename(numbered(t, path+".next", 1), path))
		<-closed
		require.ErrorIs(t, f.OpenIndex().Verify(t.Context()), os.ErrClosed)
	})
}

func TestFollowUntilItIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, false)
		require.NoError(t, f.Close())
		require.NoError(t, f.Close())
		_, err := f.answer(t)
		require.ErrorIs(t, err, os.ErrClosed)
		f.replace(t, 1)
		assert.Empty(t, f.taken)
		assert.Empty(t, f.refused)
	})
	_, err := padron.Follow(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
