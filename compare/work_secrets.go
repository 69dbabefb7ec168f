package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
)

// compareSecrets prints what a program holds of a call, in every way, and looks for the key and the clave.
func compareSecrets(ctx context.Context, _ size) ([]row, error) {
	return inTurn([]string{"outputs that show the key or the clave"}, func(c contender) ([]string, error) {
		p, err := measureSecrets(ctx, c)
		return []string{fmt.Sprintf("%d of %d", len(p.showing), p.outputs)}, err
	})
}

// printed is how many outputs there were, and which of them show a secret.
type printed struct {
	outputs int
	showing []string // as in "*http.Request %+v"
}

func measureSecrets(ctx context.Context, c contender) (printed, error) {
	var p printed
	held, err := heldBy(ctx, c)
	if err != nil {
		return p, err
	}
	for _, v := range held {
		for way, text := range everyOutput(v) {
			p.outputs++
			if shows(text, key) || shows(text, clave) {
				p.showing = append(p.showing, fmt.Sprintf("%T %s", v, way))
			}
		}
	}
	return p, nil
}

// heldBy returns what a program holds of a call: what the client says, and the errors of one that was refused and of
// one whose connection broke.
func heldBy(ctx context.Context, c contender) ([]any, error) {
	var held []any
	for _, far := range []service{
		always(inJSON(http.StatusUnauthorized, c.api.refused)),
		func(*http.Request) (answer, error) { return answer{}, errors.New("connection reset by peer") },
	} {
		client, err := c.open(far, briefly)
		if err != nil {
			return nil, err
		}
		defer client.Close()
		if held == nil {
			if held, err = client.Held(ctx, clave); err != nil {
				return nil, err
			}
		}
		err = client.Send(ctx, clave)
		if err == nil {
			return nil, errors.New("a failure was taken for a success")
		}
		held = append(held, err)
	}
	return held, nil
}

// everyOutput writes v in every way that a program may print it.
func everyOutput(v any) map[string]string {
	outputs := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		outputs[verb] = fmt.Sprintf(verb, v)
	}
	if text, err := json.Marshal(v); err == nil {
		outputs["JSON"] = string(text)
	} else {
		outputs["JSON"] = err.Error()
	}
	var text, inJSON bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("x", "v", v)
	slog.New(slog.NewJSONHandler(&inJSON, nil)).Info("x", "v", v)
	outputs["slog text"], outputs["slog JSON"] = text.String(), inJSON.String()
	return outputs
}

// shows reports whether a text has a secret in it: as it is, as fmt writes its bytes, or as JSON does, in base64.
func shows(text, secret string) bool {
	bytewise := func(format string) string { return strings.Trim(fmt.Sprintf(format, []byte(secret)), "[]") }
	forms := []string{secret, bytewise("%x"), bytewise("%d"), strings.TrimPrefix(strings.Trim(fmt.Sprintf("%#v", []byte(secret)), "}"), "[]byte{")}
	for before := range 3 { // bytes: they shift what base64 makes of it
		whole := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
		first, last := (before*8+5)/6, (before+len(secret))*8/6 // of the letters that are made of the secret alone
		forms = append(forms, whole[first:last])
	}
	return slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(text, form) })
}
