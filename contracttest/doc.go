// Package contracttest holds no code, only tests: that openapi.yaml, testdata/, the mock server and
// the SDK say the same thing.
//
// Each of the four was written by hand from the service's contract. openapi.yaml is the one that a
// validator which is not ours can read, so the other three are held against it: the answers in
// testdata/, the answers of the mock server, and the requests of the SDK.
//
// The admin API of the mock's program has a document of its own, openapi-admin.yaml, which is held against the
// built program in the same way.
//
// It is a module of its own, so that nobody who imports the SDK inherits an OpenAPI validator.
package contracttest
