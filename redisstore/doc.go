// Package redisstore is a [store.Store] in Redis (5 or later) or Valkey:
//
//	s, err := redisstore.New(redis.NewClient(&redis.Options{Addr: "redis:6379"}))
//	...
//	client, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithStore(s), fiscope.WithCache(fiscope.CachePolicy{}))
//
// It is its own module. Until it is published, a go.mod needs a require and a replace line for it, as for the SDK:
// docs/fleet.md begins with them. It says what a Client does while Redis is slow or away, and how to size it.
//
// # What is in Redis, and what is not
//
// Not there: the API key, RUCs of callers, SOL users, claves. The names in keys are hashes keyed with the API key, so
// that a reader of Redis cannot test guesses of a clave.
//
// There: the service's answers, until they expire (with names and addresses, which are public records); what is left of
// the quota; that some credential is being tried, proven or refused. keys.go has all names.
//
// A program that can write to Redis can put false answers into the cache, hand out more queries than there are, and
// make the processes try a refused clave again. Protect it like a database: a password or ACL of its own, TLS between
// machines. The package uses GET, SET, DEL, PTTL, TIME, EVAL and EVALSHA, on keys under [WithPrefix].
//
// Make Redis keep its data: appendonly, and maxmemory-policy noeviction. A full Redis refuses new answers and goes on
// with the rest.
package redisstore
