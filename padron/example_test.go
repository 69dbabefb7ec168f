package padron_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/padron"
)

// A client that answers from the newest import while the service is away.
func ExampleFollow() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "padron")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	file, index := filepath.Join(folder, "padron.txt"), filepath.Join(folder, "padron.idx")
	if err := os.WriteFile(file, []byte(registryText), 0o600); err != nil {
		panic(err)
	}
	if _, err := padron.Import(ctx, file, index, padron.ImportOptions{}); err != nil { // in your program, another process's work
		panic(err)
	}

	registry, err := padron.Follow(index, func(taken padron.Info, err error) {
		fmt.Println("registry of", taken.Fecha, err) // at the next import
	})
	if err != nil {
		panic(err)
	}
	defer registry.Close()
	srv, err := mockserver.Start()
	if err != nil {
		panic(err)
	}
	srv.Close() // the service is away
	client, err := fiscope.NewClient(srv.URL, srv.APIKey, fiscope.WithRespaldo(registry), fiscope.WithMaxRetries(0))
	if err != nil {
		panic(err)
	}
	defer client.Close(ctx)
	var resp fiscope.Response
	c, err := client.Contribuyentes.Consultar(ctx, "20000000001", fiscope.WithResponse(&resp))
	if err != nil {
		panic(err)
	}
	fmt.Println(c.RazonSocial, resp.Source)
	// Output: ÑANDÚ S.A. registry
}
