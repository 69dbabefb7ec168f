package mockserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/strictjson"
	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

type wireResultado struct {
	Codigo   string `json:"codigo"`
	Mensaje  string `json:"mensaje"`
	Estado   string `json:"estado"`
	EsValido bool   `json:"esValido"`
}

// validar is the receipt validation of docs/contract.md, 4.3. It asks the tax authority last: an invalid request, or one
// during an outage, is not a SOL attempt.
func validar(q *request, n *remark, data *dataset, assume *Assumptions, now time.Time, down bool) answer {
	body, a := readObject(q)
	if body == nil {
		return a
	}
	cpe, a, ok := readCPE(body, assume)
	if !ok {
		return a
	}
	if down {
		return refusal(http.StatusInternalServerError, assume.CodeSUNATUnavailable,
			"el servicio de SUNAT no responde: reintente más tarde; no se contó como intento del usuario SOL (docs/contract.md, 4.3)")
	}
	q.ruc = cpe.comprobante.emisor
	o := data.sol.attempt(cpe.usuario, cpe.clave, now, assume.BlockAfter, assume.BlockFor)
	n.user, n.sol = cpe.usuario.hash(), o.result
	if o.result != SOLAccepted {
		r := Refusal{http.StatusUnauthorized, codeInvalidSOL}
		if o.result == SOLBlocked && !o.principal {
			r = assume.BlockedSOL
		}
		return r.refusal("%s (docs/contract.md, 4.3)", whyRefused(o))
	}
	found := data.comprobantes.find(cpe.comprobante, now)
	return success(wireResultado{
		Codigo:   found.Codigo,
		Mensaje:  found.Mensaje,
		Estado:   resultados[found.Codigo].estado,
		EsValido: found.Codigo == CodigoAceptado,
	})
}

// isCPE reports whether a call is a valid receipt validation, which reaches the tax authority.
func isCPE(q *request, assume *Assumptions) bool {
	if q.op != OpValidar {
		return false
	}
	body, _ := readObject(q)
	_, _, right := readCPE(body, assume) // false without a body
	return right
}

// consultaCPE is a valid receipt validation.
type consultaCPE struct {
	comprobante comprobanteID
	usuario     UsuarioID
	clave       string
}

// readObject reads the body as one JSON object, or returns the refusal. It has its own texts: encoding/json's quote the
// input, and with it a clave.
func readObject(q *request) (map[string]json.RawMessage, answer) {
	media, _, err := mime.ParseMediaType(q.r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return nil, refusal(http.StatusUnsupportedMediaType, codeMediaType, "%s: debe ser application/json (docs/contract.md, 4.3)", q.gotMedia(media))
	}
	if coding := q.r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return nil, refusal(http.StatusUnsupportedMediaType, codeMediaType,
			"el cuerpo llegó comprimido, con Content-Encoding %s: envíelo sin comprimir", q.quoted(coding))
	}
	raw, err := q.readBody()
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, refusal(http.StatusRequestEntityTooLarge, codeTooLarge,
			"el cuerpo supera %d bytes: envíe solo los siete campos (docs/contract.md, 2.3)", bodyMost)
	}
	if err != nil {
		return nil, unreadable()
	}
	if !utf8.Valid(raw) {
		return nil, refusal(http.StatusBadRequest, codeNotJSON, "el cuerpo no está en UTF-8, como exige JSON (RFC 8259)")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		where := ""
		if bytes.HasPrefix(raw, []byte("\ufeff")) {
			where = " (empieza con un BOM, que JSON no admite)"
		} else if wrong := (*strictjson.Error)(nil); errors.As(strictjson.Check(raw), &wrong) {
			where = " (error en el byte " + strconv.Itoa(wrong.At+1) + ")"
		}
		return nil, refusal(http.StatusBadRequest, codeNotJSON,
			"el cuerpo no es un objeto JSON%s: envíe uno solo, con los siete campos (docs/contract.md, 2.3)", where)
	}
	q.redacted = redact.CPE(object, q.keys)
	if name := repeatedMember(raw); name != "" {
		return nil, refusal(http.StatusBadRequest, codeNotJSON, "%s está dos veces en el cuerpo: envíe cada campo una sola vez", name)
	}
	if clave := ""; json.Unmarshal(object["claveSol"], &clave) == nil {
		q.hide(clave) // it may also be in a header
	}
	return object, answer{}
}

// repeatedMember returns the name of a JSON object's first repeated member, "" for none: a service would use only one.
func repeatedMember(object []byte) string {
	d, seen := json.NewDecoder(bytes.NewReader(object)), map[string]bool{}
	_, _ = d.Token()
	for value := json.RawMessage(nil); d.More(); _ = d.Decode(&value) {
		token, _ := d.Token()
		name, _ := token.(string)
		if seen[name] && slices.Contains(redact.CPEFields, name) {
			return name
		} else if seen[name] {
			return "un miembro" // the name may be anything
		}
		seen[name] = true
	}
	return ""
}

// gotMedia says which media type came instead of JSON.
func (q *request) gotMedia(media string) string {
	switch {
	case q.r.Header.Get("Content-Type") == "":
		return "falta el encabezado Content-Type"
	case media == "application/x-www-form-urlencoded", media == "multipart/form-data":
		return "el cuerpo llegó como formulario, con Content-Type " + media
	case strings.Trim(media, "abcdefghijklmnopqrstuvwxyz/+-.") != "": // it may be anything
		return "el encabezado Content-Type no se puede leer"
	}
	return "el cuerpo llegó con Content-Type " + q.quoted(media)
}

func unreadable() answer {
	return refusal(http.StatusBadRequest, codeUnreadable, "el cuerpo no llegó completo: vuelva a enviarlo")
}

// readCPE reads the seven fields of the object. Other members are ignored.
func readCPE(object map[string]json.RawMessage, assume *Assumptions) (q consultaCPE, a answer, ok bool) {
	bad := func(code, format string, args ...any) (consultaCPE, answer, bool) {
		return consultaCPE{}, refusal(http.StatusBadRequest, code, format, args...), false
	}
	text := map[string]string{}
	var missing, mistyped []string
	for _, name := range redact.CPEFields {
		var value string
		switch raw := object[name]; {
		case raw == nil || string(raw) == "null":
			missing = append(missing, name)
		case name == "numero":
			if strings.IndexByte("-0123456789", raw[0]) < 0 {
				mistyped = append(mistyped, "numero (debe ser un número, sin comillas)")
			}
		case json.Unmarshal(raw, &value) != nil:
			mistyped = append(mistyped, name+" (debe ser texto, entre comillas)")
		case strings.TrimSpace(value) == "":
			missing = append(missing, name)
		default:
			text[name] = value
		}
	}
	if len(missing) > 0 {
		return bad(assume.CodeMissingFields,
			"faltan o están vacíos los campos: %s; los siete son obligatorios (docs/contract.md, 2.3)", strings.Join(missing, ", "))
	}
	if len(mistyped) > 0 {
		return bad(codeInvalidField, "campos de tipo equivocado: %s (docs/contract.md, 2.3)", strings.Join(mistyped, ", "))
	}
	for _, name := range []string{"rucEmisor", "rucSolicitante"} {
		if !isRUC(text[name]) {
			return bad(assume.CodeInvalidCPERUC, "%s no es válido: debe tener exactamente 11 dígitos numéricos (docs/contract.md, 2.3)", name)
		}
	}
	if !slices.Contains(tipos, text["tipoComprobante"]) {
		return bad(codeInvalidField, "tipoComprobante no es válido: use 01, 03, 07 u 08 (docs/contract.md, 2.3)")
	}
	numero, err := strconv.Atoi(string(object["numero"]))
	if err != nil || numero < 1 {
		return bad(codeInvalidField, "numero no es válido: debe ser un entero desde 1, sin decimales ni exponente (docs/contract.md, 2.3)")
	}
	return consultaCPE{
		comprobante: comprobanteID{text["rucEmisor"], text["tipoComprobante"], text["serie"], numero},
		usuario:     UsuarioID{text["rucSolicitante"], text["usuarioSol"]},
		clave:       text["claveSol"],
	}, answer{}, true
}
