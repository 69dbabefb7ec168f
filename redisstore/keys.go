package redisstore

// keys makes the names of all keys in Redis. Its value is their prefix: "fiscope:", or that of WithPrefix.
//
// The number in a name is the version of the key's format. KEY, ACCOUNT and CREDENTIAL are the ids that fiscope.Client
// makes: 32 hexadecimal digits, a hash keyed with the API key. In a cluster the braces put a key into the slot of its
// id. Every key has a lifetime.
type keys string

func (k keys) of(id, what string) string { return string(k) + "{" + id + "}:" + what }

// answer is the key of an answer: the bytes given to Save, for the ttl given to Save.
//
//	fiscope:{KEY}:answer:1
func (k keys) answer(key string) string { return k.of(key, "answer:1") }

// day is the key of an account's day: JSON, kept for three days after its last use. Times are Unix milliseconds.
//
//	fiscope:{ACCOUNT}:quota:4
//		reset  when the day ends; 0 if unknown
//		left   queries left until then, at least
//		most   queries left until then, at most
//		zero   a header said that none is left
//		doubt  a probe was served although none was left: now only a refusal counts
//		pause  between probes while the day is closed, in milliseconds; 0 if it is open
//		sent   when the last attempt was permitted
//		served an attempt was served, on any day
//		epoch  an attempt of an earlier epoch says nothing about this one
//		used   queries of this epoch, including those under way
//		done   how many of them were committed
//		lower  done when a header last lowered most
func (k keys) day(account string) string { return k.of(account, "quota:4") }

// credential is the key of the verdict about a SOL credential: JSON, kept for as long as it is remembered.
//
//	fiscope:{CREDENTIAL}:sol:3
//		state  proven or refused
//		since  in Unix milliseconds
func (k keys) credential(credential string) string { return k.of(credential, "sol:3") }

// claim is the key of the call that tries a SOL credential: a random text, kept until its answer is recorded, and for as
// long as an attempt may take.
//
//	fiscope:{CREDENTIAL}:claim:1
func (k keys) claim(credential string) string { return k.of(credential, "claim:1") }
