// What each open point of the contract is about, and why its default is what it is, in Spanish. The server has the reasons
// in English.
import { language, readTexts } from './text.js'

const spanish = readTexts(`
MissingKey|respuesta a una llamada sin X-API-KEY|el estado HTTP que corresponde
InvalidKey|respuesta a una clave de API desconocida|como MissingKey; el texto del error los distingue
QuotaExceeded|respuesta con la cuota agotada|el estado HTTP que corresponde
Quota|consultas por día|alcanza para pruebas, y se puede agotar
ResetZone|zona horaria en cuya medianoche se renueva la cuota|la medianoche de Lima, por ser un servicio peruano: 05:00 UTC
ChargeFailures|las llamadas que fallan también cuestan|“cada llamada ... consume 1 consulta”
HeadersEverywhere|todas las operaciones llevan los encabezados de cuota|documentados solo para la consulta
HeadersOnErrors|los errores también los llevan|“la respuesta lleva”, con cualquier estado
CodeInvalidRUC|code del 400 por RUC, en la consulta|el nombre dice el error
CodeInvalidLimit|code del 400 por limit|el nombre dice el error
CodeMissingFields|code del 400 por campos que faltan|el nombre dice el error
CodeInvalidCPERUC|code del 400 por RUC, en la validación|el mismo error que en la consulta
CodeSUNATUnavailable|code del 500 si SUNAT no responde|el nombre dice el error
CodeInvalidDate|code del 400 por fecha|el nombre dice el error
Unknown|cómo se escribe un campo sin valor|se responde lo que se guardó
Estados|ortografía del estado del contribuyente|la tabla del contrato, que explica cada estado; la otra lista no
BlockedSOL|respuesta a un usuario SOL bloqueado|no se ayuda a quien adivina
BlockAfter|intentos incorrectos seguidos que bloquean; 0 es nunca|estricto, para pruebas: no se publica
BlockFor|cuánto dura el bloqueo|también inventado; rechaza también la clave SOL correcta
`)

export const assumptionText = (name, reason) => (language === 'es' && spanish.get(name)) || ['', reason]
