// Package redisstore lets the processes of a fleet share answers, one daily quota and what is known of
// SOL credentials, in Redis (5 or later) or Valkey:
//
//	store, err := redisstore.New(redis.NewClient(&redis.Options{Addr: "redis:6379"}), redisstore.WithName("till-7"))
//	...
//	defer store.Release(context.Background())
//	client, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithStore(store), fiscope.WithCache(fiscope.CachePolicy{}))
//
// It is a module of its own. Until it is published, a go.mod needs a replace line for it and one for the SDK:
// README.md has them.
//
// docs/fleet.md has the arithmetic: round trips, leases, what a failover can lose.
//
// # The quota
//
//  1. A day is known by one hash: a random id, what is left, when it ends. The id is in the token of each
//     reservation, and what comes back for another day is ignored.
//  2. take: before it leaves, an attempt takes a query off what is left, in one step with those of its process
//     that wait as well (with a lease n of them, at the end fewer), and is refused where no more is left than it
//     keeps for others.
//  3. put: what provably was not sent is put back, and what left beyond it is taken off.
//  4. head: a header lowers what is left, never raises it. A reset within an hour of the day's is the day's,
//     a later one begins the next day, and one that is past says nothing.
//  5. While no day is known one attempt goes first, behind a lock with an end, and the others wait. Its header
//     opens the day, less the attempts that left meanwhile: for a minute where it names no reset, and a header that
//     does begins it anew. Where it fails, those who waited for it fail. A Redis
//     that cannot be told what came of it is told again until the lock ends.
//  6. A Redis that forgot knows no day, nor does one that counts fewer queries taken than a process was told.
//     Each process takes off the new day what it had under way on the old.
//  7. Without headers all go on for a minute, uncounted. A refusal (429) without a header stops the fleet for a
//     minute; on a day that a header opened, five in a row in one process do.
//  8. While a header's day has nothing left, one of the fleet goes to see every 15 minutes, and is believed, but for
//     the shares that are held.
//  9. [WithDailyQuota] is a day until Lima's next midnight by the clock of Redis, until a header says more. A first
//     one that says less does not count what was taken before it.
//  10. A share is a lease that only [Store.Release] gives back, and of which all have a quarter at most.
//
// # Without Redis
//
// [WithTimeout] bounds one question to Redis. A lookup that finds it away, slow or failing asks again for a
// second, and then fails with fiscope.ErrUnavailable. That nothing is left is asked again, too, for a second after
// Redis is back: until then others put back what it took for them too late. Meanwhile answers are not shared, each process guards
// SOL users for itself, and of the quota it sends only what it had leased and what was set aside for it
// ([WithShare]), which Redis hands to nobody else. An error that Redis replies for one key concerns that key
// alone, and what is found there and is not ours is nothing. No timeout of this package cuts a connection
// that is being made: the Redis client's own do.
//
// # SOL credentials
//
// One process of the fleet tries a credential that nobody knows, while the others wait. Each validation asks
// Redis, by one script, last before it leaves: once Redis knows a refusal, no process sends that credential. A
// claim that is not answered is asked for again for a second. While Redis is away, a wrong clave costs one refusal
// for each process, unless fiscope.WithSOLStoreRequired has validations fail. How long ago something was is
// measured by the clock of Redis alone.
//
// # Answers
//
// What is found under an answer's key and is none is nothing, and no more than 4 MiB of it are read. A Redis
// that is full refuses new answers, and goes on with the rest. [WithAnswers] keeps answers in another
// Redis, which may forget them.
//
// # What is in Redis, and what is not
//
// Not there: the API key, RUCs of callers, SOL users, claves. The names that keys are made of are hashes
// keyed with the API key, so that nobody who reads them can try which clave one stands for.
//
// There: the answers of the service, deflated but not encrypted, until they expire (with their names and
// addresses, which are public records); what is left of the quota; the names of processes ([WithName], host names); that
// some credential is being tried, proven or refused.
//
// Who can write to Redis can put a false answer into the cache (it is read with the care of the
// service's own, but a well-formed lie passes), can hand out more queries than there are, and can make
// the fleet try a refused clave again. So protect it like a database: a password or ACL of its own, TLS
// outside of one machine. The commands that are used are GETRANGE, SET, DEL, EVAL and EVALSHA, and within the
// scripts TIME, TYPE, GET, SET, DEL, PTTL, HGET, HMGET, HSET, HDEL, HINCRBY, ZADD, ZREM, ZCARD, ZSCORE, PEXPIRE
// and PEXPIREAT, on keys under [WithPrefix].
//
// Keep what must not be forgotten: appendonly, and maxmemory-policy noeviction. Answers may be forgotten.
package redisstore
