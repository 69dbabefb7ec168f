package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// Access decides who may use the API. Open endpoints, such as healthz, still need a known Host.
type Access struct {
	Token  string // required as a bearer token, or as a session's cookie; "" for none
	Closed bool   // to everybody: other machines reach the server, and it has no token
	// Hosts reports whether a name in the Host header is accepted; nil accepts any. A page of another site can make its own name
	// resolve to this machine (DNS rebinding), and the browser sends that name.
	Hosts func(name string) bool
}

// crossOrigin detects requests from web pages of another origin, by Sec-Fetch-Site and Origin.
var crossOrigin = http.NewCrossOriginProtection()

var (
	errClosed = &problem{http.StatusForbidden, codeNeedsToken, "la administración está cerrada: el servidor escucha en una dirección que otros alcanzan, y no tiene token", "inícielo con -admin-token, o con -addr en una dirección de loopback como 127.0.0.1:8080"}
	errToken  = &problem{http.StatusUnauthorized, codeToken, "falta el token de administración, o no es el de este servidor", "envíe Authorization: Bearer y el valor de -admin-token"}
)

// refuses returns the reason why a request is refused, or nil; open endpoints need no token.
func (x *Access) refuses(r *http.Request, open bool) *problem {
	switch {
	case x.Hosts != nil && !x.Hosts(hostName(r.Host)):
		return &problem{http.StatusMisdirectedRequest, codeHost, "la administración no responde con ese nombre de servidor en el encabezado Host", "llámela como localhost o por su IP de loopback, o dele un token con -admin-token"}
	case crossOrigin.Check(r) != nil:
		return &problem{http.StatusForbidden, codeOrigin, "la petición viene de una página web de otro origen", "llámela desde un programa, o sin el encabezado Origin"}
	case open:
		return nil
	case x.Closed:
		return errClosed
	case !x.admits(r):
		return errToken
	}
	return nil
}

// admits reports whether a request has the token, if one is required.
func (x *Access) admits(r *http.Request) bool {
	if x.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && x.isToken(token) || x.hasCookie(r)
}

// isToken compares digests, so that its duration reveals nothing about the token.
func (x *Access) isToken(text string) bool {
	got, want := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(x.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

func isOpen(path string) bool {
	for _, e := range endpoints {
		if e.path == path {
			return e.open
		}
	}
	return false
}

// hostName returns the name in a Host header, without the port and normalized.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
