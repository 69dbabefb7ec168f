package redisstore_test

import (
	"context"
	"fmt"
	"log"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/redisstore"
)

// Two processes: what one paid for, the other has.
func ExampleNew() {
	server, err := miniredis.Run() // in production, a Redis of yours
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	service, err := mockserver.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()

	ctx := context.Background()
	for _, process := range []string{"caja-1", "caja-2"} {
		rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
		shared, err := redisstore.New(rdb)
		if err != nil {
			log.Fatal(err)
		}
		client, err := fiscope.NewClient(service.URL, service.APIKey,
			fiscope.WithStore(shared), fiscope.WithCache(fiscope.CachePolicy{}))
		if err != nil {
			log.Fatal(err)
		}
		c, err := client.Contribuyentes.Consultar(ctx, "20131312955")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(process, c.RUC, client.Stats().Sent)

		_ = client.Close(ctx) // when the process ends: waits for the writes to the Store
		_ = rdb.Close()
	}
	// Output:
	// caja-1 20131312955 1
	// caja-2 20131312955 0
}
