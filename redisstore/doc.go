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
// # The quota
//
// A query is reserved before each attempt, by one script, and given back only when it provably was not
// sent. Nothing is known at first: one process sends one query while the others wait, and the headers of
// its answer open the day. When its holder dies, or brings no verdict (no answer, a 5xx), another goes.
// The day ends at X-RateLimit-Reset, and with it all that is known of it, the leases and the shares.
// Later headers only lower what is left, but for that of one process which goes to see, at most every 15
// minutes, while nothing is left; a reset that is more than an hour later begins another day.
//
// The contract promises headers for lookups only. After a first answer without them, all go on for a
// minute, uncounted, and then one goes first again; a header in that minute opens the day, less what is
// under way. A 429 without them, while no header has confirmed a count, stops the fleet for a minute. A
// header without a reset is believed for a minute. [WithDailyQuota] counts from the beginning.
//
// # Without Redis
//
// No call waits for Redis longer than [WithTimeout], and a Redis that is away is asked once a second.
// Meanwhile answers are not shared, each process guards SOL users for itself, and of the quota it sends
// only what it had leased and what was set aside for it ([WithShare]), which Redis hands to nobody else.
// Then calls are refused with fiscope.ErrQuotaExceeded until Redis is back. A Redis that comes back and
// forgot is told by the processes what they know; for two seconds nothing is granted.
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
// that is full refuses new answers, and goes on with the SOL credentials. [WithAnswers] keeps answers in another
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
// scripts TIME, GET, SET, DEL, PTTL, HGET, HMGET, HSET, HDEL, HINCRBY, PEXPIRE and PEXPIREAT, on keys under [WithPrefix].
//
// Keep what must not be forgotten: appendonly, and maxmemory-policy noeviction. Answers may be forgotten.
package redisstore
