package filestore

import "time"

// SetClock replaces time.Now.
func (s *Store) SetClock(now func() time.Time) { s.log.now = now }
