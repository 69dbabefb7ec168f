package mockserver

import (
	"strings"
	"time"
)

// Preset is a named failure; see [Presets]. It is a [Step].
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
	Name  Preset    `json:"name"`
	Group string    `json:"group"`        // body, data, quota, status, sunat or connection
	What  string    `json:"what"`         // one line
	Op    Operation `json:"op,omitempty"` // an operation that it affects; "" for any
}

// Presets returns all presets, sorted by group, the usual ones first.
func Presets() []PresetInfo {
	list := make([]PresetInfo, len(presets))
	for i, p := range presets {
		list[i] = p.PresetInfo
	}
	return list
}

type preset struct {
	PresetInfo
	action
}

const html = "<!DOCTYPE html>\n<html><head><title>Mantenimiento</title></head><body><h1>Servicio en mantenimiento</h1></body></html>\n"

var (
	blocked = strings.ReplaceAll(html, "mantenimiento", "bloqueado")
	page    = Header("Content-Type", "text/html; charset=utf-8")
)

// presets are in the order of the page: the usual groups first, and in each group the usual presets.
var presets = []preset{
	{PresetInfo{Outage503, "status", "a gateway's 503 in HTML with Retry-After: 120", ""}, action{Effect: Answer(503, html).And(page).And(RetryAfter("120"))}},
	{PresetInfo{Ambiguous401, "status", "a 401 without a code: the key, the quota or the SOL user", ""}, action{Effect: Answer(401, `{"error":"No autorizado"}`+"\n")}},
	{PresetInfo{Firewall403, "status", "a firewall's HTML page with status 403", ""}, action{Effect: Answer(403, blocked).And(page)}},
	{PresetInfo{RedirectElsewhere, "status", "a 307 to another host", ""}, action{Effect: Answer(307, "").And(Header("Location", "https://otro.invalid/api"))}},
	{PresetInfo{Throttle429, "quota", "throttling as a 429 with Retry-After: 1", ""}, action{Effect: Answer(429, `{"error":"Demasiadas consultas por segundo","code":"TOO_MANY_REQUESTS"}`+"\n").And(RetryAfter("1"))}},
	{PresetInfo{ThrottleAs500, "quota", "throttling as a 500 without Retry-After", ""}, action{Effect: Answer(500, `{"error":"Too many requests, slow down"}`+"\n")}},
	{PresetInfo{NoRateLimit, "quota", "without the X-RateLimit headers", OpConsultar}, action{change: &noRateLimit}},
	{PresetInfo{EpochReset, "quota", "X-RateLimit-Reset in seconds since 1970", OpConsultar}, action{change: &epochReset}},
	{PresetInfo{StrangeQuota, "quota", "X-RateLimit headers that are not numbers", OpConsultar}, action{change: &strangeQuota}},
	{PresetInfo{SUNATDown, "sunat", "a 500, because the tax authority does not respond; no SOL attempt", OpValidar}, action{sunat: true}},
	{PresetInfo{SUNATSlow, "sunat", "log-normal latency with a median of 4 s", OpValidar}, action{Effect: Latency(4 * time.Second), sigma: 0.6}},
	{PresetInfo{Hang, "connection", "no answer, until the client leaves", ""}, action{end: hangs}},
	{PresetInfo{Slow, "connection", "the body in pieces of 16 bytes, one each 200 ms", ""}, action{chunk: 16, every: 200 * time.Millisecond}},
	{PresetInfo{ResetBefore, "connection", "a connection reset (RST) before the answer", ""}, action{end: resets}},
	{PresetInfo{CloseBefore, "connection", "the connection closed (FIN) before the answer", ""}, action{end: closes}},
	{PresetInfo{ResetInside, "connection", "a connection reset (RST) inside the answer", ""}, action{end: resets, inside: true}},
	{PresetInfo{CloseInside, "connection", "the connection closed (FIN) inside the answer", ""}, action{end: closes, inside: true}},
	{PresetInfo{HangInside, "connection", "half of the answer, then nothing", ""}, action{end: hangs, inside: true}},
	{PresetInfo{HTML200, "body", "an HTML page with status 200", ""}, action{Effect: Answer(200, html).And(page)}},
	{PresetInfo{Empty200, "body", "status 200 without a body", ""}, action{Effect: Answer(200, "")}},
	{PresetInfo{Truncated, "body", "half of the answer, with the half's length", ""}, action{change: &truncated}},
	{PresetInfo{Error200, "body", "status 200 with the contract's error body", ""}, action{Effect: Answer(200, `{"error":"Error interno del servidor","code":"INTERNAL_ERROR"}`+"\n")}},
	{PresetInfo{SuccessFalse200, "body", "status 200 with success false", ""}, action{Effect: Answer(200, `{"success":false,"message":"No se pudo completar la consulta"}`+"\n")}},
	{PresetInfo{Null200, "body", "status 200 with null", ""}, action{Effect: Answer(200, "null\n")}},
	{PresetInfo{NumbersAsStrings, "body", "every number and boolean of the answer as text", OpTipoCambio}, action{change: &numbersAsText}},
	{PresetInfo{Latin1, "body", "the answer in ISO-8859-1 instead of UTF-8", ""}, action{change: &latin1}},
	{PresetInfo{TrailingData, "body", "a second JSON value after the answer", ""}, action{change: &trailing}},
	{PresetInfo{Garbage, "body", "status 200 with binary data", ""}, action{Effect: Status(200), change: &garbage}},
	{PresetInfo{GzipLie, "body", "an uncompressed answer declared as gzip", ""}, action{change: &gzipLie}},
	{PresetInfo{GzipBomb, "body", "16 MiB in 16 KiB of gzip", ""}, action{change: &gzipBomb}},
	{PresetInfo{OtherRUC, "data", "the record of another taxpayer", OpConsultar}, action{change: &otherRUC}},
	{PresetInfo{OtherDate, "data", "the rate of the day before", OpTipoCambio}, action{change: &otherDate}},
	{PresetInfo{ContradictoryCPE, "data", "a receipt that is Aceptado but not valid", OpValidar}, action{change: &contradiction}},
}

func (p Preset) effect() Effect { return Effect{Preset: p} }

// And returns the preset's effect with another one over it.
func (p Preset) And(other Step) Effect { return p.effect().And(other) }

// Uncharged returns the preset's effect acting before the call is charged.
func (p Preset) Uncharged() Effect { return p.effect().Uncharged() }
