// What each open point of the contract is about, in the page's language.
import { language, readTexts } from './text.js'

// In Spanish, in English, and the Spanish of the reason that GET assumptions gives in English.
const texts = readTexts(`
MissingKey|respuesta a una llamada sin X-API-KEY|the answer to a call without X-API-KEY|es el estado de HTTP
InvalidKey|respuesta a una clave desconocida|the answer to an unknown key|como MissingKey; el texto del error los distingue
QuotaExceeded|respuesta con la cuota agotada|the answer when the quota is spent|es el estado de HTTP
KeyBody|forma del error de la clave|the form of the key’s error|la de todos los errores
QuotaBody|forma del error de la cuota|the form of the quota’s error|la de todos los errores
Quota|consultas por día|queries a day|alcanza para pruebas, y se puede agotar
ResetZone|zona en cuya medianoche se repone la cuota|the zone at whose midnight the quota begins anew|una cuota “diaria” de un servicio peruano: 05:00 UTC
ResetRolling|la cuota se repone a las 24 horas de la primera llamada|the quota begins anew 24 hours after the first call|una cuota “diaria” es de un día, no de 24 horas
ResetForm|cómo se escribe X-RateLimit-Reset|how X-RateLimit-Reset is written|la más corta que lee todo lector de ISO 8601
QuotaRetryAfter|Retry-After con la cuota agotada|Retry-After when the quota is spent|el contrato nombra tres encabezados, y no este
ChargeFailures|las llamadas que fallan también cuestan|failed calls cost a query too|“cada llamada ... consume 1 consulta”
ChargeInvalid|las peticiones inválidas (400) cuestan|invalid requests (400) cost a query|como ChargeFailures
ChargeSOLRefused|las credenciales SOL rechazadas (401, 403) cuestan|refused SOL credentials (401, 403) cost a query|como ChargeFailures
ChargeNotFound|lo que no existe (404) cuesta|what there is not (404) costs a query|como ChargeFailures
ChargeUnavailable|un servicio que falla (5xx) cuesta|a service that fails (5xx) costs a query|como ChargeFailures
HeadersEverywhere|todas las operaciones llevan los encabezados de cuota|all four operations carry the quota headers|documentados solo para la consulta
HeadersOnErrors|los errores también los llevan|errors carry them too|“la respuesta lleva”, con cualquier estado
CodeInvalidRUC|code del 400 por RUC, en la consulta|the code of a lookup’s 400|dice lo que es
CodeInvalidLimit|code del 400 por limit|the code of the 400 for limit|dice lo que es
CodeMissingFields|code del 400 por campos que faltan|the code of the 400 for missing fields|dice lo que es
CodeInvalidCPERUC|code del 400 por RUC, en la validación|the code of the 400 for a validation’s RUC|el mismo error que en la consulta
CodeInvalidField|code del 400 por un campo inválido|the code of the 400 for an invalid field|no tiene fila: tipo equivocado, tipoComprobante o numero
CodeInvalidDate|code del 400 por fecha|the code of the 400 for fecha|dice lo que es
CodeSUNATUnavailable|code del 500 cuando SUNAT no responde|the code of the 500 when SUNAT does not respond|dice lo que es
Unknown|cómo se escribe un campo sin valor|how a field without a value is written|una ficha se sirve como se puso
CountBlanks|los espacios alrededor cuentan como letras|blanks around the searched text count|los espacios no son texto que buscar
SearchByWords|la búsqueda halla también palabras sueltas|a search finds separate words too|el texto “en cualquier parte del nombre”, no sus palabras
Estados|ortografía del estado del contribuyente|the spelling of a taxpayer’s estado|la tabla, con significados; la otra lista no tiene
PrincipalSOL|respuesta a un usuario SOL principal|the answer to a principal SOL user|nunca es válido: credenciales incorrectas
BlockedSOL|respuesta a un usuario SOL bloqueado|the answer to a blocked SOL user|no se ayuda a quien adivina
UnknownSOL|respuesta a un usuario SOL que no existe|the answer to an unknown SOL user|“usuario o clave incorrectos”
BlockAfter|intentos errados seguidos que bloquean; 0 es nunca|wrong attempts in a row that block; 0 is never|estricto, para pruebas: no se publica
BlockFor|cuánto dura el bloqueo|how long the block lasts|inventado también; rechaza también la clave correcta
PublicationDelay|cuánto después de las 17:00 aparece el tipo de cambio|how long after 17:00 the rate appears|“normalmente” 17:00, la única hora que da
ImpossibleDateNotFound|una fecha imposible es 404 en vez de 400|an impossible date is a 404 instead of a 400|un día que ningún calendario tiene no es una fecha
`)

// assumptionText is what an open point is, and the reason of its default.
export function assumptionText(name, reason) {
  const [spanish, english, why] = texts.get(name) ?? ['', '', reason]
  return language === 'es' ? { what: spanish, why } : { what: english, why: reason }
}
