package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// Door says who may use the API. What is open to probes, healthz and ca.pem, is so behind every door that
// the request's Host passes.
type Door struct {
	Token  string // asked for as a bearer token; "" for none
	Closed bool   // to everybody: without a token, where others reach it
	// Hosts are the names in a request's Host header that it answers; nil for any. A page of another site
	// can make its own name point to this machine (DNS rebinding), and the browser sends that name.
	Hosts func(name string) bool
}

// crossOrigin tells what a web page of another origin has a browser send: by Sec-Fetch-Site and Origin.
var crossOrigin = http.NewCrossOriginProtection()

// refuses returns why a request may not come in, whatever it asks for, or nil.
func (d *Door) refuses(r *http.Request) *problem {
	switch {
	case d.Hosts != nil && !d.Hosts(hostName(r.Host)):
		return &problem{http.StatusMisdirectedRequest, codeHost, "la administración no responde con ese nombre de servidor en el encabezado Host", "llámela como localhost o por su IP de loopback, o dele un token con -admin-token"}
	case crossOrigin.Check(r) != nil:
		return &problem{http.StatusForbidden, codeOrigin, "la petición viene de una página web de otro origen", "llámela desde un programa, o sin el encabezado Origin"}
	case isOpen(r.URL.Path):
		return nil
	case d.Closed:
		return &problem{http.StatusForbidden, codeNeedsToken, "la administración está cerrada: el servidor escucha en una dirección que otros alcanzan, y no tiene token", "inícielo con -admin-token, o con -addr en una dirección de loopback como 127.0.0.1:8080"}
	case !d.admits(r):
		return &problem{http.StatusUnauthorized, codeToken, "falta el token de administración, o no es el de este servidor", "envíe Authorization: Bearer y el valor de -admin-token"}
	}
	return nil
}

// admits compares digests: the time it takes tells nothing of the token.
func (d *Door) admits(r *http.Request) bool {
	if d.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(d.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

func isOpen(path string) bool {
	for _, e := range endpoints {
		if e.path == path {
			return e.open
		}
	}
	return false
}

// hostName is the name in a Host header, without the port and as it is compared.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
