package redact

import (
	"encoding/json"
	"strings"
)

// masked replaces a hidden value.
const masked = `"***"`

// CPEFields are the fields of a receipt validation, all required, in the order of docs/contract.md, 2.3.
var CPEFields = []string{"rucEmisor", "tipoComprobante", "serie", "numero", "rucSolicitante", "usuarioSol", "claveSol"}

// CPE formats the body of a receipt validation without its clave and without keys, wherever they are. It omits members that
// the contract does not have: they may be anything.
func CPE(object map[string]json.RawMessage, keys Keys) string {
	var clave string
	_ = json.Unmarshal(object["claveSol"], &clave) // another type has no text to search for
	var members []string
	for _, name := range CPEFields {
		if raw, ok := object[name]; ok {
			members = append(members, `"`+name+`":`+cpeValue(name, raw, clave, keys))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// cpeValue returns the part of a field's value that may be kept: all of it if it has the field's form, the end of a user's
// name, and nothing of a possibly misplaced secret.
func cpeValue(name string, raw json.RawMessage, clave string, keys Keys) string {
	if value := string(raw); value == `""` || value == "null" { // like an absent field
		return value
	}
	var text string
	isText := json.Unmarshal(raw, &text) == nil
	if clave != "" && strings.Contains(string(raw)+text, clave) || keys.in(string(raw)) || keys.in(text) {
		return masked
	}
	switch name {
	case "rucEmisor", "rucSolicitante":
		if len(text) == 11 && strings.Trim(text, "0123456789") == "" { // any other number may be a clave
			return quoted(text)
		}
	case "tipoComprobante":
		if isText && len(text) <= 2 {
			return quoted(text)
		}
	case "serie":
		if isText && len(text) <= 4 {
			return quoted(text)
		}
	case "numero":
		if len(raw) <= 10 && strings.Trim(string(raw), "-0123456789.") == "" {
			return string(raw)
		}
	case "usuarioSol":
		if letters := []rune(text); len(letters) > 3 {
			return quoted("***" + string(letters[len(letters)-2:]))
		}
	}
	return masked // always for claveSol, unless it is empty
}

func quoted(s string) string {
	text, _ := json.Marshal(s) // a string: cannot fail
	return string(text)
}
