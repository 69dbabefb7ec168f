package main

import (
	"strings"

	"github.com/fiscope/fiscope/padron"
)

// registryInSpanish translates package padron's texts about a registry's file, an index or a row.
func registryInSpanish(text string) string {
	return registryWords.Replace(strings.TrimPrefix(text, "padron: "))
}

var registryWords = strings.NewReplacer(
	padron.PhaseHash, "sumando el archivo",
	padron.PhaseEncoding, "revisando si es UTF-8",
	padron.PhaseRead, "leyendo",
	padron.PhaseOrder, "ordenando nombres",
	padron.PhaseWords, "ordenando palabras",
	padron.PhaseInner, "ordenando lugares",

	"a later row has the same RUC", "otra fila posterior tiene el mismo RUC",
	" has no name", " no tiene nombre",
	" taxpayers, and the index that it would replace has ", " contribuyentes, y el índice que reemplazaría tiene ",
	"download it again, or allow it by AllowSmaller", "descárguelo de nuevo, o admítalo con -allow-smaller",
	"a line of more than ", "una línea de más de ",
	"more than ", "más de ",
	"a RUC of ", "un RUC de ", " characters that is not 11 digits", " caracteres que no es de 11 dígitos",
	" of 15 fields", " de 15 campos", " fields", " campos",

	"it is a web page, and not the registry", "es una página web y no el padrón",
	"it is empty", "está vacío", ": empty", ": está vacío",
	"its first line is not the header of the registry", "su primera línea no es el encabezado del padrón",
	"its first line is a row: the beginning of the registry, with its header, is missing: give the file as it is downloaded",
	"falta el comienzo del padrón, con su encabezado: dé el archivo como se descarga",
	": column ", ": la columna ", ` is "`, ` es "`, `, and not "`, `, y no "`,
	"give SUNAT's padron_reducido_ruc.zip, or its text", "dé el padron_reducido_ruc.zip de la SUNAT, o su texto",
	"it has a header, and no row", "tiene encabezado y ninguna fila",
	"its zip is cut or damaged", "su zip está cortado o dañado", "its zip is damaged", "su zip está dañado",
	"its zip holds no file", "su zip no tiene ningún archivo", "its zip holds an empty file", "su zip tiene un archivo vacío",
	"its zip ends after ", "su zip termina tras ", " of the text's ", " de los ",
	"the download went wrong", "fue una mala descarga", "try again", "descárguelo de nuevo", "zip: checksum error", "la suma no coincide",
	"it is not a file: give the registry's zip, or its text", "no es un archivo: dé el zip del padrón, o su texto",
	"it is there and no file: name another one", "ya está y no es un archivo: dé otro nombre",
	"it is the registry's file: name another one for the index", "es el archivo del padrón: dé otro nombre para el índice",
	"not an index of the registry", "no es un índice del padrón",
	"damaged: import the registry again", "está dañado: vuelva a importar el padrón", "import the registry again", "vuelva a importar el padrón",
	" bytes, and its header says ", " bytes, y su encabezado dice ", "it is cut or damaged", "está cortado o dañado",
	"cut after ", "está cortado tras ",
	"no such file or directory", "no existe",
)
