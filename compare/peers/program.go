package peers

import (
	"context"
	"fmt"
	"os"
)

// Program is a program that looks up one object with a client: its arguments are the base URL and the id, and the
// environment has the key. What is built of it shows what a client brings along.
func Program(make New) {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: program URL ID, with the key in FISCOPE_API_KEY")
		os.Exit(2)
	}
	if err := lookup(make, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func lookup(make New, baseURL, id string) error {
	client, err := make(Setup{BaseURL: baseURL, Key: os.Getenv("FISCOPE_API_KEY")})
	if err != nil {
		return err
	}
	defer client.Close()
	found, err := client.Lookup(context.Background(), id)
	if err == nil {
		fmt.Println(found.ID, found.Name, found.Status)
	}
	return err
}
