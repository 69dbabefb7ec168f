package padron

// Progress is how far an import is.
type Progress struct {
	Phase string // one of PhaseHash, ...
	Rows  int64  // read
	Bytes int64  // read in this phase
	Size  int64  // what this phase reads; 0 where it does not know how far it is
}

// The phases of an import, in their order. To read the rows takes a third of the time.
const (
	PhaseHash     = "hashing"            // the file as it is, for its SHA-256
	PhaseEncoding = "checking for UTF-8" // all of the text, where its header may be UTF-8; else there is no such phase
	PhaseRead     = "reading"            // the rows
	PhaseOrder    = "ordering names"
	PhaseWords    = "sorting words"
	PhaseInner    = "sorting places inside words"
)

// beginPhase reports that a phase of so many bytes begins, and returns the function to call for bytes that were read.
type beginPhase func(phase string, size int64) (read func(bytes int))
