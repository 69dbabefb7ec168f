package admin

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/fiscope/fiscope/mockserver"
)

// cookieName is that of the cookie of a browser that has been let in: a page's EventSource sends no header.
const cookieName = "fiscope-mock"

// cookieValue is derived from the token and does not reveal it: the same after a restart with the same token.
func (d *Door) cookieValue() string {
	mac := hmac.New(sha256.New, []byte(d.Token))
	mac.Write([]byte(cookieName))
	return hex.EncodeToString(mac.Sum(nil))
}

// cookie is what a browser is given, or what takes that away from it.
func (d *Door) cookie(secure bool, value string) *http.Cookie {
	c := &http.Cookie{ //nolint:gosec // Secure only where there is TLS: without it a browser would not send the cookie back
		Name: cookieName, Value: value, Path: strings.TrimSuffix(Prefix, "/"),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure,
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// hasCookie reports whether a request comes from a browser that has been let in.
func (d *Door) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(cookieName)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(d.cookieValue())) == 1
}

// session says what a page needs to begin.
type session struct {
	Token      bool   `json:"token"`      // it has to be given first, with POST
	Closed     bool   `json:"closed"`     // the API is open to nobody, and why is its error
	DefaultKey bool   `json:"defaultKey"` // the server's own key is the public one of the examples
	Version    string `json:"version"`
}

func (a *api) getSession(r *http.Request) (any, error) {
	_, known := a.Mock.Quota(mockserver.DefaultAPIKey)
	return session{
		Token:      !a.Door.Closed && !a.Door.admits(r),
		Closed:     a.Door.Closed,
		DefaultKey: known && a.Mock.APIKey == mockserver.DefaultAPIKey,
		Version:    a.Version,
	}, nil
}

// postSession lets a browser in that has the token.
func (a *api) postSession(r *http.Request) (any, error) {
	var with struct {
		Token string `json:"token"`
	}
	if err := readSecret(r, &with, `{"token": "…"}, con el valor de -admin-token`); err != nil {
		return nil, err
	}
	switch {
	case a.Door.Closed:
		return nil, errClosed
	case a.Door.Token == "":
		return nil, nil
	case !a.Door.isToken(with.Token):
		return nil, errToken
	}
	return a.cookieAnswer(a.Door.cookieValue()), nil
}

func (a *api) deleteSession(*http.Request) (any, error) { return a.cookieAnswer(""), nil }

// cookieAnswer is the answer with a cookie and nothing else.
func (a *api) cookieAnswer(value string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, a.Door.cookie(r.TLS != nil, value))
		w.WriteHeader(http.StatusNoContent)
	})
}
