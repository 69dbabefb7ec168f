package fiscope

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/scrub"
)

// CallOption configures one call. If its value is invalid, the call fails and nothing is sent.
type CallOption interface{ applyToCall(*settings) }

type callOption func(*settings)

func (o callOption) applyToCall(s *settings) { o(s) }

// refuse makes the call fail if the value of an option is wrong. The first reason wins.
func (s *settings) refuse(wrong bool, format string, args ...any) {
	if wrong && s.invalid == nil {
		s.invalid = misuse(format, args...)
	}
}

// of returns the context and the settings of a call with options. A call without a context fails.
func (s *settings) of(ctx context.Context, opts []CallOption) (context.Context, *settings) {
	own := *s
	if own.refuse(ctx == nil, "the context is nil: pass context.Background() if you have no other"); ctx == nil {
		ctx = context.Background()
	}
	for _, opt := range opts {
		if own.refuse(opt == nil, "an option of the call is nil"); opt != nil {
			opt.applyToCall(&own)
		}
	}
	return ctx, &own
}

// WithResponse fills r with what is known about the call besides its result, even if the call fails.
func WithResponse(r *Response) CallOption {
	return callOption(func(s *settings) {
		if r != nil {
			*r = Response{} // an earlier call may have filled it
			s.responses = append(s.responses, r)
		}
	})
}

// fill fills the Responses that the options ask for.
func (s *settings) fill(a *answer) {
	for _, r := range s.responses {
		*r = a.response()
	}
}

// WithoutCache skips cached answers, also the Store's, and the Client's Respaldo. The new answer is cached.
func WithoutCache() CallOption {
	return callOption(func(s *settings) { s.fresh = true })
}

// SharedOption is an option for all calls of a Client, or for one call.
type SharedOption interface {
	Option
	CallOption
}

type sharedOption func(*settings)

func (o sharedOption) applyToCall(s *settings) { o(s) }

func (o sharedOption) applyToClient(c *config) { o(&c.calls) }

// WithTimeout bounds each attempt of a lookup, a search or a rate: 10 seconds by default. An attempt that it ends is
// repeated once at most. The context bounds the whole call, with retries and waits.
func WithTimeout(d time.Duration) SharedOption {
	return sharedOption(func(s *settings) {
		s.timeout = d
		s.refuse(d <= 0, "WithTimeout wants more than 0: it is %s", d)
	})
}

// WithCPETimeout bounds each attempt of a receipt validation: 30 seconds by default.
func WithCPETimeout(d time.Duration) SharedOption {
	return sharedOption(func(s *settings) {
		s.cpeTimeout = d
		s.refuse(d <= 0, "WithCPETimeout wants more than 0: it is %s", d)
	})
}

// WithMaxRetries sets how often an attempt is repeated: 2 by default, 0 for never. See [RetryPolicy].
func WithMaxRetries(n int) SharedOption {
	return sharedOption(func(s *settings) {
		s.retries = n
		s.refuse(n < 0, "WithMaxRetries wants 0 or more: it is %d", n)
	})
}

// WithHeader sends a header of your own with each request, as for a gateway. It cannot be X-API-KEY, Content-Type,
// Content-Length, Host, Accept or User-Agent. A value of 8 characters or more is treated as a secret. A shared query
// has the headers of the call that began it.
func WithHeader(name, value string) SharedOption {
	return sharedOption(func(s *settings) {
		name := http.CanonicalHeaderKey(name)
		s.refuse(slices.Contains(ownHeaders, name), "WithHeader wants a header of yours: the client sets %s itself", name)
		odd := strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
		s.refuse(odd || !headerName.MatchString(name), "WithHeader wants the name of a header and a value of one line: the name is %q", scrub.Cut(name, 40))
		if s.header = s.header.Clone(); s.header == nil {
			s.header = http.Header{}
		}
		if s.header.Set(name, value); len(value) >= shortestSecret {
			s.secrets = s.secrets.With(value)
		}
	})
}

// shortestSecret is the length, in bytes, from which a header of the caller is treated as a secret.
const shortestSecret = 8

// ownHeaders are set by the client itself.
var ownHeaders = []string{"X-Api-Key", "Content-Type", "Content-Length", "Host", "Accept", "User-Agent", attemptHeader}

var headerName = regexp.MustCompile("^[-!#$%&'*+.^_`|~0-9A-Za-z]+$") // RFC 9110, 5.6.2

// WithQuotaReserve keeps the last n queries of the day for other programs (as an option of a Client) or for other calls
// (of a call). A call that would use them is refused with [ErrQuotaExceeded]; nothing is sent.
//
// It works once an answer of the day has said what is left. The contract promises that for lookups alone: make a lookup
// first. Until then a warning is logged once a day, and [Stats] counts the attempts.
func WithQuotaReserve(n int) SharedOption {
	return sharedOption(func(s *settings) {
		s.reserve = n
		s.refuse(n < 0, "WithQuotaReserve wants 0 or more: it is %d", n)
	})
}

// WithRespaldo lets r answer Consultar and ConsultarLote of Contribuyentes while the service gives no usable answer or
// the quota is spent. A stale answer of the cache comes first ([CachePolicy]). NOT_FOUND and other usable answers
// stand. The option of a call wins over its Client's.
//
// For a refused API key it answers only if this Client, or another one with its Store, saw the key accepted.
//
// The [Response] of such an answer has Source SourceRespaldo, and in AsOf the day of its data. If r lacks the RUC, fails
// or hangs, the caller gets the service's error; a failure is logged.
func WithRespaldo(r Respaldo) SharedOption {
	return sharedOption(func(s *settings) {
		s.refuse(r == nil, "the Respaldo of WithRespaldo is nil")
		s.use(SourceRespaldo, r)
	})
}

// use sets the Respaldo that a source asks.
func (s *settings) use(name Source, r Respaldo) {
	if s.respaldos == nil {
		s.respaldos = map[Source]Respaldo{}
	}
	s.respaldos[name] = r
}

// walkOption is an option of operations that ask for one day after another. Every other operation refuses it.
type walkOption func(*walkOptions)

func (o walkOption) applyToCall(s *settings) {
	if s.refuse(s.walk == nil, "WithProvisional, WithNoLaborables and WithTodosLosDias are options of SUNAT, UltimoPublicado, MasReciente and Mes"); s.walk != nil {
		o(s.walk)
	}
}

// WithProvisional makes SUNAT and UltimoPublicado skip a business day whose rate may still come, and mark the older
// rate as Provisional: it may change. Mes leaves such days out.
func WithProvisional() CallOption {
	return walkOption(func(o *walkOptions) { o.provisional = true })
}

// WithNoLaborables makes SUNAT, UltimoPublicado, MasReciente and Mes skip days that a decree declared free. Without it
// such a day delays the rates after it until the next business day's is published. Leave out days that are free for
// public offices alone: SBS may publish on them.
func WithNoLaborables(decretados ...NoLaborables) CallOption {
	return walkOption(func(o *walkOptions) { o.decretados = append(o.decretados, decretados...) })
}

// WithTodosLosDias makes Mes yield a line for every day of the month. A line that repeats a rate costs no query.
func WithTodosLosDias() CallOption {
	return walkOption(func(o *walkOptions) { o.todosLosDias = true })
}
