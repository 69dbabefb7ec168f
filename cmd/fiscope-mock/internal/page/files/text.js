// The page's texts, in Spanish or English: the first of the two that the browser asks for. preset.js and assumption.js have their own.

export const language = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag === 'es' || tag === 'en') ?? 'es'

// readTexts reads lines: a key, and its texts with | between.
export const readTexts = (lines) => new Map(lines.trim().split('\n').map((line) => {
  const [key, ...texts] = line.split('|')
  return [key, texts]
}))

const texts = readTexts(`
views|Vistas|Views
skip|Saltar al contenido|Skip to the content
keys|Teclas|Keys
keyList|?: estas teclas; ↑ ↓: otra llamada; Inicio Fin: la primera o la última; Entrar: abrirla; Esc: cerrarla; c: copiarla como curl|?: these keys; ↑ ↓: another call; Home End: the first or last one; Enter: open it; Esc: close it; c: copy it as curl
live|en vivo|live
offline|sin conexión, reintentando|no connection, trying again
frozen|congelado|frozen
clockBack|Volver|Back
days1|1 día|1 day
days|{n} días|{n} days
activeFault1|1 falla activa|1 active fault
activeFaultsN|{n} fallas activas|{n} active faults
tokenTitle|Token de administración|Admin token
token|Este servidor se inició con -admin-token: escriba ese token.|This server was started with -admin-token: enter that token.
enter|Entrar|Enter
closedTitle|La administración está cerrada|The admin page is closed
closed|Otros equipos pueden llegar al servidor, y no tiene token. Inícielo con -admin-token, o con -addr 127.0.0.1:8080.|Other machines can reach the server, and it has no token. Start it with -admin-token, or with -addr 127.0.0.1:8080.
copy|Copiar|Copy
copied|Copiado|Copied
cancel|Cancelar|Cancel
close|Cerrar|Close
save|Guardar|Save
add|Agregar|Add
edit|Editar|Edit
delete|Borrar|Delete
action|Acciones|Actions
state|Estado|State
elevenDigits|11 dígitos|11 digits
writtenOnly|No se vuelve a mostrar.|It is not shown again.
found|Resultados: {n}|Results: {n}
firstFound|Los {n} primeros: busque para ver otros.|The first {n}: search to see others.
llamadas|Llamadas|Calls
call|Llamada|Call
time|Hora|Time
op|Operación|Operation
subject|Consulta|Asked for
status|HTTP
cost|Costo|Cost
marks|Marcas|Marks
key|Clave de API|Key
filter|Filtrar|Filter
askedHint|fecha, F001-124…|date, F001-124…
filterHint|RUC, código, falla…|RUC, code, fault…
answered_|Todas|All
answered_ok|Correctas (2xx)|Successes (2xx)
answered_error|Con error|Errors
answered_cost|Con costo|With a cost
answered_none|Sin respuesta|No answer
unmatched|sin ruta|no route
noKey|sin clave de API|no key
keyRefused|clave de API rechazada|key refused
notRecorded|sin grabar|not recorded
real|servicio real|real service
strange|rompe el contrato|breaks the contract
noAnswer|cortada|cut
underWay|en curso|under way
today|hoy|today
broken|cortada a medias|broken off
false|no corresponde|wrong answer
attempt|intento {n}|attempt {n}
attemptOf|intento {n} de #{first}|attempt {n} of #{first}
repeats|repite #{n}|repeats #{n}
attemptAfter|, {lasted} después|, {lasted} later
nothingFound|sin resultados|no results
copyCurl|Copiar como curl (tecla c)|Copy as curl (key c)
more|Más|More
sol_wrong|clave SOL incorrecta|wrong SOL clave
sol_unknown|usuario desconocido|unknown user
sol_principal|usuario principal|principal user
sol_blocked|usuario bloqueado|user blocked
pause|Pausar|Pause
resume|Continuar|Resume
countFromHere|Contar desde aquí|Count from here
countAll|Contar todo|Count all
clearJournal|Vaciar el historial|Clear the journal
sum_calls|llamadas|calls
sum_calls1|llamada|call
sum_spent|consultas gastadas|queries spent
sum_spent1|consulta gastada|query spent
sum_errors|errores|errors
sum_errors1|error
since|después de la llamada #{n}|after call #{n}
newestOnly|de las 10 000 llamadas más recientes|of the newest 10,000 calls
newer|{n} nuevas|{n} new
newer1|1 nueva|1 new
spentBy|Gasto:|Spent:
exportHAR|Exportar HAR|Export HAR
onlyInHAR|El HAR tiene {n} de {all} llamadas: el servidor ya no guarda las demás.|The HAR has {n} of {all} calls: the server no longer keeps the others.
exportJSON|Exportar JSON|Export JSON
noMatch|Ninguna llamada pasa el filtro|No call passes the filter
showAll|Mostrar todo|Show all
notThere|El historial no tiene esa llamada, o todavía no llegó.|The journal has no such call, or it has not come yet.
showMore|Mostrar {n} más (quedan {all})|Show {n} more ({all} left)
tooMany|{n} más antiguas: filtre para verlas.|{n} older ones: filter to see them.
noCalls|Todavía no llegó ninguna llamada|No call has come yet
notKept|El historial no guarda llamadas: inicie el servidor sin -journal 0|The journal keeps no calls: start the server without -journal 0
firstCall|Haga la primera desde una terminal:|Make the first one in a terminal:
ownKey|Ponga en FISCOPE_API_KEY una de las claves de API de -api-key o de los datos.|FISCOPE_API_KEY is one of the keys given with -api-key or the data.
request|Petición|Request
answer|Respuesta|Answer
asCurl|Como curl|As curl
asGo|Como Go|As Go
link|enlace|link
failSo|Que la próxima falle así|Make the next one fail like this
failNext|Que la próxima falle…|Make the next one fail…
goTo|Ver {view}|See {view}
lasted|Duración|Took
left|Quedan|Left
connection|Conexión|Connection
reused|reutilizada|reused
fresh|nueva|new
whyFine|Respondió bien.|Success.
whyNothingFound|Respondió bien: ningún nombre contiene ese texto.|Success: no name contains that text.
whyValid|Credenciales correctas; el comprobante es válido: {estado}.|The credentials are right; the receipt is valid: {estado}.
whyNotValid|Credenciales correctas, pero el comprobante no es válido: {estado}. {mensaje}|The credentials are right, but the receipt is not valid: {estado}. {mensaje}
whyUnderWay|Todavía espera su respuesta.|It is still waiting for its answer.
whyNoAnswer|La conexión terminó sin una respuesta.|The connection ended without an answer.
whyNotRecorded|La grabación no tiene esta consulta.|The recording does not have this question.
whyReal|Respondió el servicio real.|The real service answered.
whyStrange|Respondió el servicio real, y su respuesta rompe el contrato.|The real service answered, and its answer breaks the contract.
whyNoRoute|El servicio no tiene esa ruta o ese método.|The service has no such path or method.
whyNoKey|Falta el encabezado X-API-KEY.|The header X-API-KEY is missing.
whyUnknownKey|Este servidor no conoce esa clave de API, o la ruta no admite ese método.|This server does not know that API key, or the path does not take that method.
whyQuota|La cuota del día está agotada.|The day’s quota is spent.
whyNoTaxpayer|Ningún contribuyente de este servidor tiene ese RUC.|No taxpayer of this server has that RUC.
whyNoRate|Ese día no tiene tipo de cambio.|That day has no rate.
whySUNATDown|SUNAT no respondió. No cuenta como intento del usuario SOL.|SUNAT did not respond. It does not count as an attempt of the SOL user.
whyInvalid|No cumple una regla del servicio.|It breaks a rule of the service.
whyMissing|Faltan o están vacíos: {names}.|Missing or empty: {names}.
whyWrongType|De tipo equivocado: {names}.|Of a wrong type: {names}.
whyInvalidField|No es válido: {names} {rule}.|Not valid: {names} {rule}.
rule_RUC|debe tener 11 dígitos|must have 11 digits
rule_razonSocial|debe tener 3 caracteres o más|must have 3 characters or more
rule_limit|debe ser un entero de 1 a 50|must be a whole number from 1 to 50
rule_fecha|debe ser un día que exista, como AAAA-MM-DD|must be a day that exists, as YYYY-MM-DD
rule_tipoComprobante|debe ser 01, 03, 07 u 08|must be 01, 03, 07 or 08
rule_numero|debe ser un entero desde 1|must be a whole number from 1
whyMOCK_INVALID_JSON|El cuerpo no es un objeto JSON, o tiene un campo dos veces.|The body is not a JSON object, or has a field twice.
whyMOCK_MEDIA_TYPE|El cuerpo no llegó como application/json, sin comprimir.|The body did not come as application/json, uncompressed.
whyMOCK_BODY_TOO_LARGE|El cuerpo es demasiado grande.|The body is too large.
whyMOCK_UNREADABLE_BODY|El cuerpo no llegó completo.|The body did not come whole.
whyMOCK_INVALID_QUERY|Un parámetro no se puede leer: se escribe en UTF-8, con % como %25.|A parameter cannot be read: it is written in UTF-8, with % as %25.
whyMOCK_REPEATED_PARAM|Llegó más de una vez: {names}.|It came more than once: {names}.
whyFailed|El servicio falló.|The service failed.
whyFault|La falla {name} actuó{what}.|The fault {name} hit it{what}.
whyServerSaid|El servidor dijo: “{text}”|The server said: “{text}”
whySOL_wrong|La clave SOL no es correcta.|The SOL clave is not right.
whySOL_wrongCount|La clave SOL no es correcta: {fails} de {allowed} intentos. Al {allowed}.º incorrecto seguido, el usuario se bloquea {lasts}.|The SOL clave is not right: {fails} of {allowed} attempts. {allowed} wrong ones in a row block the user for {lasts}.
whySOL_wrongLast|La clave SOL no es correcta: con este intento el usuario quedó bloqueado hasta el {until}.|The SOL clave is not right: this attempt has blocked the user until {until}.
whySOL_blocked|El usuario SOL está bloqueado y se rechaza también la clave SOL correcta.|The SOL user is blocked, and the right clave is refused too.
whySOL_blockedUntil|El usuario SOL está bloqueado hasta el {until} y se rechaza también la clave SOL correcta.|The SOL user is blocked until {until}, and the right clave is refused too.
whySOL_unknown|El RUC solicitante no tiene ese usuario SOL.|The caller’s RUC has no such SOL user.
whySOL_principal|Es el usuario SOL principal, y hace falta uno secundario. Cuenta como intento incorrecto.|It is the principal SOL user, and a secondary one is needed. It counts as a wrong attempt.
whyBroken|La respuesta no llegó completa.|The answer did not come whole.
whyFalse|La respuesta no corresponde: no es lo que se preguntó, o no tiene la forma del contrato.|The answer is wrong: it is not what was asked for, or does not follow the contract.
whyAttempt|Es el {attempt}.|It is {attempt}.
whyRepeats|Esta llamada {attempt}.|This call {attempt}.
whyReplay|La respuesta a #{n} no llegó completa.|The answer to #{n} did not come whole.
costOne|Costó 1 consulta.|It cost 1 query.
costOneLeft|Costó 1 consulta; quedaron {left}.|It cost 1 query; {left} were left.
costNothing|No costó ninguna consulta.|It cost no query.
cuotas|Cuotas|Quotas
whatSpent|Ver qué la gastó|See what spent it
unlimited|sin límite|unlimited
remain|quedan {n}|{n} left
usedOf|usadas {used} de {of}|{used} of {of} used
resetsIn|Se renueva en|Resets in
ownKeyMark|la del servidor|the server’s own
leave1|Dejar 1 consulta|Leave 1 query
refill|Recargar cuota|Refill
deleteKey|Borrar la clave de API|Delete the key
dailyQuota|Consultas por día|Queries a day
quotaHint|−1 es sin límite.|−1 is unlimited.
addKey|Agregar una clave de API|Add a key
reloj|Reloj|Clock
plus1d|+1 día|+1 day
freeze|Congelar|Freeze
unfreeze|Reanudar|Resume
resetClock|Restablecer el reloj|Reset the clock
setTime|Poner esta hora|Set this time
timeInLima|Fecha y hora en Lima|Date and time in Lima
clockRuns|El reloj avanza.|The clock runs.
clockFrozen|El reloj está congelado.|The clock is frozen.
clockMeans|De él dependen la cuota del día, el tipo de cambio de hoy (desde las 17:00) y los bloqueos SOL.|The day’s quota, today’s rate (from 17:00) and SOL blocks depend on it.
fallas|Fallas|Faults
fault|Falla|Fault
activeFaults|Fallas puestas|Active faults
noFaults|No hay ninguna.|There are none.
meets|Afecta a|Applies to
everyCall|toda llamada|every call
matchKey|clave de API {value}|key {value}
matchRUC|RUC {value}
matchQuestion|consulta {value}|asked for {value}
matchAgent|User-Agent {value}
matchNth|solo la llamada {value}|only call {value}
matchFor|durante {value}|for {value}
seen|Coincidencias|Seen
hits|Afectadas|Hits
faultActive|activa|active
faultOver|terminada|over
release|Liberar|Release
deleteFaults|Borrar todas las fallas|Delete all faults
presets|Fallas preparadas|Presets
presetsMean|Un clic pone la falla, para las llamadas y las veces de arriba; ×1 y ×2, para una o dos.|One click sets the fault, for the calls and times above; ×1 and ×2, for one or two.
searchPreset|Buscar una falla|Search a fault
noPreset|Ninguna falla preparada tiene ese texto.|No preset contains that text.
group_body|El cuerpo|The body
group_data|Los datos|The data
group_quota|La cuota|The quota
group_status|El estado HTTP|The HTTP status
group_sunat|SUNAT|SUNAT
group_connection|La conexión|The connection
repeatedBySDK|un 503 con Retry-After: 1, que el SDK reintenta: con 10 s como máximo, o sin Retry-After|a 503 with Retry-After: 1, which the SDK retries: up to 10 s, or without Retry-After
notRepeatedBySDK|el SDK no lo reintenta, porque 120 s es más de lo que espera|the SDK does not retry it: 120 s is more than it waits
ownBody|con otro cuerpo|with another body
latencyOf|latencia de {latency}|latency of {latency}
held|retenida|held
uncharged|sin costo|uncharged
noFault|sin falla|no fault
ownFault|Poner una falla|Set a fault
setFault|Poner la falla|Set the fault
faultSet|Falla puesta: {name}|Fault set: {name}
chooseEffect|Indique un estado HTTP, un Retry-After o una latencia.|Give an HTTP status, a Retry-After or a latency.
onlyRUC|Solo este RUC|Only this RUC
onlyText|Solo esta consulta|Only this question
onlyKey|Solo esta clave de API|Only this key
howOften|Veces|Times
latency|Latencia (s)|Latency (s)
any|cualquiera|any
without|sin él|without
always|siempre|always
once|Una vez|Once
times|{n} veces|{n} times
sunatDown|SUNAT caída|SUNAT down
sunatDownMeans|Las validaciones responden 500, y no cuentan como intento SOL.|Validations get a 500, and do not count as SOL attempts.
sol|Usuarios SOL|SOL users
solMeans|El {n}.º intento incorrecto seguido bloquea al usuario: vea Supuestos.|{n} wrong attempts in a row block the user: see Assumptions.
solNever|Ningún número de intentos bloquea al usuario: vea Supuestos.|No number of attempts blocks a user: see Assumptions.
user|Usuario|User
kind|Tipo|Kind
principal|principal
secondary|secundario|secondary
principalUser|Usuario principal|Principal user
attempts|Intentos|Attempts
wrongInARow|Incorrectos seguidos|Wrong in a row
blockedUntil|bloqueado hasta {until}|blocked until {until}
alwaysRefused|siempre rechazado|always refused
free|libre|free
unblock|Desbloquear|Unblock
newClave|Clave SOL nueva|New clave SOL
keepClave|Si la deja vacía, no cambia.|Leave it empty to keep it.
addUser|Agregar un usuario SOL|Add a SOL user
contribuyentes|Contribuyentes|Taxpayers
searchTaxpayer|Buscar por RUC o nombre|Search by RUC or name
addTaxpayer|Agregar un contribuyente|Add a taxpayer
addNoHabido|Agregar uno NO HABIDO|Add one NO HABIDO
nobody|Ningún contribuyente tiene «{text}».|No taxpayer has “{text}”.
testName|CONTRIBUYENTE DE PRUEBA
comprobantes|Comprobantes|Receipts
addReceipt|Agregar un comprobante|Add a receipt
issuer|RUC del emisor|Issuer’s RUC
all|todos|all
serieNumero|Serie y número|Series and number
result|Resultado|Result
mensajeHint|Vacío: el texto del resultado.|Empty: the text of the result.
kind01|Factura|Invoice
kind03|Boleta|Sales receipt
kind07|Nota de crédito|Credit note
kind08|Nota de débito|Debit note
codigo0|Aceptado|Aceptado (accepted)
codigo2|Anulado|Anulado (cancelled)
codigo4|En Proceso|En Proceso (pending)
codigo98|No Existe|No Existe (not found)
codigo99|Error
tipocambio|Tipo de cambio|Exchange rate
month|Mes|Month
monthBefore|Mes anterior|Month before
monthAfter|Mes siguiente|Month after
chartRange|Venta de {low} a {high} soles por dólar; días: {n}.|Selling rate of {low} to {high} soles a dollar; days: {n}.
noRates|Ningún día de este mes tiene tipo de cambio.|No day of this month has a rate.
rateOf|Compra {compra}, venta {venta}.|Buying {compra}, selling {venta}.
notYetWhy|Todavía no se responde: {why}.|Not answered yet: {why}.
goThere|Ir a ese día, 17:00|Go to that day, 17:00
noRateWhy|Sin tipo de cambio: {why}.|No rate: {why}.
byHand|puesto a mano|set by hand
setRate|Poner el tipo de cambio|Set the rate
deleteRate|Borrar el de este día|Delete this day’s rate
restoreRate|Volver al de la serie|Back to the series
decimal|Un decimal, como 3.750|A decimal, such as 3.750
saturday|sábado|Saturday
sunday|domingo|Sunday
future|futuro|future
notYet|aún no|not yet
supuestos|Supuestos|Assumptions
assumption|Supuesto|Assumption
assumptionsMean|Cómo lee este servidor lo que el contrato deja abierto.|How this server reads what the contract leaves open.
value|Valor|Value
default|Por defecto|Default
toDefault|Restablecer|Back to default
section|Sección|Section
reason|Razón|Reason
datos|Datos|Data
download|Descargar datos|Download data
downloadMeans|Lo que se puso en este servidor, como archivo para -data. Contiene claves de API y claves SOL: es un secreto.|What was added to this server, as a file for -data. It holds API keys and SOL claves: keep it secret.
upload|Cargar datos|Load data
uploadMeans|Un archivo de -data, sobre lo que hay: todo o nada.|A -data file, added to the data: all of it or nothing.
file|Archivo|File
reset|Restablecer|Reset
resetMeans|Las partes elegidas vuelven a como estaban al inicio. Lo puesto después se pierde.|The chosen parts go back to how they were at the start. What was added since is lost.
resetChosen|Restablecer lo elegido|Reset the chosen parts
chooseParts|Elija al menos una parte.|Choose at least one part.
parts|Partes|Parts
part_journal|El historial de llamadas|The journal of calls
part_faults|Las fallas|The faults
part_quotas|Las cuotas usadas|The quotas used
part_locks|Los intentos y bloqueos SOL|The SOL attempts and blocks
part_clock|El reloj|The clock
part_data|Los datos y los supuestos|The data and the assumptions
done|Hecho|Done
change|Cambiar|Change
baseURL|En un programa, la URL base es la de esta página sin /_mock/.|In a program, the base URL is this page’s without /_mock/.
noData|sin dato|no data
`)

export function t(key, values = {}) {
  const [spanish, english = spanish] = texts.get(key) ?? ['']
  return (language === 'es' ? spanish : english).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '')
}

const numbers = new Intl.NumberFormat(language === 'es' ? 'es-PE' : 'en')
export const number = (n) => numbers.format(n)

// lastedText writes a duration: "46 ms", "2.9 s".
export const lastedText = (ms) => ms < 999.5 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(1)} s`
