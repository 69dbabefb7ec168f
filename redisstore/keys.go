package redisstore

// keys has the name of every key that this package writes into Redis. It is the text that all of them begin with:
// "fiscope:", or what WithPrefix says.
//
// The number in a name is the version of what the key holds: a release that writes it in another form raises it. KEY,
// ACCOUNT and CREDENTIAL are the ids that fiscope.Client makes: 32 hexadecimal digits, a hash keyed with the API
// key. The braces put a key into the slot of its id in a cluster. Every key has a lifetime.
type keys string

func (k keys) of(id, what string) string { return string(k) + "{" + id + "}:" + what }

// answer is an answer of the service: the bytes that Save was given, for as long as Save says.
//
//	fiscope:{KEY}:answer:1
func (k keys) answer(key string) string { return k.of(key, "answer:1") }

// day is an account's day, as JSON, for three days after its last use. Times are Unix milliseconds.
//
//	fiscope:{ACCOUNT}:quota:4
//		reset  when the day ends; 0 while that is not known
//		left   queries that are left until then at least
//		most   queries that are left until then at most
//		zero   a header said that none is left
//		doubt  one was served although none was left: only a refusal counts
//		pause  closed: one probe in each pause, in milliseconds; 0 while open
//		sent   when the last attempt was let go
//		epoch  attempts of an earlier one know nothing of what is known now
//		used   queries of this epoch, with those under way
//		done   those of them that have been committed
//		lower  done when a header last lowered most
func (k keys) day(account string) string { return k.of(account, "quota:4") }

// credential is what is known of a SOL credential, as JSON, for as long as it is held or remembered.
//
//	fiscope:{CREDENTIAL}:sol:2
//		state  claimed, proven or refused
//		since  in Unix milliseconds
//		token  of a claim, a random text
func (k keys) credential(credential string) string { return k.of(credential, "sol:2") }
