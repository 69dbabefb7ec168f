// Package e2e has only tests: of the mock server's page, in a real browser.
//
// They start the built program, call it like a client, and use the page like a person: they find controls and texts by role
// and accessible name, as a screen reader does, not by markup.
//
// It is a separate module, so that the SDK does not depend on a browser driver.
package e2e
