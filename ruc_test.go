package fiscope_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// validRUCs are public bodies and large companies, and synthetic ones.
var validRUCs = []string{
	"20131312955", "20100070970", "20100017491", "20516020301", "20100113610", "20100053455", "20331898008",
	"20330791412", "20419387658", "20382036655", "20256136865", "20512333797", "20000000001", "20100047218",
	"10000000006", "15123456782", "16123456789", "17123456785", "20600000005", "20100000050", "20100000131",
	"20123456786",
}

func TestValidarRUCAccepts(t *testing.T) {
	for _, ruc := range validRUCs {
		t.Run(ruc, func(t *testing.T) { assert.NoError(t, fiscope.ValidarRUC(ruc)) })
	}
}

func TestValidarRUCRefuses(t *testing.T) {
	const checkDigit = "does not match its check digit"
	for name, test := range map[string]struct{ ruc, says string }{
		"9 where 6 stands":        {"20123456789", "ruc 20…789 " + checkDigit},
		"all ones":                {"20111111111", "ruc 20…111 " + checkDigit},
		"counted down":            {"20987654321", "ruc 20…321 " + checkDigit},
		"counted up":              {"12345678901", "ruc 12…901 " + checkDigit},
		"5 where 10 is written 0": {"20100070975", checkDigit}, // the other mapping that is seen
		"6 where 11 is written 1": {"20516020306", checkDigit},
		"zeros":                   {"00000000000", checkDigit},
		"prefix 00":               {"00000000001", "ruc 00…001 must begin with 10, 15, 16, 17 or 20"},
		"prefix 11":               {"11000000002", "ruc 11…002 must begin with"},
		"prefix 18":               {"18000000007", "must begin with"},
		"prefix 21":               {"21000000008", "must begin with"},
		"ten digits":              {"2013131295", "ruc must be exactly 11 digits: it has 10"},
		"twelve digits":           {"201313129555", "it has 12"},
		"empty":                   {"", "it has 0"},
		"a blank after it":        {"20131312955 ", "character 12 is ' '"},
		"other digits":            {"２０１３１３１２９５５", "character 1 is"},
	} {
		t.Run(name, func(t *testing.T) {
			err := fiscope.ValidarRUC(test.ruc)
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			assert.ErrorContains(t, err, "fiscope: invalid request: ruc ")
			assert.ErrorContains(t, err, test.says)
			if test.ruc != "" {
				assert.NotContains(t, err.Error(), test.ruc)
			}
			assert.NotContains(t, err.Error(), "sent", "there was nothing to send")
		})
	}
}

func TestClaseDeRUC(t *testing.T) {
	for name, test := range map[string]struct {
		ruc  string
		want fiscope.ClaseRUC
	}{
		"natural person":          {"10000000006", fiscope.ClasePersonaNatural},
		"15":                      {"15123456782", "15"},
		"16":                      {"16123456789", "16"},
		"17":                      {"17123456785", "17"},
		"legal entity":            {rucSUNAT, fiscope.ClasePersonaJuridica},
		"with a wrong last digit": {"20131312950", fiscope.ClasePersonaJuridica},
		"another prefix":          {"00000000001", "00"},
		"ten digits":              {"2013131295", ""},
		"letters":                 {"20ABCDEFGHI", ""},
		"nothing":                 {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, fiscope.ClaseDeRUC(test.ruc))
		})
	}
}

func TestDNIDeRUC(t *testing.T) {
	for name, test := range map[string]struct {
		ruc, dni string
		ok       bool
	}{
		"natural person":      {"10000000006", "00000000", true},
		"with leading zeros":  {"10000000014", "00000001", true},
		"mistyped":            {"10000000007", "", false},
		"legal entity":        {rucSUNAT, "", false},
		"15":                  {"15123456782", "", false},
		"ten digits":          {"1000000000", "", false},
		"a blank in its body": {"10 00000006", "", false},
		"nothing":             {"", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			dni, ok := fiscope.DNIDeRUC(test.ruc)
			assert.Equal(t, test.ok, ok)
			assert.Equal(t, test.dni, dni)
		})
	}
}

func TestRUCDeDNI(t *testing.T) {
	for name, test := range map[string]struct {
		dni, ruc string
		ok       bool
	}{
		"zeros":             {"00000000", "10000000006", true},
		"with leading ones": {"00000001", "10000000014", true},
		"another":           {"12345678", "10123456781", true},
		"a digit of 10":     {"00000005", "10000000057", true},
		"seven digits":      {"1234567", "", false},
		"nine digits":       {"123456789", "", false},
		"a letter":          {"1234567A", "", false},
		"a sign":            {"+1234567", "", false},
		"blanks around it":  {" 12345678", "", false},
		"a blank in it":     {"1234 678", "", false},
		"other digits":      {"１２３４", "", false},
		"nothing":           {"", "", false},
		"a RUC":             {"10000000006", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			ruc, ok := fiscope.RUCDeDNI(test.dni)
			assert.Equal(t, test.ok, ok)
			assert.Equal(t, test.ruc, ruc)
		})
	}
	for n := 0; n < 100_000_000; n += 99_991 { // a prime: every digit occurs at every place
		dni := fmt.Sprintf("%08d", n)
		ruc, ok := fiscope.RUCDeDNI(dni)
		require.True(t, ok)
		require.NoError(t, fiscope.ValidarRUC(ruc))
		back, ok := fiscope.DNIDeRUC(ruc)
		require.True(t, ok)
		require.Equal(t, dni, back)
	}
}

func TestWithStrictRUC(t *testing.T) {
	const (
		wrongDigit  = "20123456789"
		wrongPrefix = "00000000001"
	)
	consultar := func(ruc string) func(*testing.T, *fiscope.Client) error {
		return func(t *testing.T, c *fiscope.Client) error {
			_, err := c.Contribuyentes.Consultar(t.Context(), ruc)
			return err
		}
	}
	validar := func(emisor, solicitante string) func(*testing.T, *fiscope.Client) error {
		return func(t *testing.T, c *fiscope.Client) error {
			comprobante, credenciales := factura, credenciales
			comprobante.RUCEmisor, credenciales.RUC = emisor, solicitante
			_, err := c.CPE.Validar(t.Context(), comprobante, credenciales)
			return err
		}
	}
	for name, test := range map[string]struct {
		ask    func(*testing.T, *fiscope.Client) error
		answer string
		says   string // "" where it is sent
	}{
		"Consultar":                    {consultar(rucSUNAT), "consultar_200.json", ""},
		"Consultar, check digit":       {consultar(wrongDigit), "consultar_200.json", "ruc 20…789 does not match its check digit"},
		"Consultar, prefix":            {consultar(wrongPrefix), "consultar_200.json", "ruc 00…001 must begin with"},
		"Consultar, ten digits":        {consultar("2013131295"), "consultar_200.json", "ruc must be exactly 11 digits"},
		"Validar":                      {validar(rucEmisor, rucSUNAT), "validar_200_aceptado.json", ""},
		"Validar, issuer's digit":      {validar(wrongDigit, rucSUNAT), "validar_200_aceptado.json", "rucEmisor 20…789 does not match its check digit"},
		"Validar, issuer's prefix":     {validar(wrongPrefix, rucSUNAT), "validar_200_aceptado.json", "rucEmisor 00…001 must begin with"},
		"Validar, caller's digit":      {validar(rucEmisor, wrongDigit), "validar_200_aceptado.json", "rucSolicitante 20…789 does not match its check digit"},
		"Validar, caller's prefix":     {validar(rucEmisor, wrongPrefix), "validar_200_aceptado.json", "rucSolicitante 00…001 must begin with"},
		"Validar, issuer's ten digits": {validar("2010007097", rucSUNAT), "validar_200_aceptado.json", "rucEmisor must be exactly 11 digits"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{answers: []handler{raw(200, contract(t, test.answer))}}
			err := test.ask(t, newClient(t, s, fiscope.WithStrictRUC()))
			if test.says == "" {
				require.NoError(t, err)
				assert.Len(t, s.seen(), 1)
				return
			}
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			assert.ErrorContains(t, err, test.says)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
			assert.Empty(t, s.seen(), "nothing may be sent")
		})
	}
}

func TestWhatAClerkReadsOfARUC(t *testing.T) {
	for text, says := range map[string]string{
		"2013131295":   "El RUC no es válido: tiene 10 dígitos y son 11.",
		"201313129555": "El RUC no es válido: tiene 12 dígitos y son 11.",
		"20131312956":  "El RUC no es válido, un dígito no corresponde: revíselo.",
		"":             "El RUC no es válido: son 11 dígitos, y el último verifica a los demás.",
		"2013131295O":  "El RUC no es válido: son 11 dígitos, y el último verifica a los demás.",
	} {
		assert.Equal(t, says, fiscope.TextoParaUsuario(fiscope.ValidarRUC(text)), text)
	}
	client, _ := answers(t, raw(200, verdict))
	emisor, otros := factura, credenciales
	emisor.RUCEmisor, otros.RUC = "2010007097", "2013131295"
	assert.Equal(t, "El RUC del emisor no es válido: tiene 10 dígitos y son 11.", fiscope.TextoParaUsuario(second(client.CPE.Validar(t.Context(), emisor, credenciales))))
	assert.Equal(t, "El RUC del usuario SOL no es válido: tiene 10 dígitos y son 11.", fiscope.TextoParaUsuario(second(client.CPE.Validar(t.Context(), factura, otros))))
}

func TestParseRUC(t *testing.T) {
	for text, want := range map[string]string{
		rucSUNAT: rucSUNAT, " 20131312955\t": rucSUNAT, "20-13131295-5": rucSUNAT, "20.131.312.955": rucSUNAT, "20131312955\u00a0": rucSUNAT, "20–13131295–5": rucSUNAT,
		"20131312956": "", "2013131295": "", "": "", "20131312955 x": "", "RUC 20131312955": "", "00000000000": "",
	} {
		got, err := fiscope.ParseRUC(text)
		assert.Equal(t, want, got, text)
		assert.Equal(t, want == "", errors.Is(err, fiscope.ErrInvalidRequest), text)
	}
}
