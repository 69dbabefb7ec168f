// All texts of the page, in Spanish and English: the first of the two that the browser asks for.

export const language = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag === 'es' || tag === 'en') ?? 'es'

// readTexts reads lines: a key, and its texts with | between.
export const readTexts = (lines) => new Map(lines.trim().split('\n').map((line) => {
  const [key, ...texts] = line.split('|')
  return [key, texts]
}))

const texts = readTexts(`
views|Vistas|Views
skip|Saltar al contenido|Skip to the content
live|en vivo|live
offline|sin conexión, reintentando|no connection, trying again
frozen|congelado|frozen
activeFault1|1 falla activa|1 active fault
activeFaultsN|{n} fallas activas|{n} active faults
tokenTitle|Token de administración|Admin token
token|Este servidor se inició con -admin-token: escriba ese token.|This server was started with -admin-token: enter that token.
enter|Entrar|Enter
closedTitle|La administración está cerrada|The admin page is closed
closed|El servidor es alcanzable por otros y no tiene token. Inícielo con -admin-token, o con -addr 127.0.0.1:8080.|Others reach the server, and it has no token. Start it with -admin-token, or with -addr 127.0.0.1:8080.
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
days|{n} días|{n} days
elevenDigits|11 dígitos|11 digits
writtenOnly|No se vuelve a mostrar.|It is not shown again.
found|Resultados: {n}|Results: {n}
firstFound|Los {n} primeros: busque para ver otros.|The first {n}: search to see others.
llamadas|Llamadas|Calls
call|Llamada|Call
time|Hora|Time
op|Operación|Operation
subject|Consulta|Asked for
status|Estado|Status
cost|Costo|Cost
marks|Marcas|Marks
key|Clave|Key
filter|Filtrar|Filter
filterHint|RUC, texto, código, falla…|RUC, text, code, fault…
allOperations|Todas|All
answered_|Todos|All
answered_ok|Correctas (2xx)|Successes (2xx)
answered_error|Con error|Errors
answered_4xx|4xx
answered_5xx|5xx
answered_none|Sin respuesta|No answer
unmatched|sin ruta|no route
noKey|clave rechazada|key refused
noAnswer|cortada|cut
underWay|en curso|under way
today|hoy|today
replayOf|repite #{n}|repeats #{n}
sol_wrong|clave SOL errada|wrong SOL clave
sol_unknown|usuario desconocido|unknown user
sol_principal|usuario principal|principal user
sol_blocked|usuario bloqueado|user blocked
pause|Pausar|Pause
resume|Continuar|Resume
countFromHere|Contar desde aquí|Count from here
countAll|Contar todo|Count all
clearJournal|Vaciar el diario|Clear the journal
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
showMore|Mostrar {n} más (quedan {all})|Show {n} more ({all} left)
tooMany|{n} más antiguas: filtre para verlas.|{n} older ones: filter to see them.
noCalls|Todavía no llegó ninguna llamada|No call has come yet
firstCall|Haga la primera desde una terminal:|Make the first one in a terminal:
ownKey|FISCOPE_API_KEY es una de las claves dadas con -api-key o los datos.|FISCOPE_API_KEY is one of the keys given with -api-key or the data.
request|Petición|Request
answer|Respuesta|Answer
asCurl|Como curl|As curl
asGo|Como Go|As Go
noGo|No es ninguna de las cuatro operaciones del SDK.|It is none of the SDK’s four operations.
goTo|Ver {view}|See {view}
lasted|Duración|Took
left|Quedan|Left
connection|Conexión|Connection
reused|reutilizada|reused
fresh|nueva|new
whyFine|Respondió bien.|Answered well.
whyNothingFound|Respondió bien: ningún nombre contiene ese texto.|Answered well: no name holds that text.
whyValid|Credenciales correctas; el comprobante es válido: {estado}.|The credentials are right; the receipt is valid: {estado}.
whyNotValid|Credenciales correctas, pero el comprobante no es válido: {estado}. {mensaje}|The credentials are right, but the receipt is not valid: {estado}. {mensaje}
whyUnderWay|Todavía espera su respuesta.|It still waits for its answer.
whyNoAnswer|La conexión terminó sin una respuesta.|The connection ended without an answer.
whyNoRoute|El servicio no tiene esa ruta o ese método.|The service has no such path or method.
whyNoKey|Falta el encabezado X-API-KEY.|The header X-API-KEY is missing.
whyUnknownKey|Este servidor no conoce esa clave de API, o la ruta no admite ese método.|This server does not know that API key, or the path does not take that method.
whyQuota|La cuota del día está agotada.|The day’s quota is spent.
whyNoTaxpayer|Ningún contribuyente de este servidor tiene ese RUC.|No taxpayer of this server has that RUC.
whyNoRate|Ese día no tiene tipo de cambio.|That day has no rate.
whySUNATDown|SUNAT no respondió. No cuenta como intento del usuario SOL.|SUNAT did not respond. It is no attempt of the SOL user.
whyInvalid|No cumple una regla del servicio.|It breaks a rule of the service.
whyFailed|El servicio falló.|The service failed.
whyFault|La falla {name} intervino.|The fault {name} met it.
whyFaultWhat|La falla {name} intervino: {what}.|The fault {name} met it: {what}.
whyServerSaid|El servidor dijo: “{text}”|The server said: “{text}”
whySOLWrong|La clave SOL no es correcta.|The SOL clave is not right.
whySOLWrongCount|La clave SOL no es correcta: {fails} de {allowed} intentos. Al {allowed}.º errado seguido, el usuario se bloquea {lasts}.|The SOL clave is not right: {fails} of {allowed} attempts. The wrong one number {allowed} in a row blocks the user for {lasts}.
whySOLNowBlocked|La clave SOL no es correcta: con este intento el usuario quedó bloqueado hasta el {until}.|The SOL clave is not right: this attempt has blocked the user until {until}.
whySOLBlocked|El usuario SOL está bloqueado hasta el {until} y se rechaza también la clave correcta.|The SOL user is blocked until {until}, and the right clave is refused too.
whySOLUnknown|El RUC solicitante no tiene ese usuario SOL.|The caller’s RUC has no such SOL user.
whySOLPrincipal|Es el usuario SOL principal, y hace falta uno secundario. Cuenta como intento errado.|It is the principal SOL user, and a secondary one is needed. It counts as a wrong attempt.
whyReplay|Repite la llamada #{n}, cuya respuesta no llegó completa: el cliente la envió otra vez.|It repeats call #{n}, whose answer never came whole: the client sent it again.
costOne|Costó 1 consulta.|It cost 1 query.
costOneLeft|Costó 1 consulta; quedaron {left}.|It cost 1 query; {left} were left.
costNothing|No costó ninguna consulta.|It cost no query.
cuotas|Cuotas|Quotas
unlimited|sin límite|unlimited
remain|quedan {n}|{n} left
usedOf|usadas {used} de {of}|{used} of {of} used
neverRefused|Nunca se rechaza por cuota.|Never refused for its quota.
resetsIn|Se repone en|Begins anew in
ownKeyMark|la del servidor|the server’s own
leave1|Dejar 1|Leave 1
refill|Rellenar|Refill
deleteKey|Borrar la clave|Delete the key
dailyQuota|Consultas por día|Queries a day
quotaHint|−1 es sin límite.|−1 is unlimited.
addKey|Agregar una clave|Add a key
apiKey|Clave de API|API key
reloj|Reloj|Clock
plus1h|+1 h
plus1d|+1 día|+1 day
freeze|Congelar|Freeze
unfreeze|Reanudar|Resume
resetClock|Restablecer el reloj|Reset the clock
setTime|Poner esta hora|Set this time
timeInLima|Fecha y hora en Lima|Date and time in Lima
clockRuns|El reloj avanza.|The clock runs.
clockFrozen|El reloj está congelado.|The clock is frozen.
clockMeans|De él dependen la cuota del día, el tipo de cambio de hoy (desde las 17:00) y los bloqueos SOL.|The day’s quota, today’s rate (from 17:00) and SOL blocks go by it.
fallas|Fallas|Faults
fault|Falla|Fault
activeFaults|Fallas puestas|Faults that are set
noFaults|No hay ninguna.|There is none.
meets|Afecta a|Meets
everyCall|toda llamada|every call
seen|Vistas|Seen
hits|Afectadas|Hits
faultActive|activa|active
faultOver|terminada|over
release|Soltar|Release
deleteFaults|Borrar todas las fallas|Delete all faults
presets|Fallas preparadas|Presets
presetsMean|Un clic pone la falla, con esta operación y frecuencia.|One click sets the fault, with this operation and frequency.
opOfPreset|La de cada falla|That of each preset
howOften|Frecuencia|How often
always|Siempre|Always
once|Una vez|Once
times|{n} veces|{n} times
sunatDown|SUNAT caída|SUNAT down
sunatDownMeans|Las validaciones responden 500, y no cuentan como intento SOL.|Validations are answered with 500, and are no SOL attempts.
sol|Usuarios SOL|SOL users
solMeans|BlockAfter intentos errados seguidos bloquean al usuario: vea Supuestos.|BlockAfter wrong attempts in a row block the user: see Assumptions.
user|Usuario|User
kind|Tipo|Kind
principal|principal
secondary|secundario|secondary
principalUser|Usuario principal|Principal user
attempts|Intentos|Attempts
wrongInARow|Errados seguidos|Wrong in a row
blockedUntil|bloqueado hasta {until}|blocked until {until}
alwaysRefused|siempre rechazado|always refused
free|libre|free
unblock|Desbloquear|Unblock
newClave|Clave SOL nueva|New clave SOL
keepClave|Vacía: queda la que tiene.|Empty: it keeps the one it has.
addUser|Agregar un usuario SOL|Add a SOL user
contribuyentes|Contribuyentes|Taxpayers
searchTaxpayer|Buscar por RUC o nombre|Search by RUC or name
addTaxpayer|Agregar un contribuyente|Add a taxpayer
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
chartRange|Venta de {low} a {high} soles por dólar, en {n} días.|Selling rate of {low} to {high} soles a dollar, on {n} days.
noRates|Ningún día de este mes tiene tipo de cambio.|No day of this month has a rate.
rateOf|Compra {compra}, venta {venta}.|Buying {compra}, selling {venta}.
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
toDefault|Volver|Back to it
section|Sección|Section
reason|Razón|Reason
datos|Datos|Data
download|Descargar datos|Download data
downloadMeans|Lo que se puso en este servidor, como archivo para -data. Lleva claves de API y claves SOL: es un secreto.|What was put on this server, as a file for -data. It holds API keys and SOL claves: it is a secret.
upload|Cargar datos|Load data
uploadMeans|Un archivo de -data, sobre lo que hay: todo o nada.|A -data file, over what there is: all or nothing.
file|Archivo|File
reset|Restablecer|Reset
resetMeans|Las partes elegidas vuelven a como estaban al inicio. Lo puesto después se pierde.|The chosen parts go back to how they were at the start. What was put since is lost.
resetChosen|Restablecer lo elegido|Reset what is chosen
chooseParts|Elija al menos una parte.|Choose a part at least.
parts|Partes|Parts
part_journal|El diario de llamadas|The journal of calls
part_faults|Las fallas|The faults
part_quotas|Las cuotas usadas|The quotas used
part_locks|Los intentos y bloqueos SOL|The SOL attempts and blocks
part_clock|El reloj|The clock
part_data|Los datos y los supuestos|The data and the assumptions
done|Hecho|Done
change|Cambiar|Change
baseURL|En un programa, la dirección base es la de esta página sin /_mock/.|In a program, the base URL is this page’s without /_mock/.
noData|sin dato|no data
`)

export function t(key, values = {}) {
  const [spanish, english = spanish] = texts.get(key) ?? ['']
  return (language === 'es' ? spanish : english).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '')
}

const numbers = new Intl.NumberFormat(language === 'es' ? 'es-PE' : 'en')
export const number = (n) => numbers.format(n)
