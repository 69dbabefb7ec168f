// Package redisstore lets the processes of a fleet share answers, one daily quota and what is known of
// SOL credentials, in Redis (5 or later) or Valkey:
//
//	store, err := redisstore.New(redis.NewClient(&redis.Options{Addr: "redis:6379"}), redisstore.WithName("till-7"))
//	...
//	defer store.Release(context.Background())
//	client, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithStore(store), fiscope.WithCache(fiscope.CachePolicy{}))
//
// docs/fleet.md has the arithmetic: round trips, leases, what a failover can lose.
//
// # Without Redis
//
// [WithTimeout] bounds one question to Redis. A lookup that finds it away, slow or failing asks again for a
// second, and then fails with fiscope.ErrUnavailable. Meanwhile answers are not shared, each process guards
// SOL users for itself, and of the quota it sends only what it had leased and what was set aside for it
// ([WithShare]), which Redis hands to nobody else. An error that Redis replies for one key concerns that key
// alone, and what is found there and is not ours is nothing. No timeout of this package cuts a connection
// that is being made: the Redis client's own do.
//
// # What is in Redis, and what is not
//
// Not there: the API key, RUCs of callers, SOL users, claves. The names that keys are made of are hashes
// keyed with the API key, so that nobody who reads them can try which clave one stands for.
//
// There: the answers of the service, in clear, until they expire (with their names and addresses, which
// are public records); what is left of the quota; the names of processes ([WithName], host names); that
// some credential is being tried, proven or refused.
//
// Who can write to Redis can put a false answer into the cache (it is read with the care of the
// service's own, but a well-formed lie passes), can hand out more queries than there are, and can make
// the fleet try a refused clave again. So protect it like a database: a password or ACL of its own, TLS
// outside of one machine. The commands that are used are GETRANGE, SET, DEL, EVAL and EVALSHA, and within the
// scripts TIME, TYPE, GET, SET, DEL, PTTL, HGET, HMGET, HSET, HDEL, HINCRBY, ZADD, ZREM, ZCARD, ZSCORE, PEXPIRE
// and PEXPIREAT, on keys under [WithPrefix].
//
// Keep what must not be forgotten: appendonly, and maxmemory-policy noeviction.
package redisstore
