package storetest

import (
	"bytes"
	"fmt"
	"sync"
	"time"
)

func (s suite) load(key string) []byte {
	s.t.Helper()
	value, err := s.store.Load(s.ctx, key)
	s.ok(err)
	return value
}

func (s suite) save(key string, value []byte, ttl time.Duration) {
	s.t.Helper()
	s.ok(s.store.Save(s.ctx, key, value, ttl))
}

func (s suite) holds(value []byte) {
	s.t.Helper()
	if got := s.load(s.id); !bytes.Equal(got, value) {
		s.t.Fatalf("Load: got %q, want %q", got, value)
	}
}

func missingAnswer(s suite) {
	if got := s.load(s.id); got != nil {
		s.t.Fatalf("Load of a key that was never saved: got %q, want nil", got)
	}
}

func savedAnswer(s suite) {
	for _, value := range [][]byte{[]byte(`{"ruc":"20131312955"}`), {0, 1, 0xff, '\n'}, bytes.Repeat([]byte("value "), 50_000)} {
		s.save(s.id, value, time.Hour)
		s.holds(value)
	}
	if got := s.load(newID()); got != nil {
		s.t.Fatalf("Load of another key: got %q, want nil", got)
	}
}

func replacedAnswer(s suite) {
	s.save(s.id, []byte("first"), time.Hour)
	s.save(s.id, []byte("second"), time.Hour)
	s.holds([]byte("second"))
}

func expiredAnswer(s suite) {
	s.save(s.id, []byte("first"), time.Hour)
	s.save(s.id, []byte("second"), 50*time.Millisecond)
	s.eventually("a value expires", func() bool { return s.load(s.id) == nil })
}

func concurrentAnswers(s suite) {
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			key, value := fmt.Sprintf("%s%d", s.id, i%4), []byte(fmt.Sprint(i))
			if err := s.store.Save(s.ctx, key, value, time.Hour); err != nil {
				s.t.Errorf("Save: %v", err)
			}
			if got, err := s.store.Load(s.ctx, key); err != nil || len(got) == 0 {
				s.t.Errorf("Load of what was saved: %q, %v", got, err)
			}
		})
	}
	wg.Wait()
}
