// Package compare compares the SDK with six other ways to call an API: net/http by hand, three libraries for any API, and the
// clients of two well-known APIs, which call a stub of their own. It has only tests; docs/comparison.md has the results.
package compare
