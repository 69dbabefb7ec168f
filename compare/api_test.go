package compare

import (
	"os"
	"path/filepath"
)

// api is a service by the bodies of its answers.
type api struct {
	id     string // of the object that is looked up
	object object // what a lookup of it is to find

	found   string // the object
	other   string // another one
	bare    string // one that has the id and nothing else
	twofold string // one that has the id, and another id after it
	sent    string // the answer to client.send
	missing string // there is no such object: status 404
	refused string // a credential is wrong: status 401
	failed  string // status 500
}

// sample is a file of testdata.
func sample(name string) string {
	text, err := os.ReadFile(filepath.Join("..", "testdata", name))
	if err != nil {
		panic(err)
	}
	return string(text)
}

var fiscopeAPI = api{
	id:      "20131312955",
	object:  object{"20131312955", "SUPERINTENDENCIA NACIONAL DE ADUANAS Y DE ADMINISTRACION TRIBUTARIA - SUNAT", "ACTIVO"},
	found:   sample("consultar_200.json"),
	other:   `{"ruc":"20100070970","razonSocial":"SUPERMERCADOS PERUANOS SOCIEDAD ANONIMA","estado":"ACTIVO","condicion":"HABIDO"}`,
	bare:    `{"ruc":"20131312955"}`,
	twofold: `{"ruc":"20131312955","razonSocial":"SUNAT","estado":"ACTIVO","condicion":"HABIDO","ruc":"20100070970"}`,
	sent:    sample("validar_200_aceptado.json"),
	missing: sample("consultar_404.json"),
	refused: sample("validar_401.json"),
	failed:  sample("validar_500.json"),
}

// githubAPI is a stub of GitHub's, with a user about as long as a taxpayer.
var githubAPI = api{
	id:     "muestra",
	object: object{"muestra", "Empresa de Muestra S.A.C.", "Organization"},
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
	failed:  `{"message":"Server Error"}`,
}

// hcloudAPI is a stub of Hetzner's, with a location about as long as a taxpayer.
var hcloudAPI = api{
	id:     "7",
	object: object{"lim1", "Lima", "pe-central"},
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
	failed:  `{"error":{"code":"server_error","message":"internal server error","details":null}}`,
}
