package main

import (
	"net/http"
	"time"

	"github.com/fiscope/fiscope/compare/peers"
	"github.com/fiscope/fiscope/compare/peers/byhand"
	"github.com/fiscope/fiscope/compare/peers/github"
	"github.com/fiscope/fiscope/compare/peers/hcloud"
	"github.com/fiscope/fiscope/compare/peers/requests"
	"github.com/fiscope/fiscope/compare/peers/resty"
	"github.com/fiscope/fiscope/compare/peers/retryable"
	"github.com/fiscope/fiscope/compare/peers/sdk"
)

// contender is a client that is compared, with the service that it calls.
type contender struct {
	name   string // in the head of the table
	module string // "" for the standard library
	api    *api
	new    peers.New
	folder string   // of its package in peers, and of its program in minimal
	code   []string // the files in peers that a program needs to do its two calls
}

// contenders are the columns of the table: the first is what times are compared with, the last is ours.
var contenders = []contender{
	{"net/http", "", &fiscopeAPI, byhand.New, "byhand", []string{"byhand/byhand.go", "read.go", "contribuyente.go", "validacion.go"}},
	{"retryablehttp", "github.com/hashicorp/go-retryablehttp", &fiscopeAPI, retryable.New, "retryable", []string{"retryable/retryable.go", "read.go", "contribuyente.go", "validacion.go"}},
	{"resty", "github.com/go-resty/resty/v2", &fiscopeAPI, resty.New, "resty", []string{"resty/resty.go", "contribuyente.go", "validacion.go"}},
	{"requests", "github.com/carlmjohnson/requests", &fiscopeAPI, requests.New, "requests", []string{"requests/requests.go", "contribuyente.go", "validacion.go"}},
	{"go-github", "github.com/google/go-github/v92", &githubAPI, github.New, "github", []string{"github/github.go"}},
	{"hcloud-go", "github.com/hetznercloud/hcloud-go/v2", &hcloudAPI, hcloud.New, "hcloud", []string{"hcloud/hcloud.go"}},
	ours,
}

var ours = contender{"fiscope", "github.com/fiscope/fiscope", &fiscopeAPI, sdk.New, "sdk", []string{"sdk/sdk.go"}}

// The secrets that are looked for where they should not be. No encoder changes a letter of them.
const (
	key   = "llave7f3a91c4"
	clave = "claveFalsa12x"
)

// briefly has those that can try again do so twice, after waits that cost the run little time.
var briefly = peers.Retry{Most: 2, Wait: time.Millisecond, MaxWait: 20 * time.Millisecond}

// open makes the client, of a service behind a transport.
func (c contender) open(transport http.RoundTripper, retry peers.Retry) (peers.Client, error) {
	return c.new(peers.Setup{BaseURL: baseURL, Key: key, Transport: transport, Retry: retry})
}
