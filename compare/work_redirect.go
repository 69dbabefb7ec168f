package main

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/fiscope/fiscope/compare/peers"
)

// compareRedirects sends each contender to another host, which looks for the key and the clave.
func compareRedirects(ctx context.Context, _ size) ([]row, error) {
	return inTurn([]string{
		"6 redirects to another host: with the key",
		"2 redirects of a POST: with the clave",
	}, func(c contender) ([]string, error) {
		r, err := measureRedirects(ctx, c)
		return []string{strconv.Itoa(r.keys), strconv.Itoa(r.claves)}, err
	})
}

// redirected is what the other host saw: in how many calls the key, and the clave.
type redirected struct{ keys, claves int }

func measureRedirects(ctx context.Context, c contender) (redirected, error) {
	lookup := func(client peers.Client) { _, _ = client.Lookup(ctx, c.api.id) } // an error is as good as an answer here
	post := func(client peers.Client) { _ = client.Send(ctx, clave) }
	var seen redirected
	for _, redirect := range []struct {
		status int
		found  string
		call   func(peers.Client)
	}{
		{301, c.api.found, lookup}, {302, c.api.found, lookup}, {307, c.api.found, lookup}, {308, c.api.found, lookup},
		{307, c.api.sent, post}, {308, c.api.sent, post}, // of the others net/http makes a GET
	} {
		there := &otherHost{status: redirect.status, found: redirect.found}
		client, err := c.open(service(there.answer), briefly)
		if err != nil {
			return seen, err
		}
		redirect.call(client)
		client.Close()
		if there.key {
			seen.keys++
		}
		if there.clave {
			seen.claves++
		}
	}
	return seen, ctx.Err()
}

// otherHost is a service that redirects to another host, and that host.
type otherHost struct {
	status int
	found  string

	key, clave bool // which it saw
}

func (o *otherHost) answer(r *http.Request) (answer, error) {
	const other = "otra.example"
	if r.URL.Host != other {
		return inJSON(o.status, "", "Location: https://"+other+r.URL.Path), nil
	}
	for _, values := range r.Header {
		o.key = o.key || strings.Contains(strings.Join(values, " "), key)
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return answer{}, err
		}
		o.clave = o.clave || strings.Contains(string(body), clave)
	}
	return inJSON(http.StatusOK, o.found), nil
}
