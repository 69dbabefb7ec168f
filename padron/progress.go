package padron

// Progress says how far an import is.
type Progress struct {
	Phase string // one of PhaseHash, ...
	Rows  int64  // read
	Bytes int64  // read in this phase
	Size  int64  // bytes to read in this phase; 0 if unknown
}

// The phases of an import, in order. Reading the rows takes a third of the time.
const (
	PhaseHash     = "hashing"            // the file as it is, for its SHA-256
	PhaseEncoding = "checking for UTF-8" // the whole text, only if its header may be UTF-8
	PhaseRead     = "reading"            // the rows
	PhaseOrder    = "ordering names"
	PhaseWords    = "sorting words"
	PhaseInner    = "sorting places inside words"
)

// beginPhase reports that a phase of size bytes begins, and returns the function to call after reading bytes.
type beginPhase func(phase string, size int64) (read func(bytes int))
