package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// Whoever fakes the client in a test makes the errors by hand.
func TestAnErrorMadeByHandIsOfItsClass(t *testing.T) {
	inner := &fiscope.Error{Op: fiscope.OpConsultarContribuyente, StatusCode: 404, Code: fiscope.CodeNotFound, Delivery: fiscope.DeliveryAnswered, Err: fiscope.ErrNotFound}
	for name, test := range map[string]struct {
		err     error
		classes []string
		says    string
	}{
		"a class":                     {fiscope.ErrUnavailable, []string{"ErrUnavailable"}, "fiscope: Contribuyentes.Consultar: service unavailable; nothing was sent"},
		"a class with advice":         {fiscope.ErrUnauthorized, []string{"ErrUnauthorized"}, "fiscope: Contribuyentes.Consultar: unauthorized; check the API key; nothing was sent"},
		"a class within another":      {fiscope.ErrSearchTooShort, []string{"ErrSearchTooShort", "ErrInvalidRequest"}, "fiscope: Contribuyentes.Consultar: search text too short; nothing was sent"},
		"a wrapped class":             {fmt.Errorf("the fake: %w", fiscope.ErrNotFound), []string{"ErrNotFound"}, "fiscope: Contribuyentes.Consultar: the fake: fiscope: not found; nothing was sent"},
		"another error of the client": {inner, []string{"ErrNotFound"}, "fiscope: Contribuyentes.Consultar: Contribuyentes.Consultar: not found (HTTP 404 NOT_FOUND); nothing was sent"},
		"any error":                   {io.ErrUnexpectedEOF, nil, "fiscope: Contribuyentes.Consultar: unexpected EOF; nothing was sent"},
		"several lines":               {errors.New("uno\ndos 20131312955"), nil, "fiscope: Contribuyentes.Consultar: uno dos 20…955; nothing was sent"},
		"none":                        {nil, nil, "fiscope: Contribuyentes.Consultar: failed; nothing was sent"},
	} {
		t.Run(name, func(t *testing.T) {
			err := error(&fiscope.Error{Op: fiscope.OpConsultarContribuyente, Err: test.err})
			assert.ElementsMatch(t, test.classes, classes(err))
			assert.ElementsMatch(t, test.classes, classes(fmt.Errorf("wrapped: %w", err)))
			assert.Equal(t, test.says, err.Error())
			assert.Equal(t, test.says, fmt.Sprintf("%+v", err))
			if test.err != nil {
				assert.ErrorIs(t, err, test.err)
			}
		})
	}
	var e *fiscope.Error
	_, err := newClient(t, &service{answers: []func(*http.Request) (*http.Response, error){raw(404, contract(t, "consultar_404.json"))}}).Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.ErrorAs(t, err, &e)
	assert.Equal(t, fiscope.ErrNotFound, e.Err, "the client's own show their class in the same place")
}

func TestANilErrorDoesNotPanic(t *testing.T) {
	var e *fiscope.Error
	assert.NotErrorIs(t, e, fiscope.ErrNotFound)
	var op *fiscope.Error
	assert.ErrorAs(t, e, &op)
	assert.Nil(t, e.Body())
	assert.Empty(t, e.Unwrap())
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
		assert.Equal(t, "<nil>", fmt.Sprintf(verb, e))
	}
	assert.Equal(t, "<nil>", e.Error())

	client, _ := answers(t, broken(e))
	_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.Error(t, err)
}

// A transport of a test may answer with errors made by hand, the same one to all calls.
func TestAnErrorMadeByHandOfATransport(t *testing.T) {
	for name, test := range map[string]struct {
		class   error
		stopped bool
	}{
		"unavailable":     {fiscope.ErrUnavailable, false},
		"not found":       {fiscope.ErrNotFound, false},
		"quota exceeded":  {fiscope.ErrQuotaExceeded, true},
		"unauthorized":    {fiscope.ErrUnauthorized, true},
		"another, within": {fmt.Errorf("the fake: %w", fiscope.ErrUnauthorized), true},
	} {
		t.Run(name, func(t *testing.T) {
			made := &fiscope.Error{Op: "Fake", Message: "made by hand", Err: test.class}
			before := *made
			client := newClient(t, &service{answers: []func(*http.Request) (*http.Response, error){broken(made)}},
				fiscope.WithRetry(fiscope.RetryPolicy{Base: time.Second, Cap: time.Second}))
			_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
			require.ErrorIs(t, err, test.class)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, fiscope.OpConsultarContribuyente, e.Op)
			assert.Equal(t, "made by hand", e.Message)

			rucs := slices.Values([]string{rucSUNAT, rucEmisor, "20100055237", "20331898008"})
			lines, stopped := 0, false
			for _, err := range client.Contribuyentes.ConsultarLote(t.Context(), rucs, fiscope.LotePolicy{}) {
				require.ErrorIs(t, err, test.class)
				require.ErrorIs(t, err, made)
				var end *fiscope.LoteDetenido
				stopped = errors.As(err, &end)
				lines++
			}
			assert.Equal(t, test.stopped, stopped)
			assert.Equal(t, map[bool]int{true: 1, false: 4}[stopped], lines)
			assert.Equal(t, before, *made, "it is the test's, and many calls may share it")
		})
	}
}

// errgroup cancels its context with the error of one call: the others are not of its class.
func TestTheErrorOfAnotherCallIsNoMoreThanTheCause(t *testing.T) {
	_, notFound := newClient(t, &service{answers: []func(*http.Request) (*http.Response, error){raw(404, contract(t, "consultar_404.json"))}}).Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.ErrorIs(t, notFound, fiscope.ErrNotFound)
	text := notFound.Error()
	for name, opts := range map[string][]fiscope.Option{
		"alone": nil, "shared": {fiscope.WithCoalescing()}, "cached": {fiscope.WithCache(fiscope.CachePolicy{})},
	} {
		for op, call := range operations {
			t.Run(name+" "+op, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				client := newClient(t, &service{answers: []func(*http.Request) (*http.Response, error){func(r *http.Request) (*http.Response, error) {
					cancel(notFound)
					return nil, context.Cause(ctx)
				}}}, opts...)
				err := call(ctx, client)
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, notFound, "the cause can be asked")
				assert.NotErrorIs(t, err, fiscope.ErrNotFound, "but nobody was looked for")
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.NotSame(t, notFound, e)
				assert.Equal(t, text, notFound.Error(), "which stays as it was")
			})
		}
	}
}

func TestADeliveryThatIsNone(t *testing.T) {
	for d, text := range map[fiscope.Delivery]string{0: "not sent", 1: "answered", 2: "unknown", 3: "Delivery(3)", 9: "Delivery(9)", -1: "Delivery(-1)"} {
		assert.Equal(t, text, d.String())
		assert.Equal(t, text, fmt.Sprint(d))
	}
	assert.NotPanics(t, func() { _ = (&fiscope.Error{Delivery: 9}).Error(); fiscope.Event{Delivery: 9}.LogValue() })
}

func TestALoteDetenidoMadeByHand(t *testing.T) {
	stopped := error(&fiscope.LoteDetenido{Posicion: 7, Err: &fiscope.Error{Op: fiscope.OpConsultarContribuyente, Err: fiscope.ErrQuotaExceeded}})
	require.ErrorIs(t, stopped, fiscope.ErrQuotaExceeded)
	assert.Equal(t, "fiscope: the batch stopped before position 7: Contribuyentes.Consultar: quota exceeded; nothing was sent", stopped.Error())
	assert.Equal(t, "fiscope: the batch stopped before position 0", (&fiscope.LoteDetenido{}).Error())
	for name, e := range map[string]*fiscope.LoteDetenido{"nil": nil, "without a reason": {}} {
		t.Run(name, func(t *testing.T) {
			assert.NotErrorIs(t, e, fiscope.ErrQuotaExceeded)
			assert.NotEmpty(t, e.Error())
			assert.NoError(t, e.Unwrap())
		})
	}
}
