package main

import (
	"crypto/tls"
	"net"

	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/admin"
)

// access returns the access rule of the admin API on addr: a token, if there is one. Without one, it is closed if other
// machines reach it; on loopback, requests must use one of its own host names.
func (s settings) access(addr net.Addr, https *tls.Config) admin.Access {
	if s.adminToken != "" {
		return admin.Access{Token: s.adminToken}
	}
	if tcp, ok := addr.(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return admin.Access{Closed: true}
	}
	return admin.Access{Hosts: func(name string) bool {
		switch ip := net.ParseIP(name); {
		case name == "localhost", ip != nil && ip.IsLoopback():
			return true
		case https != nil:
			return https.Certificates[0].Leaf.VerifyHostname(name) == nil
		}
		return false
	}}
}
