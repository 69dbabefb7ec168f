package redisstore_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/alicebob/miniredis/v2"
	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/redis/go-redis/v9"
)

// Two processes of a fleet: what one paid for, the other has.
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
	for _, till := range []string{"till-1", "till-2"} {
		rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
		store, err := redisstore.New(rdb, redisstore.WithName(till))
		if err != nil {
			log.Fatal(err)
		}
		client, err := fiscope.NewClient(service.URL, service.APIKey,
			fiscope.WithStore(store), fiscope.WithCache(fiscope.CachePolicy{}))
		if err != nil {
			log.Fatal(err)
		}
		c, err := client.Contribuyentes.Consultar(ctx, "20131312955")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(till, c.RUC, client.Stats().Sent)

		_ = client.Close(ctx) // when the process ends: the store is told what came of it
		_ = store.Release(ctx)
		_ = rdb.Close()
	}
	// Output:
	// till-1 20131312955 1
	// till-2 20131312955 0
}

// A cluster, a quota that is known, and leases for a process with many goroutines.
func ExampleNew_cluster() {
	rdb := redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs:    []string{"redis-1:6379", "redis-2:6379", "redis-3:6379"},
		Password: os.Getenv("REDIS_PASSWORD"),
	})
	defer rdb.Close()
	store, err := redisstore.New(rdb,
		redisstore.WithPrefix("billing:"),
		redisstore.WithDailyQuota(50_000),
		redisstore.WithLease(20),
		redisstore.WithShare(100),
	)
	if err != nil {
		log.Fatal(err)
	}
	client, err := fiscope.NewClient("https://api.example.com", os.Getenv("FISCOPE_API_KEY"), fiscope.WithStore(store))
	if err != nil {
		log.Fatal(err)
	}
	_ = client
}
