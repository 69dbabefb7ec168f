package conformance

// keyChecks are those of docs/contrato.md, 5.1: a key is refused, however the service does it (5.4).
func keyChecks() (all []check) {
	for _, op := range operations {
		for _, kind := range []struct{ ask, what string }{{askNoKey, "without a key"}, {askBadKey, "with a bad key"}} {
			all = append(all, check{"5.1", "a " + string(op) + " " + kind.what + " is refused",
				"every endpoint requires X-API-KEY with the caller's key", func(v *verdict) {
					if x, ok := v.answered(kind.ask + string(op)); ok && x.succeeded() {
						v.wrong(x, "the status is %d: want an error, of whatever status", x.answer.status)
					}
				}})
		}
	}
	return all
}
