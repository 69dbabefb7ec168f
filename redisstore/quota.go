package redisstore

import (
	"context"
	_ "embed" // the scripts
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/fiscope/fiscope/store"
)

//go:embed quota_day.lua
var dayLua string

//go:embed quota_reserve.lua
var reserveLua string

//go:embed quota_commit.lua
var commitLua string

var (
	reserveScript = redis.NewScript(dayLua + reserveLua)
	commitScript  = redis.NewScript(dayLua + commitLua)
)

var grants = map[string]store.Grant{"granted": store.Granted, "probe": store.Probe, "spent": store.Spent}

// Reserve asks for a query.
func (s *Store) Reserve(ctx context.Context, account string, keep int) (store.Reservation, error) {
	return ask(ctx, "Reserve", func(ctx context.Context) (r store.Reservation, err error) {
		reply, err := reserveScript.Run(ctx, s.client, []string{s.keys.day(account)}, keep).Text()
		if err != nil {
			return r, err
		}
		var grant string
		var until int64
		_, err = fmt.Sscan(reply, &grant, &r.Left, &until, &r.Token, &r.Served)
		r.Grant, r.Until = grants[grant], at(until)
		return r, err
	})
}

// Commit records the outcome of a reservation.
func (s *Store) Commit(ctx context.Context, account string, r store.Reservation, o store.Outcome) error {
	_, err := ask(ctx, "Commit", func(ctx context.Context) (any, error) { return nil, s.commit(ctx, account, r, o) })
	return err
}

func (s *Store) commit(ctx context.Context, account string, r store.Reservation, o store.Outcome) error {
	kind, answer := "granted", ""
	if r.Grant == store.Probe {
		kind = "probe"
	}
	switch {
	case o.Refused:
		answer = "refused"
	case o.Served:
		answer = "served"
	}
	return commitScript.Run(ctx, s.client, []string{s.keys.day(account)},
		r.Token, kind, o.Written, answer, o.Remaining, unix(o.Reset), unix(o.Date)).Err()
}
