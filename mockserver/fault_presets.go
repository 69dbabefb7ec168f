package mockserver

import (
	"strings"
	"time"
)

// Preset is a named failure, as services like this one have them. It is a [Step]:
//
//	srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.HTML200)
type Preset string

// The presets; see [Presets] for what each does.
const (
	HTML200           Preset = "html-200"
	Firewall403       Preset = "firewall-403"
	Empty200          Preset = "empty-200"
	Null200           Preset = "null-200"
	Error200          Preset = "error-200"
	SuccessFalse200   Preset = "success-false-200"
	NumbersAsStrings  Preset = "numbers-as-strings"
	Latin1            Preset = "latin-1"
	Garbage           Preset = "garbage"
	Truncated         Preset = "truncated"
	TrailingData      Preset = "trailing-data"
	GzipBomb          Preset = "gzip-bomb"
	GzipLie           Preset = "gzip-lie"
	OtherRUC          Preset = "other-ruc"
	OtherDate         Preset = "other-date"
	ContradictoryCPE  Preset = "contradictory-cpe"
	NoRateLimit       Preset = "no-rate-limit"
	EpochReset        Preset = "epoch-reset"
	StrangeQuota      Preset = "strange-quota"
	ThrottleAs500     Preset = "throttle-as-500"
	Throttle429       Preset = "throttle-429"
	Outage503         Preset = "outage-503"
	Ambiguous401      Preset = "ambiguous-401"
	RedirectElsewhere Preset = "redirect"
	SUNATDown         Preset = "sunat-down"
	SUNATSlow         Preset = "sunat-slow"
	Hang              Preset = "hang"
	Slow              Preset = "slow"
	ResetBefore       Preset = "reset"
	ResetInside       Preset = "reset-inside"
	CloseBefore       Preset = "close"
	CloseInside       Preset = "close-inside"
	HangInside        Preset = "hang-inside"
)

// PresetInfo describes a preset.
type PresetInfo struct {
	Name   Preset    `json:"name"`
	What   string    `json:"what"`         // one line
	Op     Operation `json:"op,omitempty"` // an operation that it shows in; "" for any
	Effect Effect    `json:"effect"`
}

const html = "<!DOCTYPE html>\n<html><head><title>Mantenimiento</title></head><body><h1>Servicio en mantenimiento</h1></body></html>\n"

// Presets returns all presets, in the order of this table, with what each of them is made of.
func Presets() []PresetInfo {
	page := Header("Content-Type", "text/html; charset=utf-8")
	return []PresetInfo{
		{HTML200, "an HTML page with status 200", "", Answer(200, html).And(page)},
		{Firewall403, "a firewall's HTML page with status 403", "", Answer(403, strings.ReplaceAll(html, "mantenimiento", "bloqueado")).And(page)},
		{Empty200, "status 200 without a body", "", Answer(200, "")},
		{Null200, "status 200 with null", "", Answer(200, "null\n")},
		{Error200, "status 200 with the contract's error body", "", Answer(200, `{"error":"Error interno del servidor","code":"INTERNAL_ERROR"}`+"\n")},
		{SuccessFalse200, "status 200 with success false", "", Answer(200, `{"success":false,"message":"No se pudo completar la consulta"}`+"\n")},
		{NumbersAsStrings, "every number and boolean of the answer as text", OpTipoCambio, Effect{Rewrite: RewriteNumbersAsText}},
		{Latin1, "the answer in ISO-8859-1 instead of UTF-8", "", Effect{Rewrite: RewriteLatin1}},
		{Garbage, "status 200 with bytes of no format", "", Effect{Status: 200, Rewrite: RewriteGarbage}},
		{Truncated, "half of the answer, with the length of the half", "", Effect{Rewrite: RewriteTruncated}},
		{TrailingData, "a second JSON value after the answer", "", Effect{Rewrite: RewriteTrailing}},
		{GzipBomb, "16 MiB in 16 KiB of gzip", "", Effect{Rewrite: RewriteGzipBomb}},
		{GzipLie, "a plain answer that says it is gzip", "", Effect{Rewrite: RewriteUncompressedLie}},
		{OtherRUC, "the record of another taxpayer", OpConsultar, Effect{Rewrite: RewriteOtherRUC}},
		{OtherDate, "the rate of the day before", OpTipoCambio, Effect{Rewrite: RewriteOtherDate}},
		{ContradictoryCPE, "a receipt that is Aceptado, and not valid", OpValidar, Effect{Rewrite: RewriteContradiction}},
		{NoRateLimit, "without the X-RateLimit headers", OpConsultar, Effect{Rewrite: RewriteNoRateLimit}},
		{EpochReset, "X-RateLimit-Reset in seconds since 1970", OpConsultar, Effect{Rewrite: RewriteEpochReset}},
		{StrangeQuota, "X-RateLimit headers that are no numbers", OpConsultar, Effect{Rewrite: RewriteStrangeQuota}},
		{ThrottleAs500, "throttling as a 500 without Retry-After", "", Answer(500, `{"error":"Too many requests, slow down"}`+"\n")},
		{Throttle429, "throttling as a 429 with Retry-After: 1", "", Answer(429, `{"error":"Demasiadas consultas por segundo","code":"TOO_MANY_REQUESTS"}`+"\n").And(RetryAfter("1"))},
		{Outage503, "a gateway's 503 in HTML with Retry-After: 120", "", Answer(503, html).And(page).And(RetryAfter("120"))},
		{Ambiguous401, "a 401 without a code: the key, the quota or the SOL user", "", Answer(401, `{"error":"No autorizado"}`+"\n")},
		{RedirectElsewhere, "a 307 to another host", "", Redirect(307, "https://otro.invalid/api")},
		{SUNATDown, "a 500, since the tax authority does not respond; no SOL attempt", OpValidar, Effect{SUNATDown: true}},
		{SUNATSlow, "log-normal latency with a median of 4 s", OpValidar, LogNormal(4*time.Second, 0.6)},
		{Hang, "no answer, until the client leaves", "", Broken(BreakHang)},
		{Slow, "the body in pieces of 16 bytes, one each 200 ms", "", Dribble(16, 200*time.Millisecond)},
		{ResetBefore, "a connection reset (RST) before the answer", "", Broken(BreakReset)},
		{ResetInside, "a connection reset (RST) inside the answer", "", Broken(BreakResetInside)},
		{CloseBefore, "the connection closed (FIN) before the answer", "", Broken(BreakClose)},
		{CloseInside, "the connection closed (FIN) inside the answer", "", Broken(BreakCloseInside)},
		{HangInside, "half of the answer, and then nothing", "", Broken(BreakHangInside)},
	}
}

func (p Preset) lookup() (Effect, bool) {
	for _, info := range Presets() {
		if info.Name == p {
			return info.Effect, true
		}
	}
	return Effect{}, false
}

func (p Preset) effect() Effect { return Effect{Preset: p} }

// And returns the preset's effect with another one over it.
func (p Preset) And(other Step) Effect { return p.effect().And(other) }

// Uncharged returns the preset's effect acting before the call is charged.
func (p Preset) Uncharged() Effect { return p.effect().resolved().Uncharged() }
