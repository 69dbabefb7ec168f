package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page says of itself that it takes scripts and styles from its own server alone, and the browser obeys.
func TestThePolicy(t *testing.T) {
	t.Parallel()
	srv := start(t)
	req, err := http.NewRequest(http.MethodGet, srv.url+"/_mock/", nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "text/html")
	resp, err := calls.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	policy := resp.Header.Get("Content-Security-Policy")
	require.NotEmpty(t, policy)
	assert.NotContains(t, policy, "unsafe")
	assert.NotContains(t, policy, "*")
	assert.Contains(t, policy, "default-src 'none'")
	assert.Contains(t, policy, "script-src 'self'")
	assert.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
	assert.True(t, strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"))

	page := open(t, srv.page(""))
	page.expect(`Content Security Policy|localhost:1/`)
	page.sees("en vivo")
	for name, script := range map[string]string{
		"inline script": `const s = document.createElement('script'); s.textContent = 'window.ran = true'; document.body.append(s)`,
		"handler":       `document.body.insertAdjacentHTML('beforeend', '<img src="data:," onerror="window.ran = true">')`,
		"link":          `const a = document.createElement('a'); a.href = 'javascript:window.ran = true'; document.body.append(a); a.click()`,
		"style":         `const s = document.createElement('style'); s.textContent = 'body { display: none }'; document.body.append(s)`,
		"elsewhere":     `const s = document.createElement('script'); s.src = 'http://localhost:1/x.js'; document.body.append(s)`,
	} {
		violated := js[string](page, `new Promise((done) => {
			document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective), { once: true })
			setTimeout(() => done(''), 5000)
			`+script+`
		})`)
		assert.NotEmpty(t, violated, name)
		assert.False(t, js[bool](page, "window.ran === true"), name)
	}
	assert.True(t, js[bool](page, "document.body.checkVisibility()"))
}
