// Command byhand looks up one object: what is built of it shows what the client brings along.
package main

import (
	"github.com/fiscope/fiscope/compare/peers"
	"github.com/fiscope/fiscope/compare/peers/byhand"
)

func main() { peers.Program(byhand.New) }
