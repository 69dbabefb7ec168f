package redact

import (
	"encoding/json"
	"strings"
)

// masked stands for a value that was taken out.
const masked = `"***"`

// cpeFields are the fields of a receipt validation, in the order of docs/contract.md, 2.3.
var cpeFields = []string{"rucEmisor", "tipoComprobante", "serie", "numero", "rucSolicitante", "usuarioSol", "claveSol"}

// CPE writes the body of a receipt validation without its clave and without keys, which are also taken out of a
// field where they do not belong. Members that the contract does not know may be anything, and are left out.
func CPE(object map[string]json.RawMessage, keys Keys) string {
	var clave string
	_ = json.Unmarshal(object["claveSol"], &clave) // of another type: there is no text to look for
	var members []string
	for _, name := range cpeFields {
		if raw, ok := object[name]; ok {
			members = append(members, `"`+name+`":`+cpeValue(name, raw, clave, keys))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// cpeValue is what is kept of a field's value: all of it if it has the shape of the field, the end of a
// user's name, and nothing of what may be a misplaced secret.
func cpeValue(name string, raw json.RawMessage, clave string, keys Keys) string {
	if value := string(raw); value == `""` || value == "null" { // absent, as it were
		return value
	}
	var text string
	isText := json.Unmarshal(raw, &text) == nil
	if clave != "" && strings.Contains(string(raw)+text, clave) || keys.in(string(raw)) || keys.in(text) {
		return masked
	}
	switch name {
	case "rucEmisor", "rucSolicitante":
		if len(text) == 11 && strings.Trim(text, "0123456789") == "" { // another number may be a clave
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
	return masked // of claveSol always, unless it is empty
}

func quoted(s string) string {
	text, _ := json.Marshal(s) // a string: cannot fail
	return string(text)
}
