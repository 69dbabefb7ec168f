package gateway

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/scrub"
)

// call is a request under way.
type call struct {
	Call
	gateway *Gateway
	w       http.ResponseWriter
	r       *http.Request
	opts    []fiscope.CallOption
	resp    fiscope.Response
}

// answer checks the key before anything else, and then answers the operation of the path.
func (c *call) answer() (any, error) {
	by := c.gateway.admit(c.r)
	if by == nil {
		return nil, refusal{http.StatusUnauthorized, "UNAUTHORIZED", "Falta la clave de API en el encabezado X-API-KEY, o no es válida."}
	}
	c.App, c.opts = by.name, append([]fiscope.CallOption{fiscope.WithResponse(&c.resp)}, by.opts...)
	var do func() (any, error)
	path, method := c.r.URL.Path, http.MethodGet
	ruc, lookup := strings.CutPrefix(path, "/api/contribuyentes/")
	switch {
	case ruc == "search":
		c.Op, do = "buscar", c.buscar
	case lookup && ruc != "" && !strings.Contains(ruc, "/"):
		c.Op, do = "consultar", func() (any, error) { return c.consultar(ruc) }
	case path == "/api/tipocambio":
		c.Op, do = "tipocambio", c.tipoCambio
	case path == "/api/cpe/validar":
		c.Op, do, method = "validar", c.validar, http.MethodPost
	case path != "/healthz": // a GET of it is answered already
		return nil, refusal{http.StatusNotFound, "UNKNOWN_PATH", "Esa ruta no existe: vea las cuatro del contrato."}
	}
	if do == nil || c.r.Method != method {
		c.w.Header().Set("Allow", method)
		return nil, refusal{http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", "Esa ruta solo admite " + method + "."}
	}
	if c.gateway.client == nil && (c.Op == "tipocambio" || c.Op == "validar") {
		return nil, refusal{http.StatusServiceUnavailable, "NO_PROVIDER", "Este sistema no tiene un proveedor de consultas: solo responde por los contribuyentes del padrón."}
	}
	return do()
}

// abridged returns what a log shows of a RUC; "" for another text, which may be anything.
func abridged(ruc string) string {
	if len(ruc) != 11 || !scrub.Digits(ruc) {
		return ""
	}
	return scrub.AbridgeRUC(ruc)
}

func (c *call) consultar(ruc string) (any, error) {
	c.RUC = abridged(ruc)
	switch client := c.gateway.client; {
	case client != nil:
		return client.Contribuyentes.Consultar(c.r.Context(), ruc, c.opts...)
	case c.RUC == "":
		return nil, &fiscope.Error{Err: fiscope.ErrInvalidRequest, Field: "ruc"}
	}
	return c.fromRegistry(ruc)
}

// fromRegistry looks a taxpayer up in the registry.
func (c *call) fromRegistry(ruc string) (*fiscope.Contribuyente, error) {
	taxpayer, fecha, err := c.gateway.registro.Contribuyente(c.r.Context(), ruc)
	if c.resp.Source = fiscope.SourceRespaldo; !fecha.IsZero() {
		c.resp.AsOf = fecha.En(fiscope.Lima)
	}
	return taxpayer, err
}

func (c *call) buscar() (any, error) {
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	text, limit := strings.TrimSpace(query.Get("razonSocial")), uint64(10)
	if err != nil || len(query["razonSocial"]) > 1 || !utf8.ValidString(text) {
		return nil, refusal{http.StatusBadRequest, "INVALID_FIELD", "razonSocial no se puede leer: va una sola vez, en UTF-8, y con %26 en lugar de &."}
	}
	if query.Has("limit") {
		limit, err = strconv.ParseUint(query.Get("limit"), 10, 8)
	}
	switch client := c.gateway.client; {
	case utf8.RuneCountInString(text) < 3:
		return nil, fiscope.ErrSearchTooShort
	case err != nil || len(query["limit"]) > 1 || limit < 1 || limit > 50:
		return nil, &fiscope.Error{Err: fiscope.ErrInvalidRequest, Field: "limit"}
	case client != nil:
		return client.Contribuyentes.Buscar(c.r.Context(), fiscope.Busqueda{RazonSocial: text, Limite: int(limit)}, c.opts...)
	}
	rows, err := c.gateway.registro.Buscar(c.r.Context(), text, int(limit))
	list := []fiscope.ContribuyenteResumen{} // not null if nothing matches
	for _, t := range rows {
		list = append(list, fiscope.ContribuyenteResumen{RUC: t.RUC, RazonSocial: t.RazonSocial, Estado: t.Estado, Condicion: t.Condicion})
	}
	c.resp.Source = fiscope.SourceRespaldo
	if err == nil && len(rows) > 0 {
		_, err = c.fromRegistry(rows[0].RUC) // for its date
	}
	return list, err
}

func (c *call) tipoCambio() (any, error) {
	client, ctx := c.gateway.client, c.r.Context()
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	fecha, tc := fiscope.Fecha{}, (*fiscope.TipoCambio)(nil) // the zero fecha is today's
	switch {
	case err != nil || len(query["fecha"]) > 1:
		return nil, &fiscope.Error{Err: fiscope.ErrInvalidRequest, Field: "fecha"}
	case !query.Has("fecha"):
		tc, err = client.TipoCambio.Hoy(ctx, c.opts...)
	default:
		if fecha, err = fiscope.ParseFecha(query.Get("fecha")); err == nil {
			tc, err = client.TipoCambio.Consultar(ctx, fecha, c.opts...)
		}
	}
	if e := (*fiscope.Error)(nil); errors.Is(err, fiscope.ErrNotFound) && errors.As(err, &e) {
		now, noDate := http.ParseTime(c.resp.Header.Get("Date")) // the service's clock decides
		if noDate != nil {
			now = client.Ahora()
		}
		if fecha.IsZero() {
			fecha = fiscope.FechaEnLima(now)
		}
		if wait := fecha.Publicacion().Sub(now); fecha.DiaHabil() && wait > -10*24*time.Hour { // it may still come
			e.RetryAfter = cmp.Or(max(0, wait), 15*time.Minute)
		}
	}
	return tc, err
}

// fields are those of a validation, all required (docs/contract.md, 2.3). The last three are the credentials.
var fields = [...]string{"rucEmisor", "tipoComprobante", "serie", "numero", "rucSolicitante", "usuarioSol", "claveSol"}

func (c *call) validar() (any, error) {
	members, err := c.readObject()
	if err != nil {
		return nil, err
	}
	texts, numero := map[string]string{}, 0
	var absent, mistyped []string
	for _, name := range fields {
		var text string
		switch raw := members[name]; {
		case raw == nil || string(raw) == "null":
			absent = append(absent, name)
		case name == "numero":
			if json.Unmarshal(raw, &numero) != nil {
				mistyped = append(mistyped, name)
			}
		case json.Unmarshal(raw, &text) != nil:
			mistyped = append(mistyped, name)
		case strings.TrimSpace(text) == "":
			absent = append(absent, name)
		default:
			texts[name] = text
		}
	}
	sol := fields[4:]
	own := len(absent) >= len(sol) && absent[len(absent)-len(sol)] == sol[0] // no credentials: the client's are used
	if own {
		absent = absent[:len(absent)-len(sol)]
	}
	switch {
	case len(absent) > 0:
		return nil, missing(absent)
	case len(mistyped) > 0:
		return nil, refusal{http.StatusBadRequest, "INVALID_FIELD", "No son del tipo que pide el contrato: " + strings.Join(mistyped, ", ") + "."}
	}
	c.RUC = abridged(texts["rucEmisor"])
	comprobante := fiscope.Comprobante{RUCEmisor: texts["rucEmisor"], Tipo: fiscope.TipoComprobante(texts["tipoComprobante"]), Serie: texts["serie"], Numero: numero}
	var credenciales fiscope.CredencialesSOL
	if !own {
		credenciales = fiscope.CredencialesSOL{RUC: texts["rucSolicitante"], Usuario: texts["usuarioSol"], Clave: fiscope.NewSecreto(texts["claveSol"])}
	}
	v, err := c.gateway.client.CPE.Validar(c.r.Context(), comprobante, credenciales, c.opts...)
	if e := (*fiscope.Error)(nil); own && errors.As(err, &e) && e.StatusCode == 0 && e.Field == sol[0] { // nor has the client any
		return nil, missing(sol)
	}
	return v, err
}

func missing(names []string) refusal {
	return refusal{http.StatusBadRequest, "MISSING_FIELDS", "Faltan campos, o están vacíos: " + strings.Join(names, ", ") + "."}
}

// readObject reads the body. It refuses any encoding but UTF-8, which would change the clave.
func (c *call) readObject() (members map[string]json.RawMessage, err error) {
	if media, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, refusal{http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "El Content-Type debe ser application/json."}
	}
	raw, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, 64<<10))
	if errors.As(err, new(*http.MaxBytesError)) {
		return nil, refusal{http.StatusRequestEntityTooLarge, "BODY_TOO_LARGE", "El cuerpo es muy grande: envíe solo los siete campos."}
	}
	if err != nil || !utf8.Valid(raw) || json.Unmarshal(raw, &members) != nil || members == nil {
		return nil, refusal{http.StatusBadRequest, "INVALID_JSON", "El cuerpo no es un objeto JSON completo, en UTF-8."}
	}
	return members, nil
}
