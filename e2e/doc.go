// Package e2e holds no code, only tests: of the mock server's page, in a browser that people use.
//
// They start the built program, call it as a client would, and look at the page as a person does: controls
// and texts are found by their role and accessible name, as a screen reader says them, not by their markup.
//
// It is a module of its own, so that nobody who imports the SDK inherits what drives a browser.
package e2e
