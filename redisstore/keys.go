package redisstore

// keys has the name of every key that this package writes into Redis. It is the text that all of them
// begin with: "fiscope:", or what WithPrefix says.
//
// The scripts get the names that are made here and make none themselves. Nothing else is written, and
// nothing is published. Every key has a lifetime, so that nothing has to be cleaned up.
//
// Below, what is in capitals differs from key to key. KEY, ACCOUNT and CREDENTIAL are the ids that
// fiscope.Client makes: 32 hexadecimal digits, a hash keyed with the API key. In a cluster, the braces put
// all that belongs to one id into one slot, since a script may only touch keys of one. HOLDER and TOKEN
// are random (crypto/rand.Text): a HOLDER is made for each Store and after each of its Releases, a TOKEN for each call. NAME is the name of
// a process, in clear: the host's, or what WithName says.
type keys string

func (k keys) of(id, what string) string { return string(k) + "{" + id + "}:" + what }

// answer is an answer of the service, a string: the bytes that Save was given. Save writes it, for as long
// as Save says, and each time anew. With WithAnswers it is in the other Redis. KEY is another one for each form
// of an answer, so that other releases do not overwrite it.
//
//	fiscope:{KEY}:answer
func (k keys) answer(key string) string { return k.of(key, "answer") }

// credential is what is known of a SOL credential, a string: "claimed TOKEN" while one process tries it,
// then "proven TIME" or "refused TIME" (Unix seconds). claim.lua writes the first, for as long as Claim says
// that it is held; conclude.lua writes the others, for as long as Conclude says that they are remembered.
// conclude.lua deletes a claim that brought nothing, and Forget deletes any of them. What is found there and is
// none of them counts as nothing, and is deleted.
//
//	fiscope:{CREDENTIAL}:sol
func (k keys) credential(credential string) string { return k.of(credential, "sol") }

// The keys of the quota have a version in their names, which is raised when what they hold gets another form: what
// another release of this package writes is not overwritten. What is found there and is not what is said here is deleted, and counts as nothing.

// day is an account's day, a hash. The scripts of the quota write it; it lives until the day ends.
//
//	fiscope:{ACCOUNT}:quota:3:day
//		id      which day it is: the TOKEN of the call that began it
//		kind    how it is known: header; assumed, by WithDailyQuota; minute, by a header without a reset, for a minute
//		left    queries that are left
//		taken   queries that were taken: less than a process was told means that Redis forgot some
//		reset   when it ends, in Unix milliseconds
//		began   when the attempt left whose header opened it, in Unix milliseconds
//		opened  queries that were left when it began
//		aside   queries that are set aside in shares
//		look    when one goes to see whether a spent quota still is, in Unix milliseconds
//		s:NAME  the share of the process of this name: "HOLDER UNITS"; deleted when the process gives it back
func (k keys) day(account string) string { return k.of(account, "quota:3:day") }

func shareField(name string) string { return "s:" + name }

// out is the attempts that left while no day was known, a sorted set of their TOKENs by their time. take.lua adds to it, and all
// scripts take away those that ended; a day whose reset is known deletes it. It lives ten
// minutes from the last one that left.
//
//	fiscope:{ACCOUNT}:quota:3:out
func (k keys) out(account string) string { return k.of(account, "quota:3:out") }

// probe is the attempt that goes first while no day is known, a string: its TOKEN, for WithProbeTime, or
// "failed TOKEN", for a second after it failed. take.lua writes the first, head.lua the second, or deletes it.
//
//	fiscope:{ACCOUNT}:quota:3:probe
func (k keys) probe(account string) string { return k.of(account, "quota:3:probe") }

// open says that all go on uncounted, since the first answer had no headers, the string "1". head.lua writes it,
// for a minute.
//
//	fiscope:{ACCOUNT}:quota:3:open
func (k keys) open(account string) string { return k.of(account, "quota:3:open") }

// hold says that nobody goes on, since answers without headers refused, the string "1". head.lua writes it, for
// a minute.
//
//	fiscope:{ACCOUNT}:quota:3:hold
func (k keys) hold(account string) string { return k.of(account, "quota:3:hold") }

// call says that a call that puts queries back was carried out, the string "1": when the Redis client repeats
// the call, nothing is put back twice. put.lua writes it at such a call, for a minute.
//
//	fiscope:{ACCOUNT}:quota:3:call:TOKEN
func (k keys) call(account, token string) string { return k.of(account, "quota:3:call:"+token) }
