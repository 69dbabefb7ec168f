package main

import (
	"crypto/tls"
	"net"

	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/admin"
)

// door says who may use the admin API of a server that listens on addr: whoever has the token. Without
// one, nobody where other machines reach it; on loopback, who calls it by one of its own names.
func (s settings) door(addr net.Addr, https *tls.Config) admin.Door {
	if s.adminToken != "" {
		return admin.Door{Token: s.adminToken}
	}
	if tcp, ok := addr.(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return admin.Door{Closed: true}
	}
	return admin.Door{Hosts: func(name string) bool {
		switch ip := net.ParseIP(name); {
		case name == "localhost", ip != nil && ip.IsLoopback():
			return true
		case https != nil:
			return https.Certificates[0].Leaf.VerifyHostname(name) == nil
		}
		return false
	}}
}
