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

// cookieName is the name of the session's cookie: a page's EventSource cannot send a header.
const cookieName = "fiscope-mock"

// cookieValue derives a value from the token without revealing it. It stays the same after a restart with the same token.
func (x *Access) cookieValue() string {
	mac := hmac.New(sha256.New, []byte(x.Token))
	mac.Write([]byte(cookieName))
	return hex.EncodeToString(mac.Sum(nil))
}

// cookie returns the cookie with a value, or an expired one for "".
func (x *Access) cookie(secure bool, value string) *http.Cookie {
	c := &http.Cookie{ //nolint:gosec // Secure only where there is TLS: without it a browser would not send the cookie back
		Name: cookieName, Value: value, Path: strings.TrimSuffix(Prefix, "/"),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure,
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// hasCookie reports whether a request has a valid session cookie.
func (x *Access) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(cookieName)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(x.cookieValue())) == 1
}

// session is the state that a page needs to start.
type session struct {
	Token      bool   `json:"token"`      // must be sent first, with POST
	Closed     bool   `json:"closed"`     // the API is closed; its errors say why
	DefaultKey bool   `json:"defaultKey"` // the server's own key is the public default key
	Version    string `json:"version"`
}

func (a *api) getSession(r *http.Request) (any, error) {
	_, known := a.Mock.Quota(mockserver.DefaultAPIKey)
	return session{
		Token:      !a.Access.Closed && !a.Access.admits(r),
		Closed:     a.Access.Closed,
		DefaultKey: known && a.Mock.APIKey == mockserver.DefaultAPIKey,
		Version:    a.Version,
	}, nil
}

// postSession gives a browser with the token a cookie.
func (a *api) postSession(r *http.Request) (any, error) {
	var with struct {
		Token string `json:"token"`
	}
	if err := readSecret(r, &with, `{"token": "…"}, con el valor de -admin-token`); err != nil {
		return nil, err
	}
	switch {
	case a.Access.Closed:
		return nil, errClosed
	case a.Access.Token == "":
		return nil, nil
	case !a.Access.isToken(with.Token):
		return nil, errToken
	}
	return a.cookieAnswer(a.Access.cookieValue()), nil
}

func (a *api) deleteSession(*http.Request) (any, error) { return a.cookieAnswer(""), nil }

// cookieAnswer returns an answer with only a cookie.
func (a *api) cookieAnswer(value string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, a.Access.cookie(r.TLS != nil, value))
		w.WriteHeader(http.StatusNoContent)
	})
}
