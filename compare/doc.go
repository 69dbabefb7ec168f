// Package compare puts the SDK beside six other ways to call an API: net/http by hand, three libraries for any API, and
// the clients of two APIs that many people know, which call a stub of their own. It has only tests: what came of them
// is docs/comparison.md.
package compare
