package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
)

// compareWrongAnswers has each contender read answers with status 200 that are not what was asked for.
func compareWrongAnswers(ctx context.Context, _ size) ([]row, error) {
	of := fmt.Sprintf("%d wrong answers (200): ", len(fiscopeAPI.wrong()))
	return inTurn([]string{of + "told as an error", of + "silently zero or wrong"}, func(c contender) ([]string, error) {
		w, err := measureWrongAnswers(ctx, c)
		return []string{strconv.Itoa(len(w.told)), strconv.Itoa(len(w.silent))}, err
	})
}

// wrongAnswer is one of status 200 that a lookup must not take for the object.
type wrongAnswer struct {
	name string
	answer
}

// wrong returns what a service, or what stands before it, may answer by mistake.
func (a *api) wrong() []wrongAnswer {
	cut := inJSON(http.StatusOK, a.found)
	cut.cut = true
	return []wrongAnswer{
		{"null", inJSON(http.StatusOK, "null")},
		{"an object without members", inJSON(http.StatusOK, "{}")},
		{"nothing", inJSON(http.StatusOK, "")},
		{"a list of it", inJSON(http.StatusOK, "["+a.found+"]")},
		{"a page", page(http.StatusOK)},
		{"another object", inJSON(http.StatusOK, a.other)},
		{"its id alone", inJSON(http.StatusOK, a.bare)},
		{"another id in it", inJSON(http.StatusOK, a.twofold)},
		{"a body that breaks off", cut},
		{"another object behind it", inJSON(http.StatusOK, a.found+a.other)},
		{"a text behind it", inJSON(http.StatusOK, a.found+"<!-- 3 ms -->")},
		{"an error", inJSON(http.StatusOK, a.missing)},
	}
}

// reading is what came of wrong answers, by their names. One that is in neither was taken for right, and what is
// right in it was read.
type reading struct{ told, silent []string }

func measureWrongAnswers(ctx context.Context, c contender) (reading, error) {
	var read reading
	for _, wrong := range c.api.wrong() {
		client, err := c.open(always(wrong.answer), briefly)
		if err != nil {
			return read, err
		}
		found, err := client.Lookup(ctx, c.api.id)
		client.Close()
		switch {
		case err != nil:
			read.told = append(read.told, wrong.name)
		case found != c.api.object:
			read.silent = append(read.silent, wrong.name)
		}
	}
	return read, nil
}
