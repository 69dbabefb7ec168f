package padrongen

import "strings"

// The vocabulary of companies; everything else is made of syllables. All lists are in Windows-1252, and frequent ones
// come first.
var (
	giros = words("INVERSIONES SERVICIOS CORPORACION GRUPO CONSTRUCTORA TRANSPORTES COMERCIAL NEGOCIACIONES GENERALES " +
		"DE Y CONSULTORIA INGENIERIA CONTRATISTAS DISTRIBUIDORA IMPORTACIONES EXPORTACIONES REPRESENTACIONES LA EL DEL LOS " +
		"MULTISERVICIOS ASOCIACION COOPERATIVA AGROPECUARIA AGRICOLA MINERA PESQUERA TEXTIL INDUSTRIAS LOGISTICA TURISMO " +
		"HOTEL RESTAURANT POLLERIA BOTICA FARMACIA CLINICA CENTRO COLEGIO INSTITUTO ACADEMIA SEGURIDAD TECNOLOGIA SISTEMAS " +
		"SOLUCIONES INMOBILIARIA ARQUITECTOS FERRETERIA MADERERA METALMECANICA COMBUSTIBLES GRIFO ESTACION REPUESTOS " +
		"AUTOMOTRIZ PANADERIA BODEGA MARKET MINIMARKET ALMACENES IMPRENTA EDITORIAL PUBLICIDAD EVENTOS PRODUCCIONES " +
		"CONFECCIONES MODA CALZADO JOYERIA PERU ANDINA PACIFICO NORTE SUR ORIENTE AMAZONICA INTERNACIONAL GLOBAL SOL LUNA " +
		"ESTRELLA SEÑOR MILAGROS VIRGEN DIVINO NIÑO COMPAÑIA PIÑATA DISEÑO DISEÑOS CAFÉ PANADERÍA CONSTRUCCIÓN E HIJOS " +
		"HERMANOS ASOCIADOS UNIDOS COMUNIDAD CAMPESINA COMITE JUNTA PROPIETARIOS EDIFICIO VIVIENDA 'O S/A")
	formas = words("S.A.C. E.I.R.L. S.R.L. S.A. S.A.C E.I.R.L SAC EIRL SOCIEDAD_ANONIMA_CERRADA S.A.A. S.CIVIL.R.L. -_EN_LIQUIDACION " +
		"EMPRESA_INDIVIDUAL_DE_RESPONSABILIDAD_LIMITADA SOCIEDAD_ANONIMA_CERRADA_-_S.A.C. SOCIEDAD_COMERCIAL_DE_RESPONSABILIDAD_LIMITADA")

	onsets = words(strings.Repeat("B C CH D F G H J K L LL M N P QU R S T V W Y Z BR CR TR PR CL PL ", 4) + "Ñ")
	vowels = words("A E I O U A E IA")
	codas  = []string{"", "", "", "", "N", "S", "R", "L"}
)

// words returns the words of a text in Windows-1252, replacing underscores with blanks.
func words(text string) []string {
	list := strings.Fields(string(windows1252(text)))
	for i, word := range list {
		list[i] = strings.ReplaceAll(word, "_", " ")
	}
	return list
}

// windows1252 encodes a text of characters below 0x100, which the letters of Spanish are.
func windows1252(text string) (encoded []byte) {
	for _, r := range text {
		encoded = append(encoded, byte(r)) //nolint:gosec // see above
	}
	return encoded
}

// How many frequent surnames and given names there are.
const (
	apellidos = 180
	nombres   = 160
)

// persona writes surnames and given names.
func (g *generator) persona() {
	g.palabra(0, apellidos, .18)
	g.text = append(g.text, ' ')
	g.palabra(0, apellidos, .18)
	g.text = append(g.text, ' ')
	g.palabra(apellidos, nombres, .08)
	if g.Float64() < .7 {
		g.text = append(g.text, ' ')
		g.palabra(apellidos, nombres, .08)
	}
}

// empresa writes the name of a company.
func (g *generator) empresa() {
	for i := range 1 + g.IntN(4) {
		if i > 0 {
			g.text = append(g.text, ' ')
			switch g.IntN(100) {
			case 0, 1, 2:
				g.text = append(g.text, "& "...)
			case 3:
				g.text = append(g.text, ' ') // two blanks
			}
		}
		switch v := g.IntN(1000); {
		case v < 450:
			g.text = append(g.text, pick(g, giros)...)
		case v < 580:
			g.palabra(0, apellidos, .1)
		case v < 640:
			g.palabra(apellidos, nombres, .1)
		case v < 660:
			g.number(3000)
		case v < 670:
			g.quoted(`"`, `"`)
		case v < 675:
			g.quoted("\x93", "\x94") // “ ”
		case v < 677:
			g.quoted(`"`, "") // never closed
		case v < 678:
			g.palabraRara()
			g.text = append(g.text, 0x80|byte(g.Uint32()&0x1F)) // €, ™ and undefined bytes
		default:
			g.palabraRara()
		}
	}
	g.text = append(g.text, ' ')
	g.text = append(g.text, pick(g, formas)...)
}

func (g *generator) quoted(open, end string) {
	g.text = append(g.text, open...)
	g.palabraRara()
	g.text = append(g.text, end...)
}

// palabra writes one of count frequent words, numbered from first, or with probability rare a rare word.
func (g *generator) palabra(first uint64, count, rare float64) {
	if g.Float64() < rare {
		g.palabraRara()
		return
	}
	u := g.Float64()
	g.silabas(first + uint64(u*u*count))
}

// palabraRara writes a word of a vocabulary of millions, most of them used once.
func (g *generator) palabraRara() {
	u := g.Float64()
	g.silabas(uint64(u * u * u * u * 6e6))
}

// silabas writes the word with a number: two or three syllables.
func (g *generator) silabas(number uint64) {
	h := (number + 1) * 0x9E3779B97F4A7C15
	for n := 2 + h>>63; n > 0; n-- {
		g.text = append(g.text, onsets[h%uint64(len(onsets))]...)
		h /= uint64(len(onsets))
		g.text = append(g.text, vowels[h%8]...)
		h >>= 3
	}
	g.text = append(g.text, codas[h%8]...)
}
