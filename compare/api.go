package main

import (
	"strconv"
	"time"

	"github.com/fiscope/fiscope/compare/peers"
)

// api is a service by the bodies of its answers, byte by byte.
type api struct {
	id     string       // of the object that is looked up
	object peers.Object // what a lookup of it is to find

	found   string // the object
	other   string // another one
	bare    string // one that has the id and nothing else
	twofold string // one that has the id, and another id after it
	sent    string // the answer to Client.Send

	missing string // there is no such object: status 404
	refused string // a credential is wrong: status 401
	spent   string // the quota is: status 429
	failed  string // status 500

	quota func(limit, remaining int, reset time.Time) []string // the lines of a header
}

// fiscopeAPI is the contract: what is in testdata, where it is there.
var fiscopeAPI = api{
	id:     "20131312955",
	object: peers.Object{ID: "20131312955", Name: "SUPERINTENDENCIA NACIONAL DE ADUANAS Y DE ADMINISTRACION TRIBUTARIA - SUNAT", Status: "ACTIVO"},
	found: `{
  "ruc": "20131312955",
  "razonSocial": "SUPERINTENDENCIA NACIONAL DE ADUANAS Y DE ADMINISTRACION TRIBUTARIA - SUNAT",
  "estado": "ACTIVO",
  "condicion": "HABIDO",
  "direccion": "AV. GARCILASO DE LA VEGA NRO. 1472 LIMA - LIMA - LIMA",
  "ubigeo": "150101",
  "departamento": "LIMA",
  "provincia": "LIMA",
  "distrito": "LIMA",
  "tipo": "INSTITUCIONES PUBLICAS",
  "actividadEconomica": "ACTIVIDADES DE LA ADMINISTRACION PUBLICA EN GENERAL",
  "fechaInscripcion": "1993-05-07",
  "fechaInicioActividades": "1988-06-08"
}
`,
	other:   `{"ruc":"20100070970","razonSocial":"SUPERMERCADOS PERUANOS SOCIEDAD ANONIMA","estado":"ACTIVO","condicion":"HABIDO"}`,
	bare:    `{"ruc":"20131312955"}`,
	twofold: `{"ruc":"20131312955","razonSocial":"SUNAT","estado":"ACTIVO","condicion":"HABIDO","ruc":"20100070970"}`,
	sent: `{
  "codigo": "0",
  "mensaje": "El comprobante existe y está aceptado.",
  "estado": "Aceptado",
  "esValido": true
}
`,
	missing: `{
  "error": "No se encontró un contribuyente con ese RUC.",
  "code": "NOT_FOUND"
}
`,
	refused: `{
  "error": "El usuario o la clave SOL son incorrectos.",
  "code": "INVALID_SOL_CREDENTIALS"
}
`,
	spent:  `{"error":"Se agotó la cuota diaria.","code":"QUOTA_EXCEEDED"}`,
	failed: `{"error":"Error interno.","code":"INTERNAL_ERROR"}`,
	quota: func(limit, remaining int, reset time.Time) []string {
		return []string{
			"X-RateLimit-Limit: " + strconv.Itoa(limit), "X-RateLimit-Remaining: " + strconv.Itoa(remaining),
			"X-RateLimit-Reset: " + reset.UTC().Format(time.RFC3339),
		}
	},
}

// githubAPI is a stub of GitHub's, with a user about as long as a taxpayer.
var githubAPI = api{
	id:     "muestra",
	object: peers.Object{ID: "muestra", Name: "Empresa de Muestra S.A.C.", Status: "Organization"},
	found: `{
  "login": "muestra",
  "id": 70000001,
  "node_id": "MDEyOk11ZXN0cmE3MDAwMDAwMQ==",
  "avatar_url": "https://avatars.example/u/70000001?v=4",
  "html_url": "https://github.example/muestra",
  "type": "Organization",
  "name": "Empresa de Muestra S.A.C.",
  "company": "Empresa de Muestra S.A.C.",
  "blog": "https://muestra.example/blog",
  "location": "Lima, Lima, Lima",
  "email": "hola@muestra.example",
  "bio": "Actividades de la administracion publica en general, y otras que no existen",
  "created_at": "2013-05-07T09:30:00Z",
  "updated_at": "2025-06-08T17:45:00Z"
}
`,
	other:   `{"login":"otra","id":70000002,"type":"User","name":"Otra Empresa S.A.C."}`,
	bare:    `{"login":"muestra"}`,
	twofold: `{"login":"muestra","id":70000001,"type":"Organization","name":"Empresa de Muestra S.A.C.","login":"otra"}`,
	sent:    `{"id":1,"token":"","scopes":[],"user":{"login":"muestra"}}`,
	missing: `{"message":"Not Found","documentation_url":"https://docs.github.example/rest","status":"404"}`,
	refused: `{"message":"Bad credentials","documentation_url":"https://docs.github.example/rest","status":"401"}`,
	spent:   `{"message":"API rate limit exceeded","documentation_url":"https://docs.github.example/rest"}`,
	failed:  `{"message":"Server Error"}`,
	quota: func(limit, remaining int, reset time.Time) []string {
		return []string{
			"X-RateLimit-Limit: " + strconv.Itoa(limit), "X-RateLimit-Remaining: " + strconv.Itoa(remaining),
			"X-RateLimit-Reset: " + strconv.FormatInt(reset.Unix(), 10),
		}
	},
}

// hcloudAPI is a stub of Hetzner's, with a location about as long as a taxpayer.
var hcloudAPI = api{
	id:     "7",
	object: peers.Object{ID: "lim1", Name: "Lima", Status: "pe-central"},
	found: `{
  "location": {
    "id": 7,
    "name": "lim1",
    "description": "Lima Muestra 1: un lugar que no existe en ningun mapa, con una descripcion tan larga como un contribuyente entero, con su razon social, su direccion, su ubigeo, su departamento, su provincia, su distrito, su tipo, su actividad economica y sus dos fechas, para que se lea lo mismo",
    "country": "PE",
    "city": "Lima",
    "latitude": -12.046374,
    "longitude": -77.042793,
    "network_zone": "pe-central"
  }
}
`,
	other:   `{"location":{"id":8,"name":"aqp1","city":"Arequipa","country":"PE","network_zone":"pe-sur"}}`,
	bare:    `{"location":{"id":7,"name":"lim1"}}`,
	twofold: `{"location":{"id":7,"name":"lim1","city":"Lima","network_zone":"pe-central","name":"aqp1"}}`,
	sent:    `{"action":{"id":1,"status":"success","command":"reset_password","progress":100}}`,
	missing: `{"error":{"code":"not_found","message":"location not found","details":null}}`,
	refused: `{"error":{"code":"unauthorized","message":"unable to authenticate","details":null}}`,
	spent:   `{"error":{"code":"rate_limit_exceeded","message":"rate limit exceeded","details":null}}`,
	failed:  `{"error":{"code":"server_error","message":"internal server error","details":null}}`,
	quota: func(limit, remaining int, reset time.Time) []string {
		return []string{
			"RateLimit-Limit: " + strconv.Itoa(limit), "RateLimit-Remaining: " + strconv.Itoa(remaining),
			"RateLimit-Reset: " + strconv.FormatInt(reset.Unix(), 10),
		}
	},
}
