package fiscope_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// persona is a record of a person, whose name no error may show.
const persona = `{"ruc":"10123456789","razonSocial":"QUISPE ÑAUPARI JUAN","estado":"ACTIVO","condicion":"HABIDO"}`

func utf16le(s string) string {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, utf16.Encode([]rune(s)))
	return b.String()
}

func utf32be(s string) string {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.BigEndian, []rune(s))
	return b.String()
}

func TestNoErrorShowsARecord(t *testing.T) {
	xml := `<?xml version="1.0"?><c><ruc>10123456789</ruc><razonSocial>QUISPE ÑAUPARI JUAN</razonSocial></c>`
	for name, body := range map[string]string{
		"behind a warning of PHP":       "<br />\n<b>Warning</b>:  Undefined index in <b>/srv/api.php</b> on line <b>3</b><br />\n" + persona,
		"behind a notice without tags":  "PHP Notice: Undefined index in /srv/api.php on line 3\n" + persona,
		"before a page":                 "<p>x</p>" + persona + "<html><title>Error</title></html>",
		"behind a NUL":                  "\x00" + persona,
		"behind two marks":              "\ufeff\ufeff" + persona,
		"behind a mark that is cut":     "\xef\xbb" + persona,
		"behind a blank that is none":   "\u200b" + persona,
		"in UTF-16":                     utf16le("\ufeff" + persona),
		"in UTF-16 without a mark":      utf16le(persona),
		"in UTF-32":                     utf32be(persona),
		"as JSONP":                      "callback(" + persona + ");",
		"behind what stops a script":    ")]}',\n" + persona,
		"in a list, behind a warning":   "Warning: x\n[" + persona + "]",
		"as XML":                        xml,
		"as XML of other names":         `<r><ddp_numruc>10123456789</ddp_numruc><ddp_nombre>QUISPE ÑAUPARI JUAN</ddp_nombre></r>`,
		"as attributes":                 `<c ruc="10123456789" razonSocial="x">QUISPE</c>`,
		"in a table":                    "<html><table><tr><td>Raz&oacute;n Social</td><td>QUISPE ÑAUPARI JUAN</td></tr></table></html>",
		"in a table, in Latin-1":        "<html><table><tr><td>Raz\xf3n Social</td><td>QUISPE JUAN</td></tr></table></html>",
		"in a table, in bold":           "<html><table><tr><td><b>Razón</b> <b>Social</b></td><td>QUISPE JUAN</td></tr></table></html>",
		"in a title":                    "<html><title>10123456789 - QUISPE JUAN</title></html>",
		"as a list with a title":        "<title>QUISPE</title>" + persona,
		"beside its title":              "<html><title>QUISPE JUAN</title><body>10123456789 ACTIVO HABIDO</body></html>",
		"in a table beside its title":   "<title>Ficha de QUISPE JUAN</title><table><tr><td>RUC</td><td>10123456789</td><td>ACTIVO</td></table>",
		"its RUC glued to a word":       "RUC10123456789 QUISPE JUAN ACTIVO HABIDO",
		"its RUC behind an underscore":  "ruc_10123456789;QUISPE JUAN;ACTIVO",
		"its RUC with dashes":           "10-12345678-9 QUISPE JUAN ACTIVO HABIDO",
		"its RUC with blanks":           "10 12345678 9 QUISPE JUAN ACTIVO HABIDO",
		"its RUC in wide digits":        "１０１２３４５６７８９ QUISPE JUAN",
		"words far apart":               "RAZON\n\n\n\nSOCIAL: QUISPE JUAN",
		"in letters that are composed":  "Razo\u0301n Social: QUISPE JUAN",
		"by another word":               "Denominación: QUISPE JUAN",
		"as CSV":                        "ruc;razonSocial;estado\n10123456789;QUISPE JUAN;ACTIVO",
		"as the registry's file":        "10123456789|QUISPE JUAN|ACTIVO|HABIDO",
		"as a form":                     "ruc=10123456789&razonSocial=QUISPE+JUAN",
		"as YAML":                       "ruc: 10123456789\nrazon_social: QUISPE JUAN",
		"as PHP prints it":              "Array ( [numero] => 1 [nombre] => QUISPE JUAN )",
		"as Python prints it":           "x{'ruc': 1, 'nombre': 'QUISPE JUAN'}",
		"in entities":                   "x" + strings.NewReplacer("{", "&#123;", `"`, "&quot;").Replace(persona),
		"in entities on a page":         "<pre>" + html.EscapeString(persona) + "</pre>",
		"escaped for a URL":             url.QueryEscape(persona),
		"in base64":                     base64.StdEncoding.EncodeToString([]byte(persona)),
		"in hexadecimal":                hex.EncodeToString([]byte(persona)),
		"in UTF-7":                      strings.NewReplacer("{", "+AHs-", `"`, "+ACI-", "Ñ", "+ANE-").Replace(persona),
		"in another binary":             "\x84\xa3ruc\xab10123456789\xabrazonSocial\xb3QUISPE JUAN",
		"a name alone in a binary":      "\x01\x0bQUISPE JUAN",
		"with something hidden in it":   "raz\u200bonSocial: QUISPE JUAN",
		"as JSON that is not whole":     persona[:len(persona)-20],
		"as JSON with something behind": persona + "\x00",
		"as a JSON string":              `"QUISPE JUAN"`,
	} {
		forms := []string{"QUISPE", "10123456789", "10…789", base64.StdEncoding.EncodeToString([]byte(persona))[:40], hex.EncodeToString([]byte(persona))[:40]}
		for _, status := range []int{200, 201, 203, 206, 299, 600, 999} {
			if status == 200 && body == persona {
				continue
			}
			for op, do := range operations {
				t.Run(name+" "+op+" "+http.StatusText(status), func(t *testing.T) {
					client, _ := answers(t, raw(status, body))
					err := do(t.Context(), client)
					require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
					for _, form := range forms {
						assert.NotContains(t, err.Error(), form)
					}
					assert.NotContains(t, err.Error(), utf16le("QUISPE"))
				})
			}
		}
	}
	t.Run("in the members of an error", func(t *testing.T) {
		for _, body := range []string{
			`{"error":` + persona + `}`,
			`{"error":[` + persona + `]}`,
			`{"error":{"message":"x","data":` + persona + `}}`,
			`{"error":true,"code":` + persona + `}`,
			`{"error":true,"message":` + strconv.Quote("x "+persona) + `}`,
			`{"error":` + strconv.Quote("Warning: x in /srv/api.php "+persona) + `}`,
			`{"error":"x","code":` + strconv.Quote(persona) + `}`,
		} {
			for _, status := range []int{200, 201, 401, 404, 429, 500} {
				for _, op := range []string{"consultar", "buscar", "tipocambio"} {
					client, _ := answers(t, raw(status, body))
					err := operations[op](t.Context(), client, fiscope.WithResponse(new(fiscope.Response)))
					require.Error(t, err)
					assert.NotContains(t, err.Error(), "QUISPE")
				}
			}
		}
	})
	t.Run("under the status of an error", func(t *testing.T) {
		for _, body := range []string{persona, "[" + persona + "]", "Warning: x\n" + persona, utf16le(persona), `{"razonSocial" : "QUISPE","ruc" : "10123456789"}`} {
			for _, status := range []int{400, 401, 404, 429, 500, 503} {
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(status, body)}}
				err := operations["consultar"](t.Context(), newClient(t, s, fiscope.WithRetry(noRetries())))
				require.Error(t, err)
				assert.NotContains(t, err.Error(), "QUISPE")
			}
		}
	})
}

// What gives a record away is looked for in all of a page, wherever it stands between other letters and numbers.
func TestWhatGivesARecordAwayIsFoundAnywhere(t *testing.T) {
	dates := strings.Repeat("2024-01-02, 12  34  56 -- ", 2000)
	for name, test := range map[string]struct {
		page  string
		shown bool
	}{
		"a RUC":                               {"x 20123456789 y", false},
		"... at the end":                      {dates + "x20123456789", false},
		"... after a day":                     {dates + "20123456789 y", false},
		"... with blanks":                     {dates + "x 20 123456-789ñ", false},
		"... in digits of another script":     {dates + "x ٢٠١٢٣٤٥٦٧٨٩ y", false},
		"... before a character of 4 bytes":   {dates + "x 20123456789😀", false},
		"... after one":                       {dates + "😀20123456789", false},
		"... in entities":                     {dates + "x 2012345678&#57; y", false},
		"... of an address":                   {dates + "/ruc/20123456789 y", true},
		"... and one that is not":             {"/20123456789 y,20123456789", false},
		"a longer number":                     {dates + "x 201234567890 y", true},
		"a shorter one":                       {dates + "x 2012345678, 9 y", true},
		"two blanks within":                   {"x 201234567  89 y", true},
		"a name":                              {dates + "RAZÓN SOCIAL", false},
		"... after what begins like it":       {"raz raza razo " + dates + "razon_social", false},
		"... with an accent of its own":       {"x Razo\u0301n  sociaL", false},
		"... with a letter of another case":   {"razon\u017focial", false},
		"the other word for it":               {dates + "Denominacio\u0301n", false},
		"what only begins like one":           {"raz denominaci raz\u00f3n soci", true},
		"a byte that is no text":              {"raz\xff 2012345678\xff", true},
		"a RUC before a byte that is no text": {"x 20123456789\xff", false},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, raw(200, "<title>Bienvenido</title><p>"+test.page))
			_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
			require.Error(t, err)
			if test.shown {
				assert.Contains(t, err.Error(), "Bienvenido")
			} else {
				assert.Contains(t, err.Error(), "which is not shown")
			}
		})
	}
}

// The same of an error's text, which may be a record only beyond doubt.
func TestARecordInAnErrorsTextIsFoundAnywhere(t *testing.T) {
	long := strings.Repeat(`"ruta" "razones" `, 2000)
	for name, test := range map[string]struct {
		text  string
		shown bool
	}{
		"a record":                {`{"ruc":"x","razonSocial":"y"}`, false},
		"in another order":        {`No: "RAZONSOCIAL" : "y", "Ruc" :1`, false},
		"a long s":                {"No: \"razon\u017focial\":\"y\",\"ruc\":1", false},
		"with what does not show": {"No: \"r\u200buc\":\"x\",\"razon\u00adSocial\":\"y\"", false},
		"on two lines":            {"No: \"ruc\":1,\n\"razonSocial\"\n:2", false},
		"far behind":              {"No: " + long + `"ruc":"x","razonSocial":"y"`, false},
		"far apart":               {`No: "ruc":"x",` + long + `"razonSocial":"y"`, false},
		"no name":                 {`No: "ruc":"x","razon":"y"`, true},
		"no RUC":                  {`No: "rucs":"x","razonSocial":"y"`, true},
		"no values":               {`No: "ruc","razonSocial"`, true},
		"no quotes":               {`No: ruc:1,razonSocial:2`, true},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := json.Marshal(map[string]string{"error": test.text, "code": "X"})
			require.NoError(t, err)
			client, _ := answers(t, raw(400, string(body)))
			_, err = client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
			require.Error(t, err)
			if test.shown {
				assert.Contains(t, err.Error(), "No: ")
			} else {
				assert.Contains(t, err.Error(), "which is not shown")
			}
		})
	}
}

func TestWhatIsNotJSONShowsTheCulprit(t *testing.T) {
	for name, test := range map[string]struct{ body, says string }{
		"a title":                        {"<!doctype html><html lang=\"es\"><style>p{}</style><title>Acceso\n denegado &amp; bloqueado</title><body class=\"x\">{}", "the answer is not JSON: Acceso denegado & bloqueado"},
		"a title, and a long number":     {"<html><title>Request Rejected</title>Your support ID is: 12345678901234567", "not JSON: Request Rejected"},
		"a page without a title":         {`<html><body class="x"><h1>Access denied</h1></body></html>`, "not JSON: Access denied"},
		"a page in Latin-1":              {"<h1>P\xe1gina en mantenimiento</h1>", "not JSON: Página en mantenimiento"},
		"a text":                         {"upstream connect error\r\nor disconnect", "not JSON: upstream connect error or disconnect"},
		"the address with the RUC":       {"Access to /api/contribuyentes/20131312955 is denied", "not JSON: Access to /api/contribuyentes/20…955 is denied"},
		"a warning and nothing else":     {"<br />\n<b>Warning</b>: Undefined index in <b>/srv/api.php</b> on line <b>3</b>", "not JSON: Warning : Undefined index in /srv/api.php on line 3"},
		"a text that may be of a person": {persona[1:], "the answer is not JSON: its text may be a taxpayer's record, which is not shown"},
	} {
		for op, do := range operations {
			t.Run(name+" "+op, func(t *testing.T) {
				client, _ := answers(t, raw(200, test.body))
				err := do(t.Context(), client)
				require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
				assert.ErrorContains(t, err, test.says)
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.NotEmpty(t, e.Body())
			})
		}
	}
}

// What may be shown of a page then passes the search for secrets, and a secret hides no record.
func TestAPageShowsNeitherARecordNorASecret(t *testing.T) {
	const withheld = "its text may be a taxpayer's record, which is not shown"
	for name, test := range map[string]struct{ clave, body, says string }{
		"a clave in a title":            {"clave-24", "<title>La clave clave-24 es errada</title>", "not JSON: La clave [secreto] es errada"},
		"a clave in a text":             {"clave-24", "clave%2D24 denegada", "not JSON: [secreto] denegada"},
		"a clave with a tag in it":      {"clave<24>", "<p>clave<24> errada", "not JSON: [secreto] errada"},
		"a short clave":                 {"abc", "<p>la clave es abc", "text withheld: it repeats a credential"},
		"a clave that is the RUC":       {"10123456789", "10123456789|QUISPE JUAN|ACTIVO", withheld},
		"a clave that is a name":        {"razonSocial", "razonSocial: QUISPE JUAN", withheld},
		"a clave that is a bracket":     {`clave{"`, `clave{" QUISPE JUAN`, withheld},
		"a clave that hides a tag":      {"cla<ve", `<p>cla<ve 10123456789 QUISPE JUAN>`, withheld},
		"a record and a clave":          {"clave-24", "Warning: clave-24\n" + persona, withheld},
		"a record behind a short clave": {"abc", "Warning: abc\n" + persona, withheld},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, raw(200, test.body))
			c := credenciales
			c.Clave = fiscope.NewSecreto(test.clave)
			_, err := client.CPE.Validar(t.Context(), factura, c)
			require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
			assert.ErrorContains(t, err, test.says)
			assert.NotContains(t, err.Error(), "QUISPE")
			assert.NotContains(t, err.Error(), test.clave)
		})
	}
}
