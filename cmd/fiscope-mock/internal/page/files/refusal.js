// Why the server refuses something, and what to do, in the page's language.
import { language, readTexts } from './text.js'

// The English of what the server says in Spanish, piece by piece.
const english = language === 'en' ? [...readTexts(String.raw`
el servidor no lo acepta|the server does not take it
corrija .+|correct it
falta el token .+|that is not this server’s token
el cuerpo no es el JSON esperado|it is not the JSON that is expected
vea l.+ en GET|see GET
envíe|send
no se acepta (\w+: \w+) se escribe como|$1 is written as
una zona horaria .+? conozca|a time zone that this system knows
ESTADO o ESTADO:CÓDIGO|STATUS or STATUS:CODE
uno de|one of
un código|a code
una duración|a duration
un número(?: entero)?|a number
un texto(?:, entre comillas)?|a text
una lista|a list
un objeto|an object
es (?=an? \w+:)|is 
se espera|expected is
(\w+) es (\d+ ".*"): dé un estado de 400 a 599|$1 is $2: give a status from 400 to 599
está vacío: dé|is empty: give
es menor que -1, que es sin límite|is less than -1, which is no limit
y (\w+) no pueden ser negativos|and $1 cannot be negative
BlockFor es 0: .+? en 0|BlockFor is 0: to block nobody, set BlockAfter to 0
la clave de API tiene un carácter .+? imprimible|the API key has a character that is not printable ASCII
la clave (?:de )?(\w+) está vacía|a $1 key or clave is empty
no tiene 11 dígitos|does not have 11 digits
tipo de cambio de|rate of
la compra (\S+) es mayor que la venta|compra $1 is greater than venta
no es un decimal positivo como (\S+), en|is not a positive decimal such as $1, in
es fin de semana o .+? cambio|is a weekend or a national holiday: it has no rate
la fecha (\S+) no es un día que exista, en la forma AAAA-MM-DD|$1 is not a day that exists, as YYYY-MM-DD
los contribuyentes y .+|the recording has them: set a fault
el reloj no se puede .+?(?=:)|the clock cannot go there
una hora desde (\S+) hasta|a time from $1 to
cuerpo:(\d+)|line $1
el texto termina antes de tiempo: .+ comilla|it ends too early
no es JSON: .+ corresponde|it is not JSON:
no existe el miembro|there is no member
los miembros son|the members are
se escribe|it is written
está dos veces: .+? vez|is there twice
es null: .+? valor|is null: give it a value
el registro (\d+) .+? que el (\d+): deje uno|items $1 and $2 of the list are the same
no es ([\d, ]+) ni|is not $1 or
\bcomo (?=\d)|such as 
no hay .+?(?=:)|it is not there any more
`)].map(([spanish, [text]]) => [RegExp(spanish, 'g'), text]) : []

export async function refusal(response) {
  try {
    const { error, hint } = await response.json()
    return english.reduce((text, [spanish, itself]) => text.replace(spanish, itself), `${error}: ${hint}`)
  } catch {
    return `HTTP ${response.status}`
  }
}
