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
// are random (crypto/rand.Text): a HOLDER is made for each Store, a TOKEN for each call. NAME is the name of
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

// quota is an account's count of the day, a hash. quota.lua writes it at every call. It lives until the day
// ends (r), and while no day is known for ten minutes (or ten times WithProbeTime, if that is longer) after
// the last call. Times are Unix milliseconds; a field that does not apply is 0 or empty.
//
//	fiscope:{ACCOUNT}:quota
//		e   the epoch: the TOKEN of the call that began the day; empty while no day is known
//		k   how the day is known: h by a header, a assumed (WithDailyQuota), p provisional (a header without a reset)
//		l   queries that are left
//		g   queries that were granted since the day began, shares included
//		r   when the day ends
//		c   queries that were left when the day began
//		s   queries that are set aside in shares
//		f   until when nothing is granted, since a Redis that lost its memory is being told what was known
//		pt  the probe: the TOKEN of the attempt that goes first, while no day is known, or to see, while it is spent
//		pu  until when the others wait for the probe
//		o   attempts that are under way, while no day is known
//		u   until when everyone goes on without a count, since the first answer had no headers
//		lk  when one goes to see whether a spent quota still is; 0 while queries are left
//		h   until when nobody goes on, since a 429 without headers said so
func (k keys) quota(account string) string { return k.of(account, "quota") }

// processes is what each process has of an account's day, a hash. quota.lua writes it, and deletes it when
// another day begins; it lives until the day ends.
//
//	fiscope:{ACCOUNT}:processes
//		s:NAME    the share of the process of this name: "HOLDER UNITS"; deleted when the process gives it back
//		g:HOLDER  queries that were granted to this process, its share included
func (k keys) processes(account string) string { return k.of(account, "processes") }

func shareField(name string) string { return "s:" + name }

func grantedField(holder string) string { return "g:" + holder }

// ended is how many attempts of each process came to an end that left while no day was known, a hash: with
// it, an end that is told twice counts once. quota.lua writes it when it is told of an end; it lives ten
// minutes (or ten times WithProbeTime, if that is longer) from the last one.
//
//	fiscope:{ACCOUNT}:ended
//		HOLDER  attempts of this process that ended, since it began
func (k keys) ended(account string) string { return k.of(account, "ended") }

// call says that a call that gives back queries or a share was carried out, the string "1": when the Redis
// client repeats the call, nothing is given back twice. quota.lua writes it at such a call, for a minute.
//
//	fiscope:{ACCOUNT}:call:TOKEN
func (k keys) call(account, token string) string { return k.of(account, "call:"+token) }
