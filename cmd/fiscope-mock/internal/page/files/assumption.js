// What each open point of the contract is about, in Spanish, and the reason of its default, which the server has in
// English. In English a name says it by itself.
import { language, readTexts } from './text.js'

const spanish = readTexts(`
MissingKey|respuesta a una llamada sin X-API-KEY|es el estado de HTTP
InvalidKey|respuesta a una clave desconocida|como MissingKey; el texto del error los distingue
QuotaExceeded|respuesta con la cuota agotada|es el estado de HTTP
KeyBody|forma del error de la clave|la de todos los errores
QuotaBody|forma del error de la cuota|la de todos los errores
Quota|consultas por día|alcanza para pruebas, y se puede agotar
ResetZone|zona en cuya medianoche se repone la cuota|una cuota “diaria” de un servicio peruano: 05:00 UTC
ResetRolling|la cuota se repone a las 24 horas de la primera llamada|una cuota “diaria” es de un día, no de 24 horas
ResetForm|cómo se escribe X-RateLimit-Reset|la más corta que lee todo lector de ISO 8601
QuotaRetryAfter|Retry-After con la cuota agotada|el contrato nombra tres encabezados, y no este
ChargeFailures|las llamadas que fallan también cuestan|“cada llamada ... consume 1 consulta”
ChargeInvalid|las peticiones inválidas (400) cuestan|como ChargeFailures
ChargeSOLRefused|las credenciales SOL rechazadas (401, 403) cuestan|como ChargeFailures
ChargeNotFound|lo que no existe (404) cuesta|como ChargeFailures
ChargeUnavailable|un servicio que falla (5xx) cuesta|como ChargeFailures
HeadersEverywhere|todas las operaciones llevan los encabezados de cuota|documentados solo para la consulta
HeadersOnErrors|los errores también los llevan|“la respuesta lleva”, con cualquier estado
CodeInvalidRUC|code del 400 por RUC, en la consulta|dice lo que es
CodeInvalidLimit|code del 400 por limit|dice lo que es
CodeMissingFields|code del 400 por campos que faltan|dice lo que es
CodeInvalidCPERUC|code del 400 por RUC, en la validación|el mismo error que en la consulta
CodeInvalidField|code del 400 por un campo inválido|no tiene fila: tipo equivocado, tipoComprobante o numero
CodeInvalidDate|code del 400 por fecha|dice lo que es
CodeSUNATUnavailable|code del 500 cuando SUNAT no responde|dice lo que es
Unknown|cómo se escribe un campo sin valor|una ficha se sirve como se puso
CountBlanks|los espacios alrededor cuentan como letras|los espacios no son texto que buscar
SearchByWords|la búsqueda halla también palabras sueltas|el texto “en cualquier parte del nombre”, no sus palabras
Estados|ortografía del estado del contribuyente|la tabla, con significados; la otra lista no tiene
PrincipalSOL|respuesta a un usuario SOL principal|nunca es válido: credenciales incorrectas
BlockedSOL|respuesta a un usuario SOL bloqueado|no se ayuda a quien adivina
UnknownSOL|respuesta a un usuario SOL que no existe|“usuario o clave incorrectos”
BlockAfter|intentos errados seguidos que bloquean; 0 es nunca|estricto, para pruebas: no se publica
BlockFor|cuánto dura el bloqueo|inventado también; rechaza también la clave correcta
PublicationDelay|cuánto después de las 17:00 aparece el tipo de cambio|“normalmente” 17:00, la única hora que da
ImpossibleDateNotFound|una fecha imposible es 404 en vez de 400|un día que ningún calendario tiene no es una fecha
`)

export const assumptionText = (name, reason) => (language === 'es' && spanish.get(name)) || ['', reason]
