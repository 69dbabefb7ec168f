// Command hcloud looks up one object: what is built of it shows what the client brings along.
package main

import (
	"github.com/fiscope/fiscope/compare/peers"
	"github.com/fiscope/fiscope/compare/peers/hcloud"
)

func main() { peers.Program(hcloud.New) }
