// Package contracttest has only tests: that openapi.yaml, testdata/, the mock server and the SDK agree.
//
// Each of the four was written by hand from the service's contract. A third-party validator reads openapi.yaml and checks
// the others against it: the answers in testdata/, the answers of the mock server, and the requests of the SDK. In the same
// way it checks the built program against the admin API's document, openapi-admin.yaml.
//
// It is a separate module, so that the SDK does not depend on an OpenAPI validator.
package contracttest
